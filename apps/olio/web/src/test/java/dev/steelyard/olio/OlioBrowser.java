// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.olio.population.FileKind;
import dev.steelyard.olio.population.FileSizes;
import dev.steelyard.olio.population.Names;
import dev.steelyard.testkit.Browser;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Somebody with a browser who logs in and sends forms with files. */
public final class OlioBrowser extends Browser {

  private static final String BOUNDARY = "a-line-that-is-in-no-file";

  /** The picture that is uploaded unless told otherwise. */
  static final byte[] PICTURE = FileKind.EVENT.content(FileSizes.SMALL);

  OlioBrowser(URI root) {
    super(root);
  }

  /** Logs in as a loaded person. */
  public OlioBrowser as(int person) throws IOException, InterruptedException {
    Answer answer = post("person/login", "user_name=" + Names.of(person) + "&password=" + person);
    assertEquals(302, answer.status(), answer.body());
    return this;
  }

  /** Sends a form of texts and files; a file is an array of bytes. */
  public Answer upload(String path, Map<String, Object> fields)
      throws IOException, InterruptedException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    fields.forEach(
        (name, value) -> {
          boolean file = value instanceof byte[];
          String extension = name.endsWith("literature") ? "pdf" : "jpg";
          body.writeBytes(
              ("--"
                      + BOUNDARY
                      + "\r\nContent-Disposition: form-data; name=\""
                      + name
                      + "\""
                      + (file ? "; filename=\"../../x." + extension + "\"" : "")
                      + "\r\n\r\n")
                  .getBytes(StandardCharsets.UTF_8));
          body.writeBytes(
              value instanceof byte[] bytes
                  ? bytes
                  : value.toString().getBytes(StandardCharsets.UTF_8));
          body.writeBytes("\r\n".getBytes(StandardCharsets.UTF_8));
        });
    body.writeBytes(("--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.UTF_8));
    return post(
        path,
        "multipart/form-data; boundary=" + BOUNDARY,
        HttpRequest.BodyPublishers.ofByteArray(body.toByteArray()));
  }

  /** A person's form, filled in. */
  static Map<String, Object> person(String userName) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("user_name", userName);
    fields.put("password", "secret");
    fields.put("passwordx", "secret");
    fields.put("first_name", "Ada");
    fields.put("last_name", "Byron");
    fields.put("email", "ada@example.com");
    fields.put("telephone", "+1 234 567 8901");
    fields.put("summary", "writes programs");
    fields.put("timezone", "Europe/London");
    address(fields);
    fields.put("upload_person_image", PICTURE);
    return fields;
  }

  /** An event's form, filled in. */
  static Map<String, Object> event(String title, String tags) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("title", title);
    fields.put("summary", "a summary");
    fields.put("description", "a description");
    fields.put("submitter_user_name", "somebody");
    fields.put("telephone", "+1 234 567 8901");
    fields.put("timezone", "America/New_York");
    fields.put("year", "2026");
    fields.put("month", "7");
    fields.put("day", "4");
    fields.put("hour", "20");
    fields.put("minute", "15");
    fields.put("tags", tags);
    address(fields);
    fields.put("upload_event_image", PICTURE);
    fields.put("upload_event_literature", FileKind.LITERATURE.content(FileSizes.SMALL));
    fields.put("submit", "Create");
    return fields;
  }

  private static void address(Map<String, Object> fields) {
    fields.put("street1", "12 Müller St");
    fields.put("street2", "");
    fields.put("city", "London");
    fields.put("state", "LN");
    fields.put("zip", "12345");
    fields.put("country", "USA");
  }

  /** Posts an event and tells its key. */
  int posted(Map<String, Object> fields) throws IOException, InterruptedException {
    Answer answer = upload("api/event/addEvent", fields);
    assertEquals(302, answer.status(), answer.body());
    Matcher id =
        Pattern.compile(".*/event/detail\\?socialEventID=(\\d+)&from=add-event")
            .matcher(answer.location());
    assertTrue(id.matches(), answer.location());
    return Integer.parseInt(id.group(1));
  }
}
