// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebFilter;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URL;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Answers 304 for a static file that has not changed since a date. Liberty does so by itself only
 * for the very date of the file, and a browser that is emulated may send any later one.
 */
@WebFilter({"/css/*", "/images/*", "/js/*", "/resources/*"})
public final class UnchangedFilter extends HttpFilter {

  private static final long serialVersionUID = 1L;
  private static final long SECOND = 1000;

  /** The dates of files that there are, in seconds; no others are kept. */
  private final transient Map<String, Long> dates = new ConcurrentHashMap<>();

  @Override
  protected void doFilter(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    long since = FilesServlet.since(request);
    Long date = since < 0 ? null : date(request);
    if (date != null && date <= since / SECOND) {
      response.setDateHeader("Last-Modified", date * SECOND);
      response.setStatus(HttpServletResponse.SC_NOT_MODIFIED);
    } else {
      chain.doFilter(request, response);
    }
  }

  private Long date(HttpServletRequest request) throws IOException {
    // No servlet is mapped to it, so that all of the path is what is left over.
    String path = request.getPathInfo();
    if (path == null) {
      return null;
    }
    Long known = dates.get(path);
    if (known == null) {
      URL file = getServletContext().getResource(path);
      long modified = file == null ? 0 : file.openConnection().getLastModified();
      if (modified == 0) {
        return null;
      }
      known = modified / SECOND;
      dates.put(path, known);
    }
    return known;
  }
}
