// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.primitives;

import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.CDI;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/** Servlets that use CDI: a bean with a decorator and an interceptor, and the bean manager. */
@WebServlet({
  "/servlet/PingServletCDI",
  "/servlet/PingServletCDIBeanManagerViaJNDI",
  "/servlet/PingServletCDIBeanManagerViaCDICurrent"
})
public class CdiPrimitives extends Primitive {

  private static final long serialVersionUID = 1L;

  @Inject private transient Greeting greeting;

  @Override
  protected void answer(String name, HttpServletRequest request, HttpServletResponse response)
      throws Exception {
    switch (name) {
      case "PingServletCDI" -> show(response, name, greeting.hello());
      case "PingServletCDIBeanManagerViaJNDI" ->
          show(response, name, found(lookup("java:comp/BeanManager")));
      default -> show(response, name, found(CDI.current().getBeanManager()));
    }
  }

  private static String found(Object manager) {
    int beans = ((BeanManager) manager).getBeans(Greeting.class).size();
    return "The bean manager knows " + beans + " bean of this type";
  }
}
