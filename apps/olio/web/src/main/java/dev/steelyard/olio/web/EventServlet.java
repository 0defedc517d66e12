// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.Settings;
import dev.steelyard.olio.calendar.Events;
import dev.steelyard.olio.calendar.Persons;
import dev.steelyard.olio.calendar.Publishing;
import dev.steelyard.olio.calendar.Views.EventDetail;
import dev.steelyard.olio.calendar.Views.Listed;
import dev.steelyard.olio.entities.SocialEvent;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;

/** Pages of events, their forms and the lists of them that are a person's or a tag's. */
@WebServlet({
  "/event/detail",
  "/event/upcoming",
  "/event/addEvent",
  "/event/updateEvent",
  "/event/delete",
  "/tag/display"
})
public final class EventServlet extends Route {

  private static final long serialVersionUID = 1L;

  @Inject private transient Events events;
  @Inject private transient Persons persons;
  @Inject private transient Publishing publishing;
  @Inject private transient Settings settings;

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    switch (request.getServletPath()) {
      case "/event/detail" -> detail(request, response);
      case "/event/upcoming" -> upcoming(request, response);
      case "/event/addEvent" -> {
        loggedInUser(request);
        show(request, response, "Add an event", page -> FormView.event(page, null, settings.now()));
      }
      case "/event/updateEvent" -> update(request, response);
      case "/event/delete" -> {
        LoggedInUser loggedInUser = loggedInUser(request);
        publishing.delete(Input.event(request), loggedInUser.userName());
        loggedInUser.forget();
        response.sendRedirect(request.getContextPath() + "/event/list");
      }
      default -> tagged(request, response);
    }
  }

  private void detail(HttpServletRequest request, HttpServletResponse response) throws IOException {
    EventDetail detail = events.detail(Input.event(request));
    String viewer = LoggedInUser.of(request).map(LoggedInUser::userName).orElse(null);
    show(
        request,
        response,
        detail.event().getTitle(),
        page -> EventView.write(page, detail, viewer, settings.jmaki()));
  }

  private void upcoming(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    String userName = persons.get(Input.required(request, "userName")).getUserName();
    Listed<SocialEvent> listed = events.attendedBy(userName, Input.index(request));
    String viewer = LoggedInUser.of(request).map(LoggedInUser::userName).orElse(null);
    show(
        request,
        response,
        "Upcoming events",
        page -> {
          page.fill("<h1>Upcoming events of {}</h1>\n", userName);
          ListView.events(
              page, listed, viewer, "/event/upcoming?userName=" + Html.url(userName) + "&");
        });
  }

  private void update(HttpServletRequest request, HttpServletResponse response) throws IOException {
    int id = Input.event(request);
    events.ownedBy(loggedInUser(request).userName(), id);
    EventDetail detail = events.form(id);
    show(request, response, "Edit an event", page -> FormView.event(page, detail, settings.now()));
  }

  private void tagged(HttpServletRequest request, HttpServletResponse response) throws IOException {
    String tag = Input.required(request, "tag");
    int index = Input.index(request);
    List<SocialEvent> all = events.tagged(tag);
    String viewer = LoggedInUser.of(request).map(LoggedInUser::userName).orElse(null);
    show(
        request,
        response,
        "Tagged events",
        page -> {
          page.fill("<h1>Events tagged {}</h1>\n", tag);
          ListView.events(
              page, Listed.of(all, index), viewer, "/tag/display?tag=" + Html.url(tag) + "&");
        });
  }
}
