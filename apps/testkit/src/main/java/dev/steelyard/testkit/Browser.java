// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.regex.Pattern;

/** Somebody with a browser: pages, forms and a session. Redirects are answers like any other. */
public class Browser {

  /**
   * A page as it came.
   *
   * @param location where it leads to; empty if nowhere
   */
  public record Answer(int status, String body, String location) {

    /** Has this status and this text, and nothing of the insides of the server. */
    public Answer must(int wanted, String text) {
      assertEquals(wanted, status, body);
      assertTrue(body.contains(text), () -> "'" + text + "' is not in " + body);
      assertFalse(body.contains("Exception") || body.contains("\tat "), body);
      return this;
    }

    /** Is what was asked for. */
    public Answer must(String text) {
      return must(200, text);
    }

    /** What a pattern's group finds, each time that it does. */
    public List<String> all(String pattern) {
      return Pattern.compile(pattern).matcher(body).results().map(each -> each.group(1)).toList();
    }
  }

  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .cookieHandler(new CookieManager())
          .build();

  private final URI root;

  /**
   * A browser without any cookie.
   *
   * @param root of the application, with a slash at its end
   */
  public Browser(URI root) {
    this.root = root;
  }

  /** Asks for a page; the path is relative and encoded. */
  public final Answer get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(root.resolve(path)));
  }

  /** Sends a form; the fields are encoded. */
  public final Answer post(String path, String fields) throws IOException, InterruptedException {
    return post(
        path, "application/x-www-form-urlencoded", HttpRequest.BodyPublishers.ofString(fields));
  }

  /** Sends anything. */
  protected final Answer post(String path, String type, HttpRequest.BodyPublisher body)
      throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(root.resolve(path)).header("Content-Type", type).POST(body));
  }

  private Answer send(HttpRequest.Builder request) throws IOException, InterruptedException {
    HttpResponse<String> response =
        client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    return new Answer(
        response.statusCode(),
        response.body(),
        response.headers().firstValue("Location").orElse(""));
  }
}
