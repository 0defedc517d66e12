// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.calendar.Events;
import dev.steelyard.olio.calendar.Fragments;
import dev.steelyard.olio.calendar.Tags;
import dev.steelyard.olio.calendar.Views.Filter;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * The home page: events to come and the cloud of tags. What everybody sees alike is kept, so that
 * it has no buttons for who has posted an event.
 */
@WebServlet({"", "/index.jsp", "/event/list"})
public final class HomeServlet extends Route {

  private static final long serialVersionUID = 1L;

  /** Pages that are kept; nobody turns over more. */
  private static final int KEPT = 50;

  @Inject private transient Events events;
  @Inject private transient Fragments fragments;
  @Inject private transient Tags tags;

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    Filter filter = Input.filter(request);
    int index = Input.index(request);
    String root = request.getContextPath();
    boolean alike = filter.equals(Filter.NONE) && index < KEPT;
    String viewer =
        alike ? null : LoggedInUser.of(request).map(LoggedInUser::userName).orElse(null);
    String list =
        alike
            ? fragments.get("list " + index, () -> list(root, filter, index, null))
            : list(root, filter, index, viewer);
    if (Input.text(request, "displayType").equals("partial")) {
      send(response, "text/html;charset=UTF-8", list);
      return;
    }
    show(
        request,
        response,
        "Events",
        page -> {
          page.add("<h1>Events</h1>\n");
          ListView.filter(page, filter);
          page.add("<div id=\"list\">\n").add(list).add("</div>\n");
        });
  }

  private String list(String root, Filter filter, int index, String viewer) {
    Html part = new Html(root);
    ListView.events(part, events.list(filter, index), viewer, base(filter));
    part.add("<h2>Tags</h2>\n");
    part.add(fragments.get("tags", () -> cloud(root)));
    return part.toString();
  }

  private String cloud(String root) {
    Html part = new Html(root);
    ListView.tags(part, tags.cloud());
    return part.toString();
  }

  private static String base(Filter filter) {
    StringBuilder base = new StringBuilder("/event/list?");
    if (!filter.zip().isEmpty()) {
      base.append("zipcode=").append(Html.url(filter.zip())).append('&');
    }
    if (filter.day() != null) {
      base.append("day=").append(filter.day().getDayOfMonth());
      base.append("&month=").append(filter.day().getMonthValue());
      base.append("&year=").append(filter.day().getYear()).append('&');
    }
    if (filter.byCreated()) {
      base.append("order=created_at&");
    }
    if (filter.descending()) {
      base.append("orderBy=1&");
    }
    return base.toString();
  }
}
