// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/** Performs the cases of a table, in their order, against one topology. */
final class ContractRunner {

  private static final Pattern VARIABLE = Pattern.compile("\\$\\{([^}]+)}");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String CONTENT_TYPE = "Content-Type";

  private final Function<String, LibertyServer> router;
  private final Deployment deployment;
  private final String loginPath;
  private final Map<String, String> variables = new HashMap<>();
  private final Map<String, String> cookies = new HashMap<>();

  /**
   * @param router the server that a path belongs to
   * @param loginPath where customers log in
   */
  ContractRunner(Deployment deployment, Function<String, LibertyServer> router, String loginPath) {
    this.deployment = deployment;
    this.router = router;
    this.loginPath = loginPath;
  }

  /** Sets a variable of the table. */
  void set(String variable, String value) {
    variables.put(variable, value);
  }

  /** A test for each case. */
  Stream<DynamicTest> tests(List<ContractCase> table) {
    return table.stream().map(row -> DynamicTest.dynamicTest(row.name(), () -> perform(row)));
  }

  private void perform(ContractCase row) throws IOException, InterruptedException {
    HttpResponse<String> response = send(row);
    assertEquals(row.status(), response.statusCode(), response::body);
    assertAll(
        () -> checkType(row.type(), response),
        () -> checkBody(row, response.body()),
        () -> checkHeaders(row, response));
    if (row.save() != null) {
      for (Map.Entry<String, String> saved : row.save().entrySet()) {
        set(saved.getKey(), JSON.readTree(response.body()).at(saved.getValue()).asText());
      }
    }
  }

  private HttpResponse<String> send(ContractCase row) throws IOException, InterruptedException {
    String path = filled(row.path());
    LibertyServer server =
        row.server() == null ? router.apply(path) : deployment.server(row.server());
    HttpRequest.Builder request = HttpRequest.newBuilder(server.uri(path));
    String body = body(row, request);
    HttpRequest.BodyPublisher publisher = HttpRequest.BodyPublishers.noBody();
    if (body != null) {
      byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
      publisher =
          row.chunked()
              ? HttpRequest.BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(bytes))
              : HttpRequest.BodyPublishers.ofByteArray(bytes);
    }
    String preset = body == null ? "GET" : "POST";
    request.method(Optional.ofNullable(row.method()).orElse(preset), publisher);
    if (row.as() != null) {
      request.header("Cookie", cookiesOf(row.as()));
    }
    if (row.headers() != null) {
      row.headers().forEach((name, value) -> request.setHeader(name, filled(value)));
    }
    return server.send(request);
  }

  private String body(ContractCase row, HttpRequest.Builder request) {
    if (row.form() != null) {
      request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
      return form(row.form());
    }
    if (row.json() != null) {
      request.header(CONTENT_TYPE, "application/json");
      return filled(row.json().toString());
    }
    return row.body() == null ? null : filled(row.body());
  }

  private String form(Map<String, String> fields) {
    return fields.entrySet().stream()
        .map(
            field ->
                field.getKey()
                    + "="
                    + URLEncoder.encode(filled(field.getValue()), StandardCharsets.UTF_8))
        .collect(Collectors.joining("&"));
  }

  private String filled(String text) {
    return VARIABLE
        .matcher(text)
        .replaceAll(
            found ->
                Matcher.quoteReplacement(
                    Optional.ofNullable(variables.get(found.group(1)))
                        .orElseThrow(
                            () -> new IllegalStateException("Not set: " + found.group(1)))));
  }

  /** The cookies of a customer, as a browser would send them. */
  String cookiesOf(String customer) throws IOException, InterruptedException {
    String known = cookies.get(customer);
    if (known != null) {
      return known;
    }
    HttpResponse<String> response =
        router
            .apply(loginPath)
            .send(
                HttpRequest.newBuilder(router.apply(loginPath).uri(loginPath))
                    .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                    .POST(
                        HttpRequest.BodyPublishers.ofString(
                            form(Map.of("login", customer, "password", "password")))));
    assertEquals(200, response.statusCode(), response::body);
    String received =
        response.headers().allValues("Set-Cookie").stream()
            .map(cookie -> cookie.split(";", 2)[0])
            .collect(Collectors.joining("; "));
    cookies.put(customer, received);
    return received;
  }

  private static void checkType(String expected, HttpResponse<String> response) {
    if (expected != null) {
      assertEquals(expected, response.headers().firstValue(CONTENT_TYPE).orElse(""));
    }
  }

  private void checkBody(ContractCase row, String body) throws IOException {
    if (row.text() != null) {
      assertEquals(filled(row.text()), body);
    }
    if (row.matches() != null) {
      assertTrue(body.matches(filled(row.matches())), body);
    }
    if (row.shape() != null) {
      JsonShape.check(
          JSON.readTree(filled(row.shape().toString())), JSON.readTree(body), "the answer");
    }
  }

  private void checkHeaders(ContractCase row, HttpResponse<String> response) {
    if (row.cookies() != null) {
      List<String> received = response.headers().allValues("Set-Cookie");
      assertEquals(row.cookies().size(), received.size(), received::toString);
      for (int i = 0; i < received.size(); i++) {
        assertTrue(received.get(i).matches(filled(row.cookies().get(i))), received.get(i));
      }
    }
    if (row.answers() != null) {
      row.answers()
          .forEach(
              (name, value) ->
                  assertEquals(
                      filled(value), response.headers().firstValue(name).orElse(""), name));
    }
  }
}
