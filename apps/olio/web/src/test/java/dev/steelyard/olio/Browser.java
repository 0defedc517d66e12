// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.olio.population.FileKind;
import dev.steelyard.olio.population.FileSizes;
import dev.steelyard.olio.population.Names;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Somebody with a browser: pages, a session and forms with files. */
public final class Browser {

  private static final String BOUNDARY = "a-line-that-is-in-no-file";

  /** The picture that is uploaded unless told otherwise. */
  static final byte[] PICTURE = FileKind.EVENT.content(FileSizes.SMALL);

  /** A page as it came. */
  public record Answer(int status, String body, String location) {

    /** Has this status and this text, and nothing of the insides of the server. */
    public Answer must(int wanted, String text) {
      assertEquals(wanted, status, body);
      assertTrue(body.contains(text), () -> "'" + text + "' is not in " + body);
      assertFalse(body.contains("Exception"), body);
      return this;
    }

    /** Is what was asked for. */
    public Answer must(String text) {
      return must(200, text);
    }

    /** What a pattern's group finds, each time that it does. */
    public List<String> all(String pattern) {
      Matcher matcher = Pattern.compile(pattern).matcher(body);
      return matcher.results().map(each -> each.group(1)).toList();
    }
  }

  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .cookieHandler(new CookieManager())
          .build();

  private final URI root;

  Browser(URI root) {
    this.root = root;
  }

  private Answer send(HttpRequest.Builder request) throws IOException, InterruptedException {
    HttpResponse<String> response =
        client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    return new Answer(
        response.statusCode(),
        response.body(),
        response.headers().firstValue("Location").orElse(""));
  }

  /** Asks for a page; the path is relative and encoded. */
  public Answer get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(root.resolve(path)));
  }

  /** Sends a form; the fields are encoded. */
  public Answer post(String path, String fields) throws IOException, InterruptedException {
    return send(
        HttpRequest.newBuilder(root.resolve(path))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString(fields)));
  }

  /** Logs in as a loaded person. */
  public Browser as(int person) throws IOException, InterruptedException {
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
    return send(
        HttpRequest.newBuilder(root.resolve(path))
            .header("Content-Type", "multipart/form-data; boundary=" + BOUNDARY)
            .POST(HttpRequest.BodyPublishers.ofByteArray(body.toByteArray())));
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
