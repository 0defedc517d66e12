// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;

/** Cases against a server that answers what it was sent: type, cookies, a line break, the body. */
final class ContractRunnerTest {

  private HttpServer echo;

  @BeforeEach
  void start() throws Exception {
    echo = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    echo.createContext(
        "/",
        exchange -> {
          String head =
              exchange.getRequestHeaders().getFirst("Content-Type")
                  + " "
                  + exchange.getRequestHeaders().getFirst("Cookie")
                  + "\n";
          byte[] body = exchange.getRequestBody().readAllBytes();
          String query = exchange.getRequestURI().getQuery();
          if (query != null) {
            exchange.getResponseHeaders().add("Set-Cookie", query);
          }
          byte[] start = head.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, start.length + body.length);
          exchange.getResponseBody().write(start);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    echo.start();
  }

  @AfterEach
  void stop() {
    echo.stop(0);
  }

  @Test
  void aFormHasItsFieldsSeveralTimesWhereAskedFor() throws Throwable {
    run(
        "{name: f, path: /, form: {a: x y, b: ['1', '2']}, status: 200, contains: ['a=x+y&b=1&b=2']}");
  }

  @Test
  void multipartHasTextsAndFiles() throws Throwable {
    String bytes = Base64.getEncoder().encodeToString("PNG".getBytes(StandardCharsets.UTF_8));
    run(
        """
        name: m
        path: /
        multipart:
          t: text
          f: {file: a.png, type: image/png, base64: %s}
          z: {file: z, zeros: 3}
        status: 200
        contains:
        - 'multipart/form-data; boundary='
        - "name=\\"t\\"\\r\\n\\r\\ntext\\r\\n"
        - "name=\\"f\\"; filename=\\"a.png\\"\\r\\nContent-Type: image/png\\r\\n\\r\\nPNG\\r\\n"
        - "\\0\\0\\0"
        """
            .formatted(bytes));
  }

  @Test
  void bytesAreSentAndComparedAsTheyAre() throws Throwable {
    // Of "null null\n" and the byte 0xff, which is no UTF-8.
    run("{name: b, path: /, base64: /w==, status: 200, bytes: 11, about: 11}");
    assertThrows(
        AssertionError.class,
        () -> run("{name: b, path: /, base64: /w==, status: 200, bytes: 12}"));
    assertThrows(AssertionError.class, () -> run("{name: b, path: /, status: 200, sha256: '00'}"));
  }

  @Test
  void aUserKeepsAndDropsCookiesAsABrowserDoes() throws Throwable {
    run(
        "{name: none, path: '/?id=1;Path=/', as: a, status: 200, text: \"null null\\n\"}",
        "{name: kept, path: '/?other=2', as: a, status: 200, text: \"null id=1\\n\"}",
        "{name: both, path: '/?id=;Max-Age=0', as: a, status: 200, text: \"null id=1; other=2\\n\"}",
        "{name: dropped, path: /, as: a, status: 200, text: \"null other=2\\n\"}",
        "{name: another, path: /, as: b, status: 200, text: \"null null\\n\"}");
  }

  @Test
  void whatIsFoundFillsTheNextCase() throws Throwable {
    run(
        "{name: find, path: /, body: 'state=42;', status: 200, find: {state: 'state=([0-9]+)'}}",
        "{name: use, path: /, body: '${state}!', status: 200, contains: ['42!'], lacks: ['state']}");
    assertThrows(
        AssertionError.class,
        () -> run("{name: lacks, path: /, body: abc, status: 200, lacks: [b]}"));
  }

  @Test
  void headersAreTextsOrPatterns() throws Throwable {
    run(
        "{name: h, path: '/?a=7', status: 200, answers: {Set-Cookie: '/a=[0-9]/'}, cookies: ['a=.']}");
    assertThrows(
        AssertionError.class,
        () -> run("{name: h, path: '/?a=x', status: 200, answers: {Set-Cookie: '/a=[0-9]/'}}"));
  }

  private void run(String... cases) throws Throwable {
    int port = echo.getAddress().getPort();
    try (PackagedServer server =
        new PackagedServer("echo", Path.of("."), Path.of("."), port, Map.of())) {
      ContractRunner runner = new ContractRunner((name, path) -> server);
      for (String row : cases) {
        ContractCase parsed = new YAMLMapper().readValue(row, ContractCase.class);
        DynamicTest test = runner.tests(List.of(parsed)).findFirst().orElseThrow();
        test.getExecutable().execute();
      }
    }
  }
}
