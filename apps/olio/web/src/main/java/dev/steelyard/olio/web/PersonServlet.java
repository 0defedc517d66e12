// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.Refused;
import dev.steelyard.olio.calendar.Events;
import dev.steelyard.olio.calendar.Friends;
import dev.steelyard.olio.calendar.Persons;
import dev.steelyard.olio.calendar.Views.Found;
import dev.steelyard.olio.calendar.Views.Listed;
import dev.steelyard.olio.calendar.Views.PersonDetail;
import dev.steelyard.olio.entities.Address;
import dev.steelyard.olio.entities.Person;
import dev.steelyard.olio.entities.SocialEvent;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;

/** Pages of persons, and their forms. */
@WebServlet({"/person", "/person/addPerson", "/site.jsp"})
public final class PersonServlet extends Route {

  private static final long serialVersionUID = 1L;
  private static final String USER_NAME = "user_name";

  @Inject private transient Events events;
  @Inject private transient Friends friends;
  @Inject private transient Persons persons;

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    if (!request.getServletPath().equals("/person")) {
      boolean register =
          !request.getServletPath().equals("/site.jsp")
              || Input.text(request, "page").equals("addPerson.jsp");
      if (!register) {
        throw Refused.unknown("There is no such page.");
      }
      show(request, response, "Register", page -> FormView.person(page, null, null));
      return;
    }
    switch (Input.required(request, "actionType")) {
      case "display_person" -> person(request, response);
      case "display_friends" -> friends(request, response);
      case "display_myPostedEvents" -> posted(request, response);
      case "edit_person" -> {
        Person person = persons.get(loggedInUser(request).userName());
        Address address = persons.addressOf(person);
        show(
            request, response, "Edit your profile", page -> FormView.person(page, person, address));
      }
      case "Search" -> search(request, response, loggedInUser(request));
      case "addDeleteFriend" -> {
        LoggedInUser loggedInUser = loggedInUser(request);
        invite(request, loggedInUser);
        search(request, response, loggedInUser);
      }
      default -> throw Refused.badInput("There is no such action.");
    }
  }

  private void person(HttpServletRequest request, HttpServletResponse response) throws IOException {
    String userName = Input.required(request, USER_NAME);
    boolean own =
        LoggedInUser.of(request).filter(each -> each.userName().equals(userName)).isPresent();
    PersonDetail detail = persons.detail(userName, own);
    show(request, response, userName, page -> PersonView.detail(page, detail, own));
  }

  private void friends(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    Person person = persons.get(Input.required(request, USER_NAME));
    Listed<Person> listed = Listed.of(friends.of(person.getId()), Input.index(request));
    show(
        request,
        response,
        "Friends",
        page -> PersonView.friends(page, person.getUserName(), listed));
  }

  private void posted(HttpServletRequest request, HttpServletResponse response) throws IOException {
    String userName = persons.get(Input.required(request, USER_NAME)).getUserName();
    List<SocialEvent> posted = events.postedBy(userName);
    Listed<SocialEvent> listed = Listed.of(posted, Input.index(request));
    String viewer = LoggedInUser.of(request).map(LoggedInUser::userName).orElse(null);
    show(
        request,
        response,
        "Posted events",
        page -> {
          page.fill("<h1>Events posted by {}</h1>\n", userName);
          ListView.events(
              page,
              listed,
              viewer,
              "/person?actionType=display_myPostedEvents&user_name=" + Html.url(userName) + "&");
        });
  }

  private void invite(HttpServletRequest request, LoggedInUser loggedInUser) {
    String friend = Input.required(request, "friend");
    switch (Input.required(request, "flag")) {
      case "add" -> friends.invite(loggedInUser.userName(), friend);
      case "delete" -> friends.withdraw(loggedInUser.userName(), friend);
      default -> throw Refused.badInput("The flag is add or delete.");
    }
  }

  private void search(
      HttpServletRequest request, HttpServletResponse response, LoggedInUser loggedInUser)
      throws IOException {
    String query = Input.text(request, "query");
    Found found = friends.search(loggedInUser.id(), loggedInUser.userName(), query);
    show(request, response, "Users", page -> PersonView.search(page, query, found));
  }
}
