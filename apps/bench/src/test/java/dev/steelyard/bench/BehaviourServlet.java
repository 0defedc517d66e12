// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** An application that does what its path says: each way in which a request can end. */
final class BehaviourServlet extends HttpServlet {

  private static final long serialVersionUID = 1L;

  /** The delay of the asynchronous answers, which is the least that must be counted as theirs. */
  static final long ASYNC_MILLIS = 50;

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    switch (request.getServletPath()) {
      case "/ok" -> response.getWriter().print("fine");
      case "/named" -> request.setAttribute(Workload.OPERATION, "quote");
      case "/async-named" -> {
        request.setAttribute(Workload.OPERATION, "quote");
        later(request.startAsync(), 200);
      }
      case "/upgraded" -> response.setStatus(HttpServletResponse.SC_SWITCHING_PROTOCOLS);
      case "/missing" -> response.setStatus(404);
      case "/broken" -> response.setStatus(500);
      case "/unavailable" -> response.sendError(503);
      case "/throws" -> throw new IllegalStateException("on purpose");
      case "/forward" -> request.getRequestDispatcher("/ok").forward(request, response);
      case "/async" -> later(request.startAsync(), 200);
      case "/async-broken" -> later(request.startAsync(), 500);
      case "/async-restarted" -> restart(request.startAsync());
      case "/async-timeout" -> request.startAsync().setTimeout(ASYNC_MILLIS);
      case "/async-excused" -> excuse(request.startAsync());
      default -> throw new AssertionError(request.getServletPath());
    }
  }

  private static void later(AsyncContext context, int status) {
    delayed()
        .execute(
            () -> {
              ((HttpServletResponse) context.getResponse()).setStatus(status);
              context.complete();
            });
  }

  /** Dispatches back to this servlet, where a second asynchronous cycle begins. */
  private static void restart(AsyncContext context) {
    delayed().execute(() -> context.dispatch("/async"));
  }

  /** Times out, but the application answers that with a status that is none of an error. */
  private static void excuse(AsyncContext context) {
    context.setTimeout(ASYNC_MILLIS);
    context.addListener(
        new AsyncListener() {
          @Override
          public void onTimeout(AsyncEvent event) {
            event.getAsyncContext().complete();
          }

          @Override
          public void onComplete(AsyncEvent event) {}

          @Override
          public void onError(AsyncEvent event) {}

          @Override
          public void onStartAsync(AsyncEvent event) {}
        });
  }

  private static Executor delayed() {
    return CompletableFuture.delayedExecutor(ASYNC_MILLIS, TimeUnit.MILLISECONDS);
  }
}
