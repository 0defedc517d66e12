// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.main;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * {@code /acmeair/today}: the day on which flights are based, so that the pages can suggest dates
 * that have some: {@code YYYY-MM-DD} or {@code system}, as {@code ACMEAIR_TODAY} says.
 */
@WebServlet("/acmeair/today")
public final class TodayServlet extends HttpServlet {

  private static final long serialVersionUID = 1L;

  private static final String PRESET = "2026-06-15";

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    response.setContentType("text/plain;charset=UTF-8");
    response.getWriter().print(today());
  }

  /** What {@code ACMEAIR_TODAY} says, or the preset day. */
  static String today() {
    String set = System.getenv().getOrDefault("ACMEAIR_TODAY", "").strip();
    return set.isEmpty() ? PRESET : set;
  }
}
