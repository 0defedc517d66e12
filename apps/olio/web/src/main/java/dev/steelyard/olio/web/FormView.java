// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.calendar.Views.EventDetail;
import dev.steelyard.olio.entities.Address;
import dev.steelyard.olio.entities.Person;
import dev.steelyard.olio.entities.SocialEvent;
import dev.steelyard.olio.entities.Tag;
import dev.steelyard.olio.population.Zones;
import java.time.LocalDateTime;
import java.time.Month;
import java.time.format.TextStyle;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The forms for persons and events. */
final class FormView {

  private static final List<String> COUNTRIES =
      Stream.concat(
              Stream.of("USA"),
              Stream.of(Locale.getISOCountries())
                  .map(code -> new Locale("", code).getDisplayCountry(Locale.ENGLISH))
                  .sorted())
          .toList();

  private FormView() {}

  /**
   * A person's form.
   *
   * @param person whose profile it is, or null for somebody who registers
   */
  static void person(Html page, Person person, Address address) {
    boolean known = person != null;
    Person shown = known ? person : new Person();
    page.fill(
        "<h1>{}</h1>\n<form class=\"wide\" method=\"post\" enctype=\"multipart/form-data\""
            + " action=\"{/}/api/person/fileuploadPerson?user_name={}&amp;isEditable={}\">\n",
        known ? "Edit your profile" : "Register",
        Html.url(shown.getUserName()),
        known);
    if (!known) {
      field(page, "User name", "user_name", null, 25, true);
    }
    page.add(
        """
        <label>Password <input type="password" name="password" maxlength="25" required="required" autocomplete="new-password" /></label>
        <label>Password again <input type="password" name="passwordx" maxlength="25" required="required" autocomplete="new-password" /></label>
        """);
    field(page, "First name", "first_name", shown.getFirstName(), 25, true);
    field(page, "Last name", "last_name", shown.getLastName(), 25, true);
    field(page, "E-mail", "email", shown.getEmail(), 90, true);
    field(page, "Telephone", "telephone", shown.getTelephone(), 25, false);
    page.fill(
        "<label>About you <textarea name=\"summary\" rows=\"4\" maxlength=\"2500\">{}</textarea>"
            + "</label>\n",
        shown.getSummary());
    choice(
        page,
        "Time zone",
        "timezone",
        Zones.NAMES,
        Objects.requireNonNullElse(shown.getTimezone(), "UTC"));
    address(page, address);
    file(page, "Picture (JPEG)", "upload_person_image", !known);
    page.add("<button name=\"submit\" value=\"Create\">Save</button></form>\n");
  }

  /**
   * An event's form.
   *
   * @param detail of the event, or null for a new one
   * @param now of the calendar
   */
  static void event(Html page, EventDetail detail, LocalDateTime now) {
    boolean known = detail != null;
    SocialEvent event = known ? detail.event() : new SocialEvent();
    LocalDateTime time = Objects.requireNonNullElse(event.getEventTime(), now.plusHours(12));
    page.fill(
        "<h1>{}</h1>\n<form class=\"wide\" method=\"post\" enctype=\"multipart/form-data\""
            + " action=\"{/}/api/event/addEvent\">\n",
        known ? "Edit an event" : "Add an event");
    if (known) {
      page.fill("<input type=\"hidden\" name=\"socialEventID\" value=\"{}\" />\n", event.getId());
    }
    field(page, "Title", "title", event.getTitle(), 100, true);
    field(page, "Summary", "summary", event.getSummary(), 100, true);
    page.fill(
        "<label>Description <textarea name=\"description\" rows=\"4\" maxlength=\"500\""
            + " required=\"required\">{}</textarea></label>\n",
        event.getDescription());
    field(page, "Telephone", "telephone", event.getTelephone(), 20, false);
    page.add("<div class=\"row\">");
    int year = now.getYear();
    numbers(page, "Year", "year", Math.min(year, time.getYear()), year + 5, time.getYear());
    page.add("<label>Month <select name=\"month\">\n");
    for (Month month : Month.values()) {
      ListView.option(
          page,
          Integer.toString(month.getValue()),
          month.getDisplayName(TextStyle.FULL, Locale.ENGLISH),
          month == time.getMonth());
    }
    page.add("</select></label>");
    numbers(page, "Day", "day", 1, 31, time.getDayOfMonth());
    numbers(page, "Hour", "hour", 0, 23, time.getHour());
    numbers(page, "Minute", "minute", 0, 59, time.getMinute());
    page.add("</div>\n");
    choice(page, "Time zone", "timezone", Zones.NAMES, "UTC");
    String words =
        known ? detail.tags().stream().map(Tag::getWord).collect(Collectors.joining(" ")) : "";
    field(page, "Tags, with blanks between them", "tags", words, 250, false);
    address(page, known ? detail.address() : null);
    file(page, "Picture (JPEG)", "upload_event_image", !known);
    file(page, "Literature (PDF, Word or text)", "upload_event_literature", false);
    page.fill(
        "<button name=\"submit\" value=\"{}\">Save</button></form>\n", known ? "Update" : "Create");
  }

  private static void address(Html page, Address address) {
    Address shown = address == null ? new Address() : address;
    page.add("<fieldset><legend>Address</legend>\n");
    field(page, "Street", "street1", shown.getStreet1(), 55, false);
    field(page, "Street, more", "street2", shown.getStreet2(), 55, false);
    field(page, "City", "city", shown.getCity(), 55, false);
    field(page, "State", "state", shown.getState(), 25, false);
    field(page, "Zip code", "zip", shown.getZip(), 12, false);
    choice(
        page,
        "Country",
        "country",
        COUNTRIES,
        Objects.requireNonNullElse(shown.getCountry(), "USA"));
    page.add("</fieldset>\n");
  }

  private static void field(
      Html page, String label, String name, String value, int length, boolean required) {
    page.fill(
        "<label>{} <input name=\"{}\" value=\"{}\" maxlength=\"{}\"", label, name, value, length);
    page.add(required ? " required=\"required\" /></label>\n" : " /></label>\n");
  }

  private static void file(Html page, String label, String name, boolean required) {
    page.fill("<label>{} <input type=\"file\" name=\"{}\"", label, name);
    page.add(required ? " required=\"required\" /></label>\n" : " /></label>\n");
  }

  private static void numbers(Html page, String label, String name, int from, int to, int value) {
    choice(
        page,
        label,
        name,
        IntStream.rangeClosed(from, to).mapToObj(Integer::toString).toList(),
        Integer.toString(value));
  }

  /** A choice; a value that is none of them comes first. */
  private static void choice(
      Html page, String label, String name, List<String> values, String selected) {
    page.fill("<label>{} <select name=\"{}\">\n", label, name);
    if (!values.contains(selected)) {
      ListView.option(page, selected, selected, true);
    }
    for (String value : values) {
      ListView.option(page, value, value, value.equals(selected));
    }
    page.add("</select></label>\n");
  }
}
