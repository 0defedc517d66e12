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

  @Test
  void replaceThoseOfTheSameName() {
    assertNull(cookies.header("/"));
    cookies.take("Bearer=a.b-c_; Path=/; HttpOnly", "/auth/login");
    cookies.take("loggedinuser=uid7@email.com; Path=/", "/auth/login");
    assertEquals("Bearer=a.b-c_; loggedinuser=uid7@email.com", cookies.header("/flight"));
    cookies.take("Bearer=d==; Path=/", "/auth/login");
    assertEquals("loggedinuser=uid7@email.com; Bearer=d==", cookies.header("/flight"));
    cookies.clear();
    assertNull(cookies.header("/flight"));
  }

  @Test
  void goToTheirPathOnly() {
    cookies.take("a=1; Path=/shop", "/login");
    cookies.take("b=2", "/shop/cart/add");
    cookies.take("c=3", "/login");
    assertEquals("a=1; b=2; c=3", cookies.header("/shop/cart/show"));
    assertEquals("a=1; c=3", cookies.header("/shop"));
    assertEquals("c=3", cookies.header("/shopping"));
  }

  @Test
  void endWhenTheServerSaysSo() {
    cookies.take("a=1; Path=/; Max-Age=3600", "/");
    cookies.take("b=2; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "/");
    assertEquals("a=1", cookies.header("/"));
    cookies.take("a=; Path=/; Max-Age=0", "/");
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
    cookies.take(line, "/realms/master/auth");
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
    cookies.take("s=2", "/");
    cookies.take(line, "/");
    assertNull(cookies.header("/"));
  }

  @Test
  void ignoreWhatCannotBeRead() {
    for (String line : List.of("=", "", ";;", "=x; Path=/")) {
      cookies.take(line, "/");
    }
    assertNull(cookies.header("/"));
  }
}
