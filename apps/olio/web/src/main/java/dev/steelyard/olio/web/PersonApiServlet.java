// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.Refused;
import dev.steelyard.olio.calendar.Events;
import dev.steelyard.olio.calendar.Forms.PersonForm;
import dev.steelyard.olio.calendar.Friends;
import dev.steelyard.olio.calendar.Persons;
import dev.steelyard.olio.calendar.Publishing;
import dev.steelyard.olio.calendar.Views.PersonDetail;
import dev.steelyard.olio.calendar.Views.Upcoming;
import dev.steelyard.olio.entities.Invitation;
import dev.steelyard.olio.entities.Person;
import dev.steelyard.olio.entities.SocialEvent;
import jakarta.inject.Inject;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObject;
import jakarta.servlet.annotation.MultipartConfig;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Objects;

/** What scripts ask of persons, and the upload of one. */
@WebServlet({"/api/person", "/api/person/fileuploadPerson"})
@MultipartConfig(
    maxFileSize = MultipartForm.FILE_LIMIT,
    maxRequestSize = MultipartForm.LIMIT,
    fileSizeThreshold = MultipartForm.IN_MEMORY)
public final class PersonApiServlet extends Route {

  private static final long serialVersionUID = 1L;

  @Inject private transient Events events;
  @Inject private transient Friends friends;
  @Inject private transient Persons persons;
  @Inject private transient Publishing publishing;

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    if (request.getServletPath().endsWith("/fileuploadPerson")) {
      upload(request, response);
      return;
    }
    switch (Input.text(request, "actionType")) {
      case "get_friends" -> send(response, friendsOf(named(request)));
      case "get_posted_events" -> {
        JsonArrayBuilder list = Json.createArrayBuilder();
        for (SocialEvent each : events.postedBy(named(request).getUserName())) {
          list.add(event(each.getId(), each.getTitle(), Html.time(each.getEventTime())));
        }
        send(response, Json.createObjectBuilder().add("eventsList", list).build());
      }
      case "get_attend_events" -> {
        JsonArrayBuilder list = Json.createArrayBuilder();
        for (Upcoming each : events.upcoming(named(request).getUserName())) {
          list.add(event(each.id(), each.title(), Html.time(each.time())));
        }
        send(response, Json.createObjectBuilder().add("eventsList", list).build());
      }
      case "", "read" -> send(response, person(named(request)));
      default -> change(request, response);
    }
  }

  private Person named(HttpServletRequest request) {
    return persons.get(Input.required(request, "user_name"));
  }

  private void change(HttpServletRequest request, HttpServletResponse response) throws IOException {
    LoggedInUser loggedInUser = loggedInUser(request);
    String self = loggedInUser.userName();
    switch (Input.text(request, "actionType")) {
      case "add_friend" -> friends.invite(self, Input.required(request, "friend_user_name"));
      case "revoke_invite" -> friends.withdraw(self, Input.required(request, "friend"));
      case "approve_friend" -> friends.approve(Input.required(request, "friend"), self);
      case "reject_invite" -> friends.withdraw(Input.required(request, "friend"), self);
      default -> throw Refused.badInput("There is no such action.");
    }
    loggedInUser.forget();
    JsonArrayBuilder outgoing = Json.createArrayBuilder();
    for (Invitation each : friends.outgoing(self)) {
      outgoing.add(Json.createObjectBuilder().add("candidate", each.getCandidate()));
    }
    send(response, Json.createObjectBuilder().add("outgoingInvitations", outgoing).build());
  }

  private void upload(HttpServletRequest request, HttpServletResponse response) throws IOException {
    boolean edit = String.valueOf(request.getQueryString()).contains("isEditable=true");
    String self = edit ? loggedInUser(request).userName() : null;
    MultipartForm sent = MultipartForm.read(request);
    PersonForm form = sent.person(self);
    Publishing.UploadedFiles files = sent.files("upload_person_image", "", !edit);
    if (edit) {
      publishing.change(persons.get(self), form, files);
    } else {
      publishing.register(form, files);
    }
    PersonDetail detail = persons.detail(form.userName(), edit);
    show(request, response, form.userName(), page -> PersonView.detail(page, detail, edit));
  }

  private JsonObject friendsOf(Person person) {
    JsonArrayBuilder list = Json.createArrayBuilder();
    for (Person each : friends.of(person.getId())) {
      list.add(
          Json.createObjectBuilder()
              .add("name", each.getUserName())
              .add("imageURL", text(each.getThumbnail())));
    }
    return Json.createObjectBuilder().add("friendsList", list).build();
  }

  private static JsonObject event(int id, String title, String date) {
    return Json.createObjectBuilder()
        .add("socialEventId", id)
        .add("title", title)
        .add("date", date)
        .build();
  }

  private static JsonObject person(Person person) {
    return Json.createObjectBuilder()
        .add("userName", person.getUserName())
        .add("firstName", text(person.getFirstName()))
        .add("lastName", text(person.getLastName()))
        .add("email", text(person.getEmail()))
        .add("telephone", text(person.getTelephone()))
        .add("summary", text(person.getSummary()))
        .add("timezone", text(person.getTimezone()))
        .add("imageURL", text(person.getImage()))
        .build();
  }

  private static String text(String value) {
    return Objects.requireNonNullElse(value, "");
  }
}
