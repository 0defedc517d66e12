// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.primitives;

import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.entities.AccountProfile;
import dev.steelyard.daytrader7.entities.Quote;
import jakarta.inject.Inject;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collection;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import javax.naming.InitialContext;
import javax.naming.NamingException;

/** What primitives have in common: their names, counts, random data, and a small page. */
abstract class Primitive extends HttpServlet {

  private static final long serialVersionUID = 1L;

  private static final Map<String, LongAdder> HITS = new ConcurrentHashMap<>();

  @Inject private transient TradeConfig config;

  /** GET and POST are equal. */
  @Override
  protected final void service(HttpServletRequest request, HttpServletResponse response)
      throws ServletException, IOException {
    // An included servlet sees the path of the one that includes it.
    Object included = request.getAttribute(RequestDispatcher.INCLUDE_SERVLET_PATH);
    String path = included == null ? request.getServletPath() : included.toString();
    String name = path.substring(path.lastIndexOf('/') + 1);
    HITS.computeIfAbsent(name, unknown -> new LongAdder()).increment();
    response.setContentType("text/html");
    try {
      answer(name, request, response);
    } catch (BadParameter e) {
      response.sendError(HttpServletResponse.SC_BAD_REQUEST, e.getMessage());
    } catch (ServletException | IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new ServletException(name + " failed: " + e.getMessage(), e);
    }
  }

  /** Performs the primitive of this name. */
  protected abstract void answer(
      String name, HttpServletRequest request, HttpServletResponse response) throws Exception;

  /** Performs a step as often as the configuration says; the answer is that of the last time. */
  protected final <T> T repeated(Callable<T> step) throws Exception {
    T last = null;
    for (int i = config.primIterations(); i > 0; i--) {
      last = step.call();
    }
    return last;
  }

  /** The page of a primitive: its name, its count, and what it found. */
  protected static String page(String name, Object found) {
    return """
    <!DOCTYPE html>
    <html lang="en">
    <head><title>%1$s</title></head>
    <body>
    <h1>%1$s</h1>
    <p>Hit Count: %2$d</p>
    <p>%3$s</p>
    </body>
    </html>
    """
        .formatted(name, HITS.get(name).sum(), told(found));
  }

  /** Writes the page. */
  protected static void show(HttpServletResponse response, String name, Object found)
      throws IOException {
    response.getWriter().print(page(name, found));
  }

  /** Shows what was found by a page instead of the servlet. */
  protected static void forward(
      HttpServletRequest request, HttpServletResponse response, String name, Object found)
      throws ServletException, IOException {
    request.setAttribute("found", new Found(name, HITS.get(name).sum(), told(found)));
    request.getRequestDispatcher("/WEB-INF/primitives/found.jsp").forward(request, response);
  }

  /** A parameter that is of no use; the message says what would be. */
  private static final class BadParameter extends RuntimeException {

    private static final long serialVersionUID = 1L;

    BadParameter(String message) {
      super(message);
    }
  }

  /** What a page shows. */
  public record Found(String name, long hits, String what) {}

  private static String told(Object found) {
    if (found instanceof Quote quote) {
      return quote.getSymbol() + " at $" + quote.getPrice();
    }
    if (found instanceof AccountProfile profile) {
      return profile.getUserID() + ", " + profile.getFullName();
    }
    if (found instanceof Collection<?> all) {
      return all.size() + " found";
    }
    return found == null ? "nothing found" : found.toString();
  }

  /** What a name of ours stands for: never one that a request brings. */
  @SuppressWarnings("BanJNDI")
  protected static Object lookup(String ours) throws NamingException {
    return new InitialContext().lookup(ours);
  }

  /** The number that a parameter says, or another where there is none. */
  protected static int number(
      HttpServletRequest request, String parameter, int otherwise, int most) {
    String text = request.getParameter(parameter);
    if (text == null) {
      return otherwise;
    }
    try {
      int number = Integer.parseInt(text.strip());
      if (number >= 0 && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Refused below, as is a number out of range.
    }
    throw new BadParameter(parameter + " must be a whole number from 0 to " + most + ".");
  }

  protected final String randomSymbol() {
    return "s:" + random().nextInt(config.maxQuotes());
  }

  protected final String randomUser() {
    return "uid:" + random().nextInt(config.maxUsers());
  }

  protected static Random random() {
    return ThreadLocalRandom.current();
  }
}
