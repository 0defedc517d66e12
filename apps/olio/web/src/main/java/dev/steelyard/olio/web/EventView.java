// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.calendar.Views.EventDetail;
import dev.steelyard.olio.calendar.Views.Said;
import dev.steelyard.olio.entities.Address;
import dev.steelyard.olio.entities.Comment;
import dev.steelyard.olio.entities.Person;
import dev.steelyard.olio.entities.SocialEvent;

/** The page of an event. */
final class EventView {

  private static final int STARS = 5;

  private EventView() {}

  /**
   * Writes it.
   *
   * @param viewer who looks at it; null for nobody who is logged in
   * @param scripts whether attendees and comments are left to scripts
   */
  static void write(Html page, EventDetail detail, String viewer, boolean scripts) {
    SocialEvent event = detail.event();
    String attending = viewer == null ? "none" : String.valueOf(detail.attendedBy(viewer));
    page.fill("<article class=\"detail\" data-attending=\"{}\">\n", attending);
    if (event.getImage() != null) {
      page.fill(
          "<img class=\"picture\" src=\"{/}/access-artifacts/{}\" alt=\"\" width=\"150\""
              + " height=\"150\" />\n",
          event.getImage());
    }
    page.fill(
        "<h1>{}</h1>\n<p><time>{}</time> UTC, posted by"
            + " <a href=\"{/}/person?actionType=display_person&amp;user_name={}\">{}</a></p>\n",
        event.getTitle(),
        Html.time(event.getEventTime()),
        Html.url(event.getSubmitter()),
        event.getSubmitter());
    if (viewer != null) {
      attendance(page, event.getId(), detail.attendedBy(viewer));
      if (viewer.equals(event.getSubmitter())) {
        ListView.buttons(page, event.getId());
      }
    }
    page.fill(
        "<p class=\"summary\">{}</p>\n<p>{}</p>\n", event.getSummary(), event.getDescription());
    if (event.getLiterature() != null) {
      page.fill(
          "<p><a href=\"{/}/access-artifacts/{}\">Literature</a></p>\n", event.getLiterature());
    }
    page.fill("<p>Telephone {}</p>\n", event.getTelephone());
    address(page, detail.address());
    map(page, detail.address());
    page.add("<h2>Tags</h2>\n");
    ListView.tags(page, detail.tags());
    page.add("</article>\n");
    attendees(page, detail, scripts);
    comments(page, detail, viewer, scripts);
  }

  private static void attendance(Html page, int event, boolean attending) {
    page.fill(
        "<p><button data-post=\"{/}/api/event/{}?socialEventID={}\">{}</button></p>\n",
        attending ? "deleteAttendee" : "addAttendee",
        event,
        attending ? "Unattend" : "Attend");
  }

  /** An address on its lines. */
  static void address(Html page, Address address) {
    page.fill(
        "<address>{}<br />{}{}{} {} {}<br />{}</address>\n",
        address.getStreet1(),
        address.getStreet2(),
        address.getStreet2() == null || address.getStreet2().isEmpty() ? "" : ", ",
        address.getCity(),
        address.getState(),
        address.getZip(),
        address.getCountry());
  }

  /** The earth as a rectangle, with a point. */
  private static void map(Html page, Address address) {
    page.fill(
        """
        <svg class="map" viewBox="-180 -90 360 180" role="img" aria-label="latitude {}, longitude {}"><path d="M-180 0H180M0-90V90M-180-45H180M-180 45H180M-90-90V90M90-90V90" /><circle cx="{}" cy="{}" r="6" /></svg>
        """,
        address.getLatitude(),
        address.getLongitude(),
        address.getLongitude(),
        -address.getLatitude());
  }

  private static void attendees(Html page, EventDetail detail, boolean scripts) {
    int id = detail.event().getId();
    page.fill("<section><h2>{} attend</h2>\n", detail.attendees().size());
    if (scripts) {
      page.fill(
          "<ul class=\"names\" data-attendees=\"{/}/api/event/getAttendees?socialEventID={}\"></ul>",
          id);
    } else {
      page.add("<ul class=\"names\">\n");
      for (Person person : detail.attendees()) {
        page.fill(
            "<li><a href=\"{/}/person?actionType=display_person&amp;user_name={}\">{}</a></li>\n",
            Html.url(person.getUserName()),
            person.getUserName());
      }
      page.add("</ul>");
    }
    page.add("</section>\n");
  }

  private static void comments(Html page, EventDetail detail, String viewer, boolean scripts) {
    int id = detail.event().getId();
    page.add("<section><h2>Comments</h2>\n");
    if (scripts) {
      page.fill("<div data-comments=\"{/}/api/event/getComments?socialEventID={}\"></div>\n", id);
    } else {
      detail.comments().forEach(each -> comment(page, id, each, viewer));
    }
    if (viewer != null) {
      Said own =
          detail.comments().stream()
              .filter(each -> each.comment().getUserName().equals(viewer))
              .reduce((first, second) -> second)
              .orElse(null);
      form(page, id, own);
    }
    page.add("</section>\n");
  }

  private static void comment(Html page, int event, Said said, String viewer) {
    Comment comment = said.comment();
    page.fill(
        "<div class=\"comment\"><p><a href=\"{/}/person?actionType=display_person&amp;user_name={}\">"
            + "{}</a> <time>{}</time> ",
        Html.url(comment.getUserName()),
        comment.getUserName(),
        Html.time(comment.getCreatedTime()));
    for (int star = 1; star <= STARS; star++) {
      page.fill(
          "<img src=\"{/}/images/star-{}.svg\" alt=\"\" width=\"16\" height=\"16\" />",
          star <= comment.getRating() ? 1 : 2);
    }
    page.fill("</p>\n<p>{}</p>", comment.getText());
    if (comment.getUserName().equals(viewer)) {
      page.fill(
          "<p><button data-post=\"{/}/api/event/deleteCommentsRating?socialEventID={}"
              + "&amp;commentId={}\">Delete</button></p>",
          event,
          comment.getId());
    }
    page.add("</div>\n");
  }

  private static void form(Html page, int event, Said own) {
    page.fill(
        """
        <form data-form="" method="post" action="{/}/api/event/updateCommentsRating"><input type="hidden" name="socialEventID" value="{}" />
        <label>Your comment <textarea name="comment" rows="3" maxlength="2000">{}</textarea></label>
        <button>Comment</button></form>
        <p>Your rating
        """,
        event,
        own == null ? "" : own.comment().getText());
    for (int star = 1; star <= STARS; star++) {
      page.fill(
          "<button data-post=\"{/}/api/event/updateRating?socialEventID={}&amp;rating={}\">{}</button>\n",
          event,
          star,
          star);
    }
    page.add("</p>\n");
  }
}
