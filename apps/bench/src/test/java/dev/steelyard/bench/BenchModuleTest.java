// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.testkit.Waiting;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import jakarta.json.JsonString;
import java.io.IOException;
import java.io.StringReader;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The module inside a real servlet container, seen through HTTP. */
final class BenchModuleTest {

  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  /** Not the root: everything is found under the application's own. */
  private static final String CONTEXT = "/shop";

  private final Server server = new Server();
  private final ServerConnector connector = new ServerConnector(server);

  @BeforeEach
  void start() throws Exception {
    connector.setHost("127.0.0.1");
    server.addConnector(connector);
    ServletContextHandler context = new ServletContextHandler(CONTEXT);
    context.addServletContainerInitializer(new BenchInitializer());
    ServletHolder application = new ServletHolder(new BehaviourServlet());
    application.setAsyncSupported(true);
    for (String path :
        Set.of(
            "/ok",
            "/named",
            "/upgraded",
            "/async-named",
            "/missing",
            "/broken",
            "/unavailable",
            "/throws",
            "/forward",
            "/async",
            "/async-broken",
            "/async-restarted",
            "/async-timeout",
            "/async-excused")) {
      context.addServlet(application, path);
    }
    server.setHandler(context);
    server.start();
  }

  @AfterEach
  void stop() throws Exception {
    ActionWorkload.ready = true;
    ActionWorkload.started = true;
    server.stop();
  }

