// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import jakarta.json.JsonValue;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.channels.spi.SelectorProvider;
import java.security.Provider;
import java.security.Security;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * {@code /bench/counters}: the counters of each operation and kind of message; {@code /bench/info}:
 * what is running.
 *
 * <p>In {@code counters}, {@code uptimeNanos} is the time since this application started, by the
 * JVM's monotonic clock: the difference between two answers is the time over which their counts
 * differ, whatever was done to the host's clock meanwhile.
 */
final class BenchServlet extends HttpServlet {

  private static final long serialVersionUID = 1L;

  /**
   * Within which counts are of the time that is told with them. A thread that stands still between
   * the clock and the counts (200 ms of it were seen on OpenJ9, a window of 6 s off by 2 %) reads
   * both again.
   */
  private static final long AT_ONCE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private static final int READINGS = 5;

  private final transient Workload workload;
  private final transient OperationCounters counters;
  private final transient OperationCounters messages;
  private final transient BuildInfo build;
  private final transient JvmFacts jvm;
  private final long start = System.nanoTime();

  BenchServlet(
      Workload workload,
      OperationCounters counters,
      OperationCounters messages,
      BuildInfo build,
      JvmFacts jvm) {
    this.workload = workload;
    this.counters = counters;
    this.messages = messages;
    this.build = build;
    this.jvm = jvm;
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    switch (String.valueOf(request.getPathInfo())) {
      case "/counters" -> JsonAnswer.write(response, HttpServletResponse.SC_OK, countersNow());
      case "/info" -> JsonAnswer.write(response, HttpServletResponse.SC_OK, info());
      default -> response.sendError(HttpServletResponse.SC_NOT_FOUND);
    }
  }

  private JsonObject countersNow() {
    JsonObject read = null;
    for (int i = 0; i < READINGS; i++) {
      long before = System.nanoTime();
      read =
          Json.createObjectBuilder()
              .add("uptimeNanos", before - start)
              .add("epochMillis", System.currentTimeMillis())
              .add("operations", totals(counters, "requests"))
              .add("messages", totals(messages, "messages"))
              .build();
      if (System.nanoTime() - before < AT_ONCE_NANOS) {
        break;
      }
    }
    return read;
  }

  private static JsonObjectBuilder totals(OperationCounters counters, String unit) {
    JsonObjectBuilder all = Json.createObjectBuilder();
    counters
        .totals()
        .forEach(
            (name, totals) ->
                all.add(
                    name,
                    Json.createObjectBuilder()
                        .add(unit, totals.requests())
                        .add("errors", totals.errors())
                        .add("serviceTimeNanos", totals.serviceTimeNanos())));
    return all;
  }

  private JsonObject info() {
    return Json.createObjectBuilder()
        .add("workload", workload.name())
        .add("workloadVersion", workload.version())
        .add(
            "dataSetHash",
            workload.dataSetHash().<JsonValue>map(Json::createValue).orElse(JsonValue.NULL))
        .add("settings", settings())
        .add("build", build.fingerprint())
        .add("pid", ProcessHandle.current().pid())
        .add("availableProcessors", jvm.processors())
        .add("maxHeapBytes", jvm.maxHeapBytes())
        .add("collectors", Json.createArrayBuilder(jvm.collectors()))
        .add("jvmArguments", Json.createArrayBuilder(jvm.arguments()))
        .add("vmFlags", VmSettings.flags())
        .add("memory", VmSettings.memory())
        .add("memoryPools", VmSettings.pools())
        .add("jvm", names())
        .add("server", getServletContext().getServerInfo())
        .add("transport", transport())
        .build();
  }

  private JsonObjectBuilder settings() {
    JsonObjectBuilder settings = Json.createObjectBuilder();
    new TreeMap<>(workload.settings()).forEach(settings::add);
    return settings;
  }

  private JsonObjectBuilder names() {
    return Json.createObjectBuilder()
        .add("vmName", jvm.name())
        .add("vmVersion", jvm.version())
        .add("runtimeVersion", System.getProperty("java.runtime.version"))
        .add("vendor", System.getProperty("java.vendor"))
        .add("javaVersion", System.getProperty("java.version"));
  }

  /**
   * The parts below the server's own network code that differ between platforms: the JDK's selector
   * and the provider that TLS would use. Which of the server's transports drives them cannot be
   * told from inside an application.
   */
  private static String transport() {
    Provider[] tls = Security.getProviders("SSLContext.TLS");
    return "NIO "
        + SelectorProvider.provider().getClass().getName()
        + "; TLS provider "
        + (tls == null ? "none" : tls[0].getName() + " " + tls[0].getVersionStr());
  }
}
