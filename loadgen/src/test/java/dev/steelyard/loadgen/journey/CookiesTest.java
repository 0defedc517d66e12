// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CookiesTest {
  private final Cookies cookies = new Cookies();

  private void take(String line, String path) {
    cookies.take(line, "www.Shop.example", path);
  }

  @Test
  void replaceThoseOfTheSameName() {
    assertNull(cookies.header("/"));
    take("Bearer=a.b-c_; Path=/; HttpOnly", "/auth/login");
    take("loggedinuser=uid7@email.com; Path=/", "/auth/login");
    assertEquals("Bearer=a.b-c_; loggedinuser=uid7@email.com", cookies.header("/flight"));
    take("Bearer=d==; Path=/", "/auth/login");
    assertEquals("Bearer=d==; loggedinuser=uid7@email.com", cookies.header("/flight"));
    cookies.clear();
    assertNull(cookies.header("/flight"));
  }

  @Test
  void goToTheirPathOnly() {
    take("a=1; Path=/shop", "/login");
    take("b=2", "/shop/cart/add");
    take("c=3", "/login");
    assertEquals("b=2; a=1; c=3", cookies.header("/shop/cart/show"));
    assertEquals("a=1; c=3", cookies.header("/shop"));
    assertEquals("c=3", cookies.header("/shopping"));
  }

  @Test
  void makeRoomForThoseThatARequestBrings() {
    assertEquals("b=4; consent=yes", cookies.header("/", "b=4;  consent=yes;"));
    take("a=1; Path=/", "/");
    take("b=2; Path=/", "/");
    assertEquals("a=1; b=4; consent=yes", cookies.header("/", "b=4;  consent=yes;"));
    assertEquals("a=1; b=2", cookies.header("/"), "what a request brings is not kept");
  }

  /** RFC 6265, section 5.4: of one name, too, the longer path first, whenever it came. */
  @Test
  void longerPathsAreSentFirst() {
    take("id=root; Path=/", "/");
    take("id=shop; Path=/shop", "/");
    take("other=1; Path=/", "/");
    take("id=new; Path=/", "/");
    assertEquals("id=shop; id=new; other=1", cookies.header("/shop/cart"));
    assertEquals("shop", cookies.value("id", "/shop/cart"));
    assertEquals("new", cookies.value("id", "/"));
  }

  /** One that was removed is made anew when it comes again. */
  @Test
  void comeLastWhenTheyComeAgain() {
    take("a=1; Path=/", "/");
    take("b=2; Path=/", "/");
    take("a=; Path=/; Max-Age=0", "/");
    take("a=3; Path=/", "/");
    assertEquals("b=2; a=3", cookies.header("/"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "s=1; Domain=other.example",
        "s=1; Domain=hop.example",
        "s=1; Domain=a.www.shop.example",
        "s=1; Domain=shop.example; Domain=other.example",
      })
  void ofAnotherDomainAreIgnored(String line) {
    take(line, "/");
    assertNull(cookies.header("/"));
  }

  @Test
  void ofTheHostsDomainAreKept() {
    take("a=1; Domain=.SHOP.example", "/");
    take("b=2; Domain=www.shop.example", "/");
    take("c=3; Domain=", "/");
    // Another domain: another cookie.
    take("a=4", "/");
    assertEquals("a=1; b=2; c=3; a=4", cookies.header("/"));
  }

  @Test
  void anAddressHasNoDomainsAboveIt() {
    cookies.take("a=1; Domain=0.0.1", "127.0.0.1", "/");
    cookies.take("b=2; Domain=127.0.0.1", "127.0.0.1", "/");
    assertEquals("b=2", cookies.header("/"));
  }

  /** A request for a bare host has no path that a cookie's could be taken from. */
  @ParameterizedTest
  @ValueSource(strings = {"", "/", "/login", "?y=1"})
  void withoutAFolderGoToAllPaths(String path) {
    take("a=1", path);
    assertEquals("a=1", cookies.header("/x/y"));
  }

  @Test
  void endWhenTheServerSaysSo() {
    take("a=1; Path=/; Max-Age=3600", "/");
    take("b=2; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "/");
    assertEquals("a=1", cookies.header("/"));
    take("a=; Path=/; Max-Age=0", "/");
    assertNull(cookies.header("/"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sid=abc; Path=/; Max-Age=3600; HttpOnly",
        "prefs=a,b; Path=/; Max-Age=3600",
        "prefs=a,b; Path=/",
        "prefs=en-US,en=0.9; Max-Age=60; Path=/",
        "q=\"x y\"; Path=/; Max-Age=60",
        "q=\"x y\"; Path=/",
        "b=YWJj==; Path=/; Secure; SameSite=None",
        "s=1; Expires=0; Path=/",
        "s=1; Expires=Wed, 21 Oct 2037 07:28:00 +0000; Path=/",
        "s=1; Expires=Wed, 21 Oct 2037 07:28:00 UTC; Path=/",
        "s=1; expires=Wed, 21-Oct-37 07:28:00 GMT; path=/",
        "s=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/",
        "s=1; Max-Age=999999999999999999999; Path=/",
        "s=1; Max-Age=soon; Path=shop",
        "KC_RESTART=eyJ.eyJ-_x.y; Version=1; Path=/realms/master/; HttpOnly",
        "empty=; Path=/",
      })
  void areGivenBackAsTheyWereWritten(String line) {
    take(line, "/realms/master/auth");
    assertEquals(line.substring(0, line.indexOf(';')), cookies.header("/realms/master/auth?x=/"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "s=1; Max-Age=0",
        "s=1; Max-Age=-1; Expires=Wed, 21 Oct 2037 07:28:00 GMT",
        "s=1; Expires=Thu, 01-Jan-70 00:00:00 GMT",
        "s=1; Expires=Sun Nov  6 08:49:37 1994",
      })
  void areGoneWhenTheyHaveExpired(String line) {
    take("s=2", "/");
    take(line, "/");
    assertNull(cookies.header("/"));
  }

  @Test
  void ignoreWhatCannotBeRead() {
    for (String line : List.of("=", "", ";;", "=x; Path=/")) {
      take(line, "/");
    }
    assertNull(cookies.header("/"));
  }
}
