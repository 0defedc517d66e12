// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebFilter;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Instant;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;

/**
 * Answers 304 for a static file that has not changed since a date. Liberty does so by itself only
 * for the very date of the file, and a browser that is emulated may send any later one.
 *
 * <p>Files change with a release only, whose date they all have. Liberty is not asked for it while
 * requests are served: what it tells of a file that several ask for at once is now and then
 * nothing.
 */
@WebFilter({"/css/*", "/images/*", "/js/*", "/resources/*"})
public final class UnchangedFilter extends HttpFilter {

  private static final long serialVersionUID = 1L;

  private final Set<String> files = new HashSet<>();
  private long released;

  @Override
  public void init() throws ServletException {
    released = Instant.parse(getServletContext().getInitParameter("released")).toEpochMilli();
    for (String folder : Set.of("/css/", "/images/", "/js/", "/resources/")) {
      Set<String> found = getServletContext().getResourcePaths(folder);
      if (found == null) {
        throw new ServletException("The archive has no folder " + folder);
      }
      files.addAll(found);
    }
  }

  @Override
  protected void doFilter(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    if (FilesServlet.since(request) >= released && files.contains(path(request))) {
      response.setDateHeader("Last-Modified", released);
      response.setStatus(HttpServletResponse.SC_NOT_MODIFIED);
    } else {
      chain.doFilter(request, response);
    }
  }

  /**
   * The path within the application. No servlet is mapped to a file, so that all of it is what is
   * left over; but while Liberty makes ready to serve a file for the first time, all of it is the
   * servlet's path to whoever asks in the same moment.
   */
  static String path(HttpServletRequest request) {
    return request.getServletPath() + Objects.toString(request.getPathInfo(), "");
  }
}
