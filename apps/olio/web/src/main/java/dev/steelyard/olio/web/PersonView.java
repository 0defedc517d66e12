// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.calendar.Views.Found;
import dev.steelyard.olio.calendar.Views.Listed;
import dev.steelyard.olio.calendar.Views.PersonDetail;
import dev.steelyard.olio.entities.Invitation;
import dev.steelyard.olio.entities.Person;
import dev.steelyard.olio.entities.SocialEvent;
import java.util.List;

/** Pages of persons. */
final class PersonView {

  private static final int CLOUD = 6;

  private PersonView() {}

  /**
   * A person.
   *
   * @param own whether he looks himself
   */
  static void detail(Html page, PersonDetail detail, boolean own) {
    Person person = detail.person();
    page.add("<article class=\"detail\">\n");
    thumbnail(page, person, 100);
    page.fill(
        """
        <h1>{}</h1>
        <dl><dt>Name</dt><dd>{} {}</dd><dt>Time zone</dt><dd>{}</dd><dt>Telephone</dt><dd>{}</dd><dt>E-mail</dt><dd>{}</dd></dl>
        """,
        person.getUserName(),
        person.getFirstName(),
        person.getLastName(),
        person.getTimezone(),
        person.getTelephone(),
        person.getEmail());
    EventView.address(page, detail.address());
    page.fill(
        "<p>{}</p></article>\n<section><h2>Posted events</h2><ul class=\"plain\">\n",
        person.getSummary());
    for (SocialEvent event : detail.posted()) {
      page.fill(
          "<li><a href=\"{/}/event/detail?socialEventID={}\">{}</a> <time>{}</time></li>\n",
          event.getId(),
          event.getTitle(),
          Html.time(event.getEventTime()));
    }
    page.add("</ul></section>\n");
    cloud(page, person, detail.friends());
    if (own) {
      invitations(page, detail);
    }
  }

  private static void thumbnail(Html page, Person person, int size) {
    if (person.getThumbnail() != null) {
      page.fill(
          "<img class=\"picture\" src=\"{/}/access-artifacts/{}\" alt=\"\" width=\"{}\" height=\"{}\" />",
          person.getThumbnail(),
          size,
          size);
    }
  }

  private static void cloud(Html page, Person person, List<Person> friends) {
    page.add("<section><h2>Friends</h2>");
    persons(page, friends.subList(0, Math.min(CLOUD, friends.size())));
    if (friends.size() > CLOUD) {
      page.fill(
          "<p><a class=\"quiet\" href=\"{/}/person?actionType=display_friends&amp;user_name={}\">more"
              + "</a></p>",
          Html.url(person.getUserName()));
    }
    page.add("</section>\n");
  }

  private static void persons(Html page, List<Person> persons) {
    page.add("<ul class=\"persons\">\n");
    for (Person person : persons) {
      page.fill(
          "<li><a href=\"{/}/person?actionType=display_person&amp;user_name={}\">",
          Html.url(person.getUserName()));
      thumbnail(page, person, 50);
      page.fill(" {}</a></li>\n", person.getUserName());
    }
    page.add("</ul>\n");
  }

  private static void invitations(Html page, PersonDetail detail) {
    page.add("<section><h2>Friendship requests</h2><ul class=\"plain\">\n");
    for (Invitation each : detail.incoming()) {
      name(page, each.getRequestor());
      action(page, "approve_friend", each.getRequestor(), "Approve");
      action(page, "reject_invite", each.getRequestor(), "Reject");
      page.add("</li>\n");
    }
    page.add("</ul><h2>Your invitations</h2><ul class=\"plain\">\n");
    for (Invitation each : detail.outgoing()) {
      name(page, each.getCandidate());
      action(page, "revoke_invite", each.getCandidate(), "Revoke");
      page.add("</li>\n");
    }
    page.add("</ul></section>\n");
  }

  private static void name(Html page, String userName) {
    page.fill(
        "<li><a href=\"{/}/person?actionType=display_person&amp;user_name={}\">{}</a>\n",
        Html.url(userName),
        userName);
  }

  private static void action(Html page, String action, String friend, String text) {
    page.fill(
        "<button data-post=\"{/}/api/person?actionType={}&amp;friend={}\">{}</button>\n",
        action,
        Html.url(friend),
        text);
  }

  /** All friends of a person, page by page. */
  static void friends(Html page, String userName, Listed<Person> friends) {
    page.fill("<h1>Friends of {}</h1>\n", userName);
    persons(page, friends.entries());
    ListView.numbers(
        page, friends, "/person?actionType=display_friends&user_name=" + Html.url(userName) + "&");
  }

  /** Persons by the beginning of their user names, to be invited. */
  static void search(Html page, String query, Found found) {
    page.fill(
        """
        <h1>Users</h1>
        <form method="get" action="{/}/person"><input type="hidden" name="actionType" value="Search" />
        <label>Names that begin with <input name="query" value="{}" /></label> <button>Search</button></form>
        <ul class="persons">
        """,
        query);
    for (Person person : found.persons()) {
      page.add("<li>");
      thumbnail(page, person, 50);
      page.fill(
          " <a href=\"{/}/person?actionType=display_person&amp;user_name={}\">{}</a> ",
          Html.url(person.getUserName()),
          person.getUserName());
      boolean invited = found.invited().contains(person.getUserName());
      page.fill(
          """
          <form class="inline" method="post" action="{/}/person"><input type="hidden" name="actionType" value="addDeleteFriend" /><input type="hidden" name="query" value="{}" /><input type="hidden" name="friend" value="{}" /><input type="hidden" name="flag" value="{}" /><button>{}</button></form></li>
          """,
          query,
          person.getUserName(),
          invited ? "delete" : "add",
          invited ? "Revoke" : "Add Friend");
    }
    page.add("</ul>\n");
  }
}
