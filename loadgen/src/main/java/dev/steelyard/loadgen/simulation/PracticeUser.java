// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/**
 * What a probe does before it is ready, as nothing of it counts: it sends its operations to a
 * server of its own, whose answers are of no use, and then to nobody, until its code is loaded and
 * compiled.
 *
 * <p>A cold injector takes a core for the first half second of its tries, and a tenth of a second
 * to read its first answer. Servers that start beside it would be measured with both.
 */
final class PracticeUser extends VirtualUser {
  private static final int ANSWERED = 400;
  private static final int ALL = 600;
  private static final byte[] BODY = "practice\n".getBytes(StandardCharsets.UTF_8);

  private final HttpServer server;
  private int sent;
  private boolean again;

  /**
   * Starts its server.
   *
   * @param activeUser whose operations it starts
   * @throws IOException if this host has no port for it
   */
  PracticeUser(Run run, ActiveUser activeUser) throws IOException {
    super(run, run.clock.nanos());
    this.activeUser = activeUser;
    // Else each of its answers waits for an acknowledgement, 40 ms on Linux.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", PracticeUser::answer);
    server.start();
  }

  /** Of its server, as a target. */
  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private static void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      exchange.sendResponseHeaders(200, BODY.length);
      exchange.getResponseBody().write(BODY);
    }
  }

  @Override
  boolean begins() {
    if (sent == ANSWERED || run.control.stopped()) {
      server.stop(0);
    }
    if (sent == ALL) {
      System.out.println("The probe has practised with " + sent + " operations.");
      return false;
    }
    if (!again) {
      choose();
    }
    return admitted();
  }

  @Override
  void ended(boolean failed, long answeredAt, long now) {
    sent++;
    again = failed && journey().canRepeat();
    if (!again) {
      journey().ended(failed);
    }
    due = now;
  }
}
