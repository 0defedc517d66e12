// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.primitives;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.util.concurrent.atomic.AtomicInteger;

/** Servlets that use the session. */
@WebServlet({"/servlet/PingSession1", "/servlet/PingSession2", "/servlet/PingSession3"})
public class SessionPrimitives extends Primitive {

  private static final long serialVersionUID = 1L;

  private static final AtomicInteger KEYS = new AtomicInteger();
  private static final String KEY = "sessiontest.sessionID";
  private static final String COUNTER = "sessiontest.counter";
  private static final String OBJECT = "sessiontest.sessionobj";
  private static final int LAST_COUNT = 5;
  private static final int KB = 1024;
  private static final int MOST_KB = 100_000;

  @Override
  protected void answer(String name, HttpServletRequest request, HttpServletResponse response)
      throws Exception {
    HttpSession session = request.getSession();
    switch (name) {
      case "PingSession1" -> {
        Integer key = (Integer) session.getAttribute(KEY);
        if (key == null) {
          key = KEYS.getAndIncrement();
          session.setAttribute(KEY, key);
        }
        response.setHeader("SessionKeyTest-SessionID", key.toString());
        show(response, name, "Session key: " + key);
      }
      case "PingSession2" -> {
        Integer before = (Integer) session.getAttribute(COUNTER);
        int counter = before == null ? 0 : before + 1;
        session.setAttribute(COUNTER, counter);
        response.setHeader("SessionTrackingTest-counter", Integer.toString(counter));
        if (counter >= LAST_COUNT) {
          session.invalidate();
        }
        show(response, name, "Session counter: " + counter);
      }
      default -> {
        int size = number(request, "num_objects", 10, MOST_KB) * KB;
        if (!(session.getAttribute(OBJECT) instanceof byte[] bytes) || bytes.length != size) {
          session.setAttribute(OBJECT, new byte[size]);
        }
        show(response, name, "Bytes of the session object: " + size);
      }
    }
  }
}
