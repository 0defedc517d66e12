// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Optional;
import java.util.Set;

/**
 * Times each request and counts it under its operation.
 *
 * <p>A request counts when it ends. It counts as an <em>error</em> when its status is 500 or more,
 * when an exception leaves the application, or when asynchronous work fails or times out. A status
 * below 500 is no error here: the application did answer as it should, and whether that was the
 * answer wanted is the injector's to judge.
 *
 * <p>Service time runs from the filter's entry to its exit, for an asynchronous request to its
 * completion: it leaves out the network and the wait for a request thread. Requests to {@code
 * /bench} and {@code /health} are never counted, nor is one that becomes a WebSocket, whose
 * messages {@link Work} counts; a forward or include inside the application is part of its request.
 * A request that calls {@link AsyncContext#dispatch()} before its first pass has returned is timed
 * up to that return.
 */
final class CountingFilter extends HttpFilter {

  private static final long serialVersionUID = 1L;

  private final transient Workload workload;
  private final transient OperationCounters counters;
  private final transient Set<String> uncounted;

  /**
   * @param uncounted servlet paths whose requests are not counted
   */
  CountingFilter(Workload workload, OperationCounters counters, Set<String> uncounted) {
    this.workload = workload;
    this.counters = counters;
    this.uncounted = Set.copyOf(uncounted);
  }

  @Override
  protected void doFilter(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    Optional<String> operation = workload.operationOf(request);
    if (uncounted.contains(request.getServletPath())
        || (operation.isEmpty() && !workload.countsOther(request))) {
      chain.doFilter(request, response);
      return;
    }
    long start = System.nanoTime();
    String preset = operation.orElse(OperationCounters.OTHER);
    boolean returned = false;
    try {
      chain.doFilter(request, response);
      returned = true;
    } finally {
      if (returned && request.isAsyncStarted()) {
        request.getAsyncContext().addListener(new Completion(request, preset, start, response));
      } else {
        record(request, preset, start, response, !returned);
      }
    }
  }

  private void record(
      ServletRequest request,
      String preset,
      long start,
      HttpServletResponse response,
      boolean broken) {
    int status = response.getStatus();
    if (status != HttpServletResponse.SC_SWITCHING_PROTOCOLS || broken) {
      Object named = request.getAttribute(Workload.OPERATION);
      counters.record(
          named == null ? preset : named.toString(),
          System.nanoTime() - start,
          broken || status >= HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
    }
  }

  /** Records an asynchronous request when it completes, which each of them does exactly once. */
  private final class Completion implements AsyncListener {

    private final ServletRequest request;
    private final String preset;
    private final long start;
    private final HttpServletResponse response;
    private volatile boolean broken;

    Completion(ServletRequest request, String preset, long start, HttpServletResponse response) {
      this.request = request;
      this.preset = preset;
      this.start = start;
      this.response = response;
    }

    @Override
    public void onComplete(AsyncEvent event) {
      record(request, preset, start, response, broken);
    }

    @Override
    public void onTimeout(AsyncEvent event) {
      broken = true;
    }

    @Override
    public void onError(AsyncEvent event) {
      broken = true;
    }

    @Override
    public void onStartAsync(AsyncEvent event) {
      // A new asynchronous cycle forgets its listeners; this one is to see the end of the request.
      event.getAsyncContext().addListener(this);
    }
  }
}
