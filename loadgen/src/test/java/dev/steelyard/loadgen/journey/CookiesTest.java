// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import org.junit.jupiter.api.Test;

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

  @Test
  void ignoreWhatCannotBeRead() {
    for (String line : List.of("=", "", ";;", "=x; Path=/")) {
      cookies.take(line, "/");
    }
    assertNull(cookies.header("/"));
  }
}
