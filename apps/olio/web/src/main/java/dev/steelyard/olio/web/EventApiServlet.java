// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.Refused;
import dev.steelyard.olio.Stats;
import dev.steelyard.olio.calendar.Conflicts;
import dev.steelyard.olio.calendar.Events;
import dev.steelyard.olio.calendar.Participation;
import dev.steelyard.olio.calendar.Participation.Attendees;
import dev.steelyard.olio.calendar.Publishing;
import dev.steelyard.olio.calendar.Views.Said;
import jakarta.inject.Inject;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.servlet.annotation.MultipartConfig;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;

/** What scripts ask of events, and the upload of one. */
@WebServlet("/api/event/*")
@MultipartConfig(
    maxFileSize = MultipartForm.FILE_LIMIT,
    maxRequestSize = MultipartForm.LIMIT,
    fileSizeThreshold = MultipartForm.IN_MEMORY)
public final class EventApiServlet extends Route {

  private static final long serialVersionUID = 1L;
  private static final int STARS = 5;

  @Inject private transient Events events;
  @Inject private transient Participation participation;
  @Inject private transient Publishing publishing;
  @Inject private transient Stats stats;

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    switch (String.valueOf(request.getPathInfo())) {
      case "/addEvent" -> post(request, response);
      case "/getAttendees" ->
          attendees(
              response,
              participation.attendees(
                  Input.event(request),
                  LoggedInUser.of(request).map(LoggedInUser::userName).orElse(null)));
      case "/addAttendee" -> attend(request, response);
      case "/deleteAttendee" -> {
        LoggedInUser loggedInUser = loggedInUser(request);
        attendees(response, participation.leave(Input.event(request), loggedInUser.userName()));
        loggedInUser.forget();
      }
      case "/getComments" -> comments(response, Input.event(request));
      case "/updateCommentsRating" -> {
        String user = loggedInUser(request).userName();
        String text = Input.required(request, "comment");
        if (text.length() > 2000) {
          throw Refused.badInput("A comment may have 2000 characters.");
        }
        participation.say(Input.event(request), user, text, 0);
        comments(response, Input.event(request));
      }
      case "/deleteCommentsRating" -> {
        String user = loggedInUser(request).userName();
        participation.unsay(Input.event(request), Input.number(request, "commentId"), user);
        comments(response, Input.event(request));
      }
      case "/updateRating" -> rate(request, response);
      default -> throw Refused.unknown("There is no such address.");
    }
  }

  private void post(HttpServletRequest request, HttpServletResponse response) throws IOException {
    LoggedInUser loggedInUser = loggedInUser(request);
    MultipartForm sent = MultipartForm.read(request);
    String known = sent.text("socialEventID", 10);
    int id;
    if (known.isEmpty()) {
      id =
          publishing.post(
              sent.event(),
              loggedInUser.userName(),
              sent.files("upload_event_image", "upload_event_literature", true));
    } else if (known.matches("[0-9]{1,9}")) {
      id = Integer.parseInt(known);
      publishing.change(
          id,
          loggedInUser.userName(),
          sent.event(),
          sent.files("upload_event_image", "upload_event_literature", false));
    } else {
      throw Refused.badInput("socialEventID is not a whole number, or too large.");
    }
    response.sendRedirect(
        request.getContextPath() + "/event/detail?socialEventID=" + id + "&from=add-event");
  }

  private void attend(HttpServletRequest request, HttpServletResponse response) throws IOException {
    LoggedInUser loggedInUser = loggedInUser(request);
    int event = Input.event(request);
    // The same person may be a moment earlier and attends then, or the event is deleted.
    Attendees result =
        Conflicts.retry(stats, () -> participation.attend(event, loggedInUser.userName()));
    loggedInUser.forget();
    attendees(response, result);
  }

  private static void attendees(HttpServletResponse response, Attendees result) throws IOException {
    JsonArrayBuilder names = Json.createArrayBuilder();
    result.attendees().forEach(each -> names.add(Json.createObjectBuilder().add("userName", each)));
    send(
        response,
        Json.createObjectBuilder()
            .add(
                "result",
                Json.createObjectBuilder().add("status", result.status()).add("attendees", names))
            .build());
  }

  private void comments(HttpServletResponse response, int event) throws IOException {
    JsonArrayBuilder comments = Json.createArrayBuilder();
    events.find(event);
    List<Said> all = events.comments(event);
    if (all.isEmpty()) {
      events.reread(event);
    }
    for (Said said : all) {
      comments.add(
          Json.createObjectBuilder()
              .add("username", said.comment().getUserName())
              .add("commentsRatingId", said.comment().getId())
              .add("userimage", String.valueOf(said.person().getThumbnail()))
              .add("comments", said.comment().getText())
              .add("rating", said.comment().getRating())
              .add("creationTime", Html.time(said.comment().getCreatedTime())));
    }
    send(response, Json.createObjectBuilder().add("commentsratings", comments).build());
  }

  private void rate(HttpServletRequest request, HttpServletResponse response) throws IOException {
    String user = loggedInUser(request).userName();
    int rating = Input.number(request, "rating");
    if (rating < 1 || rating > STARS) {
      throw Refused.badInput("A rating is from 1 to 5.");
    }
    participation.say(Input.event(request), user, null, rating);
    send(response, "text/plain;charset=UTF-8", "Your rating is " + rating);
  }
}
