// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.calendar.Views;
import dev.steelyard.olio.calendar.Views.Filter;
import dev.steelyard.olio.calendar.Views.Listed;
import dev.steelyard.olio.entities.SocialEvent;
import dev.steelyard.olio.entities.Tag;
import java.util.List;

/** Lists of events, the numbers of their pages, and clouds of tags. */
final class ListView {

  private static final int MOST_NUMBERS = 10;
  private static final int SMALLEST = 100;
  private static final int LARGEST = 250;

  private ListView() {}

  /**
   * A list.
   *
   * @param viewer who may change his own events; null for nobody
   * @param base the address of its pages up to their number
   */
  static void events(Html page, Listed<SocialEvent> listed, String viewer, String base) {
    page.add("<ul class=\"events\">\n");
    for (SocialEvent event : listed.entries()) {
      item(page, event, viewer);
    }
    page.add("</ul>\n");
    if (listed.entries().isEmpty()) {
      page.add("<p>There are no events.</p>\n");
    }
    numbers(page, listed, base);
  }

  private static void item(Html page, SocialEvent event, String viewer) {
    page.fill("<li><a class=\"thumb\" href=\"{/}/event/detail?socialEventID={}\">", event.getId());
    if (event.getThumbnail() != null) {
      page.fill(
          "<img src=\"{/}/access-artifacts/{}\" alt=\"\" width=\"90\" height=\"90\" />",
          event.getThumbnail());
    }
    page.fill(
        """
        </a><div><h3><a href="{/}/event/detail?socialEventID={}">{}</a></h3>
        <time>{}</time><div class="more" hidden="hidden"><p>Posted {}</p><p>{}</p></div>
        """,
        event.getId(),
        event.getTitle(),
        Html.time(event.getEventTime()),
        Html.time(event.getCreatedTime()),
        event.getDescription());
    if (viewer != null && viewer.equals(event.getSubmitter())) {
      buttons(page, event.getId());
    }
    page.add("</div></li>\n");
  }

  /** What the submitter of an event may do. */
  static void buttons(Html page, int event) {
    page.fill(
        """
        <form class="inline" method="post" action="{/}/event/updateEvent"><input type="hidden" name="socialEventID" value="{}" /><button>Edit</button></form>
        <form class="inline" method="post" action="{/}/event/delete"><input type="hidden" name="socialEventID" value="{}" /><button>Delete</button></form>
        """,
        event,
        event);
  }

  /** At most ten numbers of pages, around the one that is shown. */
  static void numbers(Html page, Listed<?> listed, String base) {
    int pages = (int) ((listed.all() + Views.PAGE - 1) / Views.PAGE);
    if (pages < 2) {
      return;
    }
    int first = Math.max(0, Math.min(listed.index() - MOST_NUMBERS / 2, pages - MOST_NUMBERS));
    page.add("<p class=\"pages\">");
    for (int i = first; i < Math.min(pages, first + MOST_NUMBERS); i++) {
      if (i == listed.index()) {
        page.fill("<strong>{}</strong> ", i + 1);
      } else {
        page.fill("<a href=\"{/}{}index={}\">{}</a> ", base, i, i + 1);
      }
    }
    page.add("</p>\n");
  }

  /** Above the list of the home page: what is to be listed. */
  static void filter(Html page, Filter filter) {
    page.fill(
        """
        <form class="filter" method="get" action="{/}/event/list"><label>Zip code
        <input name="zipcode" size="6" value="{}" /></label> <label>Sorted by <select name="order">
        """,
        filter.zip());
    option(page, "event_date", "date of the event", !filter.byCreated());
    option(page, "created_at", "date of posting", filter.byCreated());
    page.add("</select></label> <button>Show</button></form>\n");
  }

  /** A choice of a form. */
  static void option(Html page, String value, String text, boolean selected) {
    page.fill(
        selected
            ? "<option value=\"{}\" selected=\"selected\">{}</option>\n"
            : "<option value=\"{}\">{}</option>\n",
        value,
        text);
  }

  /** Tags, the larger the more events have them. */
  static void tags(Html page, List<Tag> tags) {
    int least = tags.stream().mapToInt(Tag::getReferences).min().orElse(0);
    int most = tags.stream().mapToInt(Tag::getReferences).max().orElse(0);
    page.add("<p class=\"tags\">\n");
    for (Tag tag : tags) {
      page.fill(
          "<a style=\"font-size:{}%\" href=\"{/}/tag/display?tag={}\">{}</a>\n",
          size(tag.getReferences(), least, most), Html.url(tag.getWord()), tag.getWord());
    }
    page.add("</p>\n");
  }

  /** Percent: the lowest number is 100, the highest 250, between them it grows evenly. */
  static int size(int references, int least, int most) {
    return least == most
        ? SMALLEST
        : SMALLEST + (LARGEST - SMALLEST) * (references - least) / (most - least);
  }
}