  @ParameterizedTest
  @CsvSource({
    "/ok, 200, 0, 0",
    "/forward, 200, 0, 0",
    "/missing, 404, 0, 0",
    "/broken, 500, 1, 0",
    "/unavailable, 503, 1, 0",
    "/throws, 500, 1, 0",
    "/async, 200, 0, 1",
    "/async-broken, 500, 1, 1",
    "/async-restarted, 200, 0, 2",
    "/async-timeout, 500, 1, 1",
    "/async-excused, 200, 1, 1",
  })
  void aRequestIsCountedOnceHoweverItEnds(String path, int status, int errors, int delays)
      throws Exception {
    for (int i = 0; i < 3; i++) {
      assertEquals(status, get(path + "?action=buy").statusCode());
    }

    JsonObject buy = operationAfter("buy", 3);
    assertEquals(3, buy.getInt("requests"));
    assertEquals(3 * errors, buy.getInt("errors"));
    long least = 3L * delays * BehaviourServlet.ASYNC_MILLIS;
    assertTrue(
        buy.getJsonNumber("serviceTimeNanos").longValue() > Duration.ofMillis(least).toNanos());
    assertEquals(0, operations().getJsonObject("quote").getInt("requests"));
    assertFalse(operations().containsKey(OperationCounters.OTHER));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/bench/counters",
        "/bench/info",
        "/bench/nothing",
        "/bench",
        "/health",
        "/health/live",
        "/health/ready",
        "/health/started"
      })
  void whatTheModuleAnswersIsNotCounted(String path) throws Exception {
    get(path + "?action=buy");
    get("/ok?action=quote");

    operationAfter("quote", 1);
    assertEquals(0, operations().getJsonObject("buy").getInt("requests"));
    assertEquals(Set.of("buy", "quote"), operations().keySet());
  }

  @ParameterizedTest
  @ValueSource(strings = {"/named", "/async-named"})
  void anApplicationNamesTheOperationDuringTheRequest(String path) throws Exception {
    get(path + "?action=buy");

    assertEquals(1, operationAfter("quote", 1).getInt("requests"));
    assertEquals(0, operations().getJsonObject("buy").getInt("requests"));
  }

  @Test
  void whatBecomesAWebSocketIsNoRequest() throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), connector.getLocalPort())) {
      String request =
          "GET "
              + CONTEXT
              + "/upgraded?action=buy HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      assertTrue(socket.getInputStream().read() > 0);
    }
    get("/ok?action=quote");

    operationAfter("quote", 1);
    assertEquals(0, operations().getJsonObject("buy").getInt("requests"));
  }

  @Test
  void workOutsideOfRequestsIsCounted() throws Exception {
    assertEquals("done", Work.count("order", () -> "done"));
    assertThrows(
        IllegalStateException.class,
        () ->
            Work.count(
                "order",
                () -> {
                  throw new IllegalStateException("on purpose");
                }));
    Work.ended("buy", System.nanoTime() - 5_000_000, false);

    JsonObject order =
        json(get("/bench/counters")).getJsonObject("messages").getJsonObject("order");
    assertEquals(2, order.getInt("messages"));
    assertEquals(1, order.getInt("errors"));
    JsonObject buy = operations().getJsonObject("buy");
    assertEquals(1, buy.getInt("requests"));
    assertEquals(0, buy.getInt("errors"));
    assertTrue(buy.getJsonNumber("serviceTimeNanos").longValue() >= 5_000_000);
    assertFalse(operations().containsKey("order"));
  }

  @Test
  void requestsWithoutAnOperationAreCountedApart() throws Exception {
    get("/ok");
    get("/ok?action=unheard-of");
    get("/nothing-here");

    assertEquals(3, operationAfter(OperationCounters.OTHER, 3).getInt("requests"));
  }

  @Test
  void infoTellsWhatIsRunning() throws Exception {
    JsonObject info = json(get("/bench/info"));

    assertEquals("action", info.getString("workload"));
    assertEquals("2.1.0", info.getString("workloadVersion"));
    assertEquals("cafe", info.getString("dataSetHash"));
    assertEquals("{\"pool\":\"8\",\"zone\":\"UTC\"}", info.getJsonObject("settings").toString());
    assertEquals(System.getProperty("expected.fingerprint"), info.getString("build"));
    assertEquals(ProcessHandle.current().pid(), info.getJsonNumber("pid").longValue());
    assertEquals(Runtime.getRuntime().availableProcessors(), info.getInt("availableProcessors"));
    assertEquals(Runtime.getRuntime().maxMemory(), info.getJsonNumber("maxHeapBytes").longValue());
    assertEquals(System.getProperty("java.vm.name"), info.getJsonObject("jvm").getString("vmName"));
    assertEquals(
        ManagementFactory.getGarbageCollectorMXBeans().size(),
        info.getJsonArray("collectors").size());
    List<String> arguments = info.getJsonArray("jvmArguments").getValuesAs(JsonString::getString);
    assertTrue(
        ManagementFactory.getRuntimeMXBean().getInputArguments().containsAll(arguments),
        arguments.toString());
    String flags = info.getString("vmFlags");
    assertTrue(flags.matches("(?s)-XX:.*-XX:MaxHeapSize=\\d+ .*"), flags);
    assertEquals("0", info.getJsonObject("memory").getString("ObjectPendingFinalizationCount"));
    assertEquals(
        ManagementFactory.getMemoryPoolMXBeans().size(), info.getJsonObject("memoryPools").size());
    assertTrue(info.getString("server").startsWith("jetty/"), info.getString("server"));
    assertTrue(info.getString("transport").contains("TLS provider"), info.getString("transport"));
  }

  @Test
  void clocksOfCountersGoForward() throws Exception {
    long before = Instant.now().toEpochMilli();
    JsonObject first = json(get("/bench/counters"));
    JsonObject second = json(get("/bench/counters"));
    long after = Instant.now().toEpochMilli();

    assertTrue(
        second.getJsonNumber("uptimeNanos").longValue()
            > first.getJsonNumber("uptimeNanos").longValue());
    long stated = second.getJsonNumber("epochMillis").longValue();
    assertTrue(before <= stated && stated <= after, before + " " + stated + " " + after);
  }

  @Test
  void readinessIsTheWorkloadsButLivenessIsNot() throws Exception {
    assertEquals(200, get("/health/ready").statusCode());
    assertEquals(200, get("/health").statusCode());
    ActionWorkload.ready = false;

    HttpResponse<String> ready = get("/health/ready");
    assertEquals(503, ready.statusCode());
    assertEquals("DOWN", json(ready).getString("status"));
    assertEquals(503, get("/health").statusCode());
    HttpResponse<String> live = get("/health/live");
    assertEquals(200, live.statusCode());
    assertEquals("UP", json(live).getString("status"));
    assertEquals(404, get("/health/other").statusCode());
  }

  @Test
  void whatALoadWaitsForIsNotReadiness() throws Exception {
    assertEquals(200, get("/health/started").statusCode());
    ActionWorkload.started = false;

    HttpResponse<String> started = get("/health/started");
    assertEquals(503, started.statusCode());
    assertEquals("DOWN", json(started).getString("status"));
    assertEquals(503, get("/health").statusCode(), "all at once");
    assertEquals(200, get("/health/ready").statusCode());
  }

  /** A client may have its answer before the filter has counted the request, so this waits. */
  private JsonObject operationAfter(String operation, int requests) throws Exception {
    Waiting.await(
        requests + " of " + operation + " were counted",
        () -> {
          JsonObject totals = operations().getJsonObject(operation);
          return totals != null && totals.getInt("requests") >= requests;
        });
    return operations().getJsonObject(operation);
  }

  private JsonObject operations() throws IOException, InterruptedException {
    return json(get("/bench/counters")).getJsonObject("operations");
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + connector.getLocalPort() + CONTEXT + path);
    return CLIENT.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
  }

  private static JsonObject json(HttpResponse<String> response) {
    try (JsonReader reader = Json.createReader(new StringReader(response.body()))) {
      return reader.readObject();
    }
  }
}
