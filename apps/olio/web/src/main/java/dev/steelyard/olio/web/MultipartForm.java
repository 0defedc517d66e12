// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.Refused;
import dev.steelyard.olio.calendar.Forms.AddressForm;
import dev.steelyard.olio.calendar.Forms.EventForm;
import dev.steelyard.olio.calendar.Forms.PersonForm;
import dev.steelyard.olio.calendar.Publishing;
import dev.steelyard.olio.files.Uploads;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A form with files as it was sent, and what is made of its fields. */
final class MultipartForm {

  /** Bytes that one file may have. */
  static final int FILE_LIMIT = 5_000_000;

  /** Bytes that all of a form may have. */
  static final int LIMIT = 12_000_000;

  /** Larger files are kept on disk while they are read. */
  static final int IN_MEMORY = 2_000_000;

  private static final Logger LOG = Logger.getLogger(MultipartForm.class.getName());
  private static final int MOST_TAGS = 20;

  private final Map<String, String> fields = new HashMap<>();
  private final Map<String, byte[]> files = new HashMap<>();
  private final Map<String, String> fileNames = new HashMap<>();

  private MultipartForm() {}

  /** Reads the form. */
  static MultipartForm read(HttpServletRequest request) {
    if (request.getContentLengthLong() > LIMIT) {
      throw Refused.tooLarge();
    }
    String type = String.valueOf(request.getContentType());
    if (!type.toLowerCase(Locale.ROOT).startsWith("multipart/form-data")) {
      throw Refused.badInput("The form has to be sent as multipart/form-data.");
    }
    MultipartForm sent = new MultipartForm();
    try {
      for (Part part : request.getParts()) {
        sent.add(part);
      }
    } catch (IllegalStateException e) {
      // So says the specification of servlets.
      throw Refused.tooLarge();
    } catch (IOException | ServletException e) {
      // Mostly it is no form, or not all of one; that it found no room here is told in the same
      // way.
      LOG.log(Level.WARNING, "A form with files could not be read: {0}", e.toString());
      throw Refused.badInput("The form cannot be read.");
    }
    return sent;
  }

  private void add(Part part) throws IOException {
    try (InputStream in = part.getInputStream()) {
      byte[] content = in.readAllBytes();
      String file = part.getSubmittedFileName();
      if (file == null) {
        fields.put(part.getName(), new String(content, StandardCharsets.UTF_8).strip());
      } else if (!file.isEmpty() || content.length > 0) {
        files.put(part.getName(), content);
        fileNames.put(part.getName(), file);
      }
    }
  }

  /** A field, or an empty text. */
  String text(String name, int longest) {
    String text = fields.getOrDefault(name, "");
    if (text.length() > longest) {
      throw Refused.badInput("%s is longer than %d characters.".formatted(name, longest));
    }
    return text;
  }

  private String required(String name, int longest) {
    String text = text(name, longest);
    if (text.isEmpty()) {
      throw Refused.badInput(name + " is missing.");
    }
    return text;
  }

  private int number(String name, int least, int most) {
    String text = required(name, 9);
    if (!text.matches("[0-9]+")
        || Integer.parseInt(text) < least
        || Integer.parseInt(text) > most) {
      throw Refused.badInput("%s is not a number from %d to %d.".formatted(name, least, most));
    }
    return Integer.parseInt(text);
  }

  /**
   * A person.
   *
   * @param userName of who changes his profile, or null for somebody who registers
   */
  PersonForm person(String userName) {
    String name = userName == null ? required("user_name", 25) : userName;
    if (!name.matches("[A-Za-z0-9_]+")) {
      throw Refused.badInput("A user name has letters, digits and underscores.");
    }
    String password = required("password", 25);
    if (!password.equals(text("passwordx", 25))) {
      throw Refused.badInput("The two passwords are not the same.");
    }
    return new PersonForm(
        name,
        password,
        required("first_name", 25),
        required("last_name", 25),
        required("email", 90),
        text("telephone", 25),
        text("summary", 2500),
        text("timezone", 100),
        address());
  }

  /** An event. */
  EventForm event() {
    return new EventForm(
        required("title", 100),
        required("summary", 100),
        required("description", 500),
        text("telephone", 20),
        time(),
        tags(),
        address());
  }

  /** The time in UTC of the clock in the form's time zone. */
  private LocalDateTime time() {
    String zone = text("timezone", 100);
    try {
      return LocalDateTime.of(
              number("year", 1970, 9999),
              Input.month(required("month", 20)),
              number("day", 1, 31),
              number("hour", 0, 23),
              number("minute", 0, 59))
          .atZone(zone.isEmpty() ? ZoneOffset.UTC : ZoneId.of(zone, ZoneId.SHORT_IDS))
          .withZoneSameInstant(ZoneOffset.UTC)
          .toLocalDateTime();
    } catch (DateTimeException e) {
      throw Refused.badInput("There is no such time or time zone.");
    }
  }

  private SortedSet<String> tags() {
    SortedSet<String> tags = new TreeSet<>();
    for (String tag : text("tags", 250).toLowerCase(Locale.ROOT).split("\\s+", -1)) {
      if (tag.length() > 30) {
        throw Refused.badInput("A tag is longer than 30 characters.");
      }
      if (!tag.isEmpty()) {
        tags.add(tag);
      }
    }
    if (tags.size() > MOST_TAGS) {
      throw Refused.badInput("An event may have " + MOST_TAGS + " tags.");
    }
    return tags;
  }

  private AddressForm address() {
    return new AddressForm(
        text("street1", 55),
        text("street2", 55),
        text("city", 55),
        text("state", 25),
        text("zip", 12),
        text("country", 55));
  }

  /**
   * The files.
   *
   * @param required whether there has to be a picture
   */
  Publishing.UploadedFiles files(String picture, String document, boolean required) {
    byte[] image = files.get(picture);
    if (image == null && required) {
      throw Refused.badInput(picture + " is missing.");
    }
    byte[] literature = files.get(document);
    return new Publishing.UploadedFiles(
        image,
        literature,
        literature == null ? null : Uploads.documentExtension(fileNames.get(document)));
  }
}
