// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.Settings;
import dev.steelyard.olio.calendar.Events;
import dev.steelyard.olio.calendar.Friends;
import dev.steelyard.olio.calendar.Views.Upcoming;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.format.TextStyle;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What all pages have: header, sidebar and footer. */
@ApplicationScoped
public class PageLayout {

  /** The session's attribute with what the next page has to tell. */
  static final String MESSAGE = "message";

  /** The session's attribute with the address of the last page. */
  static final String LAST_PAGE = "lastPage";

  private static final int WEEK = 7;

  @Inject private Events events;
  @Inject private Friends friends;
  @Inject private Settings settings;

  /**
   * Answers with a page, and remembers it as the last one; anonymous visitors get a session, too.
   */
  void show(HttpServletRequest request, HttpServletResponse response, String title, Route.Part main)
      throws IOException {
    HttpSession session = request.getSession(true);
    if (request.getMethod().equals("GET")) {
      String query = request.getQueryString();
      session.setAttribute(LAST_PAGE, request.getRequestURI() + (query == null ? "" : "?" + query));
    }
    Object message = session.getAttribute(MESSAGE);
    if (message != null) {
      session.removeAttribute(MESSAGE);
    }
    Optional<LoggedInUser> loggedInUser = LoggedInUser.of(request);
    Html page = new Html(request.getContextPath());
    top(page, title, loggedInUser);
    page.add("<div class=\"page\"><main>\n");
    if (message != null) {
      page.fill("<p class=\"message\" role=\"status\">{}</p>\n", message);
    }
    main.to(page);
    page.add("</main>\n<aside>\n");
    loggedInUser.ifPresentOrElse(
        each -> personal(page, each), () -> page.add("<p>You are not logged in.</p>\n"));
    calendar(page, Optional.ofNullable(Input.day(request)).orElse(settings.today()));
    search(page);
    page.add("</aside></div>\n");
    send(response, bottom(page));
  }

  /** Answers with a page that asks the database nothing. */
  void error(HttpServletRequest request, HttpServletResponse response, String sentence)
      throws IOException {
    Html page = new Html(request.getContextPath());
    top(page, "Sorry", LoggedInUser.of(request));
    page.add("<div class=\"page\"><main><h1>Sorry</h1>\n");
    page.fill("<p class=\"message\" role=\"alert\">{}</p>\n", sentence);
    page.fill("<p><a href=\"{/}/\">To the list of events</a></p></main></div>\n");
    send(response, bottom(page));
  }

  private static Html bottom(Html page) {
    return page.add("<footer>Olio, a calendar of social events</footer>\n</body>\n</html>\n");
  }

  private static void send(HttpServletResponse response, Html page) throws IOException {
    byte[] bytes = page.toString().getBytes(StandardCharsets.UTF_8);
    response.setContentType("text/html;charset=UTF-8");
    response.setHeader("Cache-Control", "no-cache");
    response.setContentLength(bytes.length);
    response.getOutputStream().write(bytes);
  }

  private static void top(Html page, String title, Optional<LoggedInUser> loggedInUser) {
    page.fill(
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{} - Olio</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="{/}/style.css" />
        <script src="{/}/olio.js" defer="defer"></script>
        </head>
        <body>
        <header><a class="brand" href="{/}/">Olio</a>
        <nav><a href="{/}/">Home</a>
        """,
        title);
    if (loggedInUser.isPresent()) {
      page.fill(
          """
          <a href="{/}/event/addEvent">Add Event</a>
          <a href="{/}/person?actionType=Search&amp;query=">Users</a>
          <a href="{/}/person?actionType=edit_person">Edit Profile</a></nav>
          """);
    } else {
      page.fill(
          """
          <a href="{/}/person/addPerson">Register</a></nav>
          <form class="login" method="post" action="{/}/person/login">
          <label>Username <input name="user_name" size="10" autocomplete="username" /></label>
          <label>Password <input name="password" type="password" size="10" autocomplete="current-password" /></label>
          <button>Log in</button></form>
          """);
    }
    page.add("</header>\n");
  }

  private void personal(Html page, LoggedInUser loggedInUser) {
    page.fill(
        """
        <section><p>Hello, <a href="{/}/person?actionType=display_person&amp;user_name={}">{}</a>.
        <a class="quiet" href="{/}/logout">Log out</a></p>
        """,
        Html.url(loggedInUser.userName()),
        loggedInUser.userName());
    long requests = loggedInUser.requests(() -> friends.requests(loggedInUser.userName()));
    page.fill(
        "<p><a href=\"{/}/person?actionType=display_person&amp;user_name={}\">{} friendship"
            + " requests</a></p></section>\n<section><h2>Your next events</h2><ul class=\"plain\">\n",
        Html.url(loggedInUser.userName()),
        requests);
    List<Upcoming> upcoming = loggedInUser.upcoming(() -> events.upcoming(loggedInUser.userName()));
    for (Upcoming each : upcoming) {
      page.fill(
          "<li><a href=\"{/}/event/detail?socialEventID={}\">{}</a> <time>{}</time></li>\n",
          each.id(),
          each.title(),
          Html.time(each.time()));
    }
    page.fill(
        "</ul><p><a class=\"quiet\" href=\"{/}/event/upcoming?userName={}\">more</a></p></section>\n",
        Html.url(loggedInUser.userName()));
  }

  /** The month of a day, each of whose days lists its events. */
  private void calendar(Html page, LocalDate shown) {
    LocalDate first = shown.withDayOfMonth(1);
    page.add("<section><table class=\"calendar\"><caption>");
    month(page, first.minusMonths(1), "&lsaquo;", "the month before");
    page.fill(
        " {} {} ",
        first.getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH),
        first.getYear());
    month(page, first.plusMonths(1), "&rsaquo;", "the next month");
    page.add(
        "</caption><thead><tr><th>Mo</th><th>Tu</th><th>We</th><th>Th</th><th>Fr</th><th>Sa</th>"
            + "<th>Su</th></tr></thead><tbody>\n<tr>");
    int column = first.getDayOfWeek().getValue() - 1;
    page.add("<td></td>".repeat(column));
    for (int day = 1; day <= first.lengthOfMonth(); day++) {
      boolean today = first.withDayOfMonth(day).equals(settings.today());
      page.add(today ? "<td class=\"today\">" : "<td>");
      link(page, first.withDayOfMonth(day));
      page.fill(">{}</a></td>", day);
      if (++column % WEEK == 0 && day < first.lengthOfMonth()) {
        page.add("</tr>\n<tr>");
      }
    }
    page.add("</tr></tbody></table></section>\n");
  }

  private static void month(Html page, LocalDate first, String sign, String title) {
    page.fill(
        "<a title=\"{}\" href=\"{/}/event/list?day=1&amp;month={}&amp;year={}\">",
        title,
        first.getMonthValue(),
        first.getYear());
    page.add(sign).add("</a>");
  }

  private static void link(Html page, LocalDate day) {
    page.fill(
        "<a data-partial=\"\" href=\"{/}/event/list?day={}&amp;month={}&amp;year={}\"",
        day.getDayOfMonth(),
        day.getMonthValue(),
        day.getYear());
  }

  private static void search(Html page) {
    page.fill(
        """
        <section><form method="post" action="{/}/tag/display"><label>Events by tag
        <input name="tag" size="14" /></label>
        <button name="tagsearchsubmit" value="Submit">Search</button></form></section>
        """);
  }
}
