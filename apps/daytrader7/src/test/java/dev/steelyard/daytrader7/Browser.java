// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Somebody with a browser: the pages and a session. */
public final class Browser {

  /** A page as it came. */
  public record Answer(int status, String body) {

    /** Has this status and this text, and nothing of the insides of the server. */
    public Answer must(int wanted, String text) {
      assertEquals(wanted, status, body);
      assertTrue(body.contains(text), () -> "'" + text + "' is not in " + body);
      assertTrue(!body.contains("Exception") && !body.contains("\tat "), body);
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

  /** Asks for a page; the path is relative and encoded. */
  public Answer get(String path) throws IOException, InterruptedException {
    HttpResponse<String> response =
        client.send(
            HttpRequest.newBuilder(root.resolve(path)).build(),
            HttpResponse.BodyHandlers.ofString());
    return new Answer(response.statusCode(), response.body());
  }

  /** Sends a form; the fields are encoded. */
  public Answer post(String path, String fields) throws IOException, InterruptedException {
    HttpResponse<String> response =
        client.send(
            HttpRequest.newBuilder(root.resolve(path))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(fields))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    return new Answer(response.statusCode(), response.body());
  }

  /** Asks for an action, with parameters as they stand in an address. */
  public Answer app(String actionAndParameters) throws IOException, InterruptedException {
    return get("app?action=" + actionAndParameters);
  }
}
