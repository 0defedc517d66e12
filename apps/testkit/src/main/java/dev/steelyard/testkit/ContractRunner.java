// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/** Performs the cases of a table, in their order. */
public final class ContractRunner {

  private static final Pattern VARIABLE = Pattern.compile("\\$\\{([^}]+)}");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String CONTENT_TYPE = "Content-Type";

  /** Tells which server a case asks. */
  @FunctionalInterface
  public interface Router {

    /**
     * The server of a case.
     *
     * @param name that the case gives, or null
     * @param path that the case asks for
     */
    PackagedServer server(String name, String path);
  }

  /** Logs a user in, and answers with the response that has the cookies. */
  @FunctionalInterface
  public interface Login {
    HttpResponse<?> login(String user) throws IOException, InterruptedException;
  }

  private final Router router;
  private final Optional<Login> login;
  private final Map<String, String> variables = new HashMap<>();
  private final Map<String, CookieJar> jars = new HashMap<>();

  /** Users have no cookies but those that the table's own cases bring. */
  public ContractRunner(Router router) {
    this.router = router;
    this.login = Optional.empty();
  }

  /**
   * Users are logged in.
   *
   * @param login of each user, at the first case that is performed as that user
   */
  public ContractRunner(Router router, Login login) {
    this.router = router;
    this.login = Optional.of(login);
  }

  /** Sets a variable of the table. */
  public void set(String variable, String value) {
    variables.put(variable, value);
  }

  /** A test for each case. */
  public Stream<DynamicTest> tests(List<ContractCase> table) {
    return table.stream().map(row -> DynamicTest.dynamicTest(row.name(), () -> perform(row)));
  }

  private void perform(ContractCase row) throws IOException, InterruptedException {
    HttpResponse<byte[]> response = send(row);
    String body = new String(response.body(), StandardCharsets.UTF_8);
    assertEquals(row.status(), response.statusCode(), body);
    assertAll(
        () -> checkType(row.type(), response),
        () -> checkText(row, body),
        () -> checkBytes(row, response.body()),
        () -> checkHeaders(row, response));
    for (Map.Entry<String, String> saved : orNone(row.save()).entrySet()) {
      set(saved.getKey(), JSON.readTree(body).at(saved.getValue()).asText());
    }
    for (Map.Entry<String, String> sought : orNone(row.find()).entrySet()) {
      Matcher found = Pattern.compile(filled(sought.getValue())).matcher(body);
      assertTrue(found.find(), () -> sought.getValue() + " is not in: " + body);
      set(sought.getKey(), found.group(1));
    }
  }

  private HttpResponse<byte[]> send(ContractCase row) throws IOException, InterruptedException {
    String path = filled(row.path());
    PackagedServer server = router.server(row.server(), path);
    HttpRequest.Builder request = HttpRequest.newBuilder(server.uri(path));
    RequestBody body = RequestBody.of(row, this::filled);
    HttpRequest.BodyPublisher publisher = HttpRequest.BodyPublishers.noBody();
    if (body != null) {
      if (body.type() != null) {
        request.header(CONTENT_TYPE, body.type());
      }
      publisher =
          row.chunked()
              ? HttpRequest.BodyPublishers.ofInputStream(
                  () -> new ByteArrayInputStream(body.bytes()))
              : HttpRequest.BodyPublishers.ofByteArray(body.bytes());
    }
    request.method(
        Optional.ofNullable(row.method()).orElse(body == null ? "GET" : "POST"), publisher);
    Optional<CookieJar> jar = Optional.empty();
    if (row.as() != null) {
      jar = Optional.of(jar(row.as()));
    }
    String cookies = jar.map(CookieJar::header).orElse("");
    if (!cookies.isEmpty()) {
      request.header("Cookie", cookies);
    }
    orNone(row.headers()).forEach((name, value) -> request.setHeader(name, filled(value)));
    HttpResponse<byte[]> response = server.send(request, HttpResponse.BodyHandlers.ofByteArray());
    jar.ifPresent(kept -> kept.take(response));
    return response;
  }

  private CookieJar jar(String user) throws IOException, InterruptedException {
    CookieJar known = jars.get(user);
    if (known != null) {
      return known;
    }
    CookieJar jar = new CookieJar();
    if (login.isPresent()) {
      HttpResponse<?> response = login.get().login(user);
      assertEquals(200, response.statusCode(), () -> "login of " + user);
      jar.take(response);
    }
    jars.put(user, jar);
    return jar;
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

  private static Map<String, String> orNone(Map<String, String> given) {
    return given == null ? Map.of() : given;
  }

  private static void checkType(String expected, HttpResponse<?> response) {
    if (expected != null) {
      assertEquals(expected, response.headers().firstValue(CONTENT_TYPE).orElse(""));
    }
  }

  private void checkText(ContractCase row, String body) throws IOException {
    if (row.text() != null) {
      assertEquals(filled(row.text()), body);
    }
    if (row.matches() != null) {
      assertTrue(body.matches(filled(row.matches())), body);
    }
    for (String part : row.contains() == null ? List.<String>of() : row.contains()) {
      assertTrue(body.contains(filled(part)), () -> filled(part) + " is not in: " + body);
    }
    for (String part : row.lacks() == null ? List.<String>of() : row.lacks()) {
      assertFalse(body.contains(filled(part)), () -> filled(part) + " is in: " + body);
    }
    if (row.shape() != null) {
      JsonShape.check(
          JSON.readTree(filled(row.shape().toString())), JSON.readTree(body), "the answer");
    }
  }

  private static void checkBytes(ContractCase row, byte[] body) throws NoSuchAlgorithmException {
    if (row.bytes() != null) {
      assertEquals(row.bytes(), body.length);
    }
    if (row.about() != null) {
      assertEquals(row.about(), body.length, row.about() / 10.0);
    }
    if (row.sha256() != null) {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(body);
      assertEquals(row.sha256(), HexFormat.of().formatHex(digest));
    }
  }

  private void checkHeaders(ContractCase row, HttpResponse<?> response) {
    if (row.cookies() != null) {
      List<String> received = response.headers().allValues("Set-Cookie");
      assertEquals(row.cookies().size(), received.size(), received::toString);
      for (int i = 0; i < received.size(); i++) {
        assertTrue(received.get(i).matches(filled(row.cookies().get(i))), received.get(i));
      }
    }
    orNone(row.answers())
        .forEach(
            (name, value) -> {
              String actual = response.headers().firstValue(name).orElse("");
              if (value.matches("/.*/")) {
                String pattern = filled(value.substring(1, value.length() - 1));
                assertTrue(actual.matches(pattern), () -> name + ": " + actual);
              } else {
                assertEquals(filled(value), actual, name);
              }
            });
  }
}
