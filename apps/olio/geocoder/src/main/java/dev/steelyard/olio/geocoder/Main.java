// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.geocoder;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/**
 * The service's command line: {@code Main --port N [--host NAME] [--delay MS]}, the host 127.0.0.1
 * unless given, the delay that of the environment's {@code OLIO_GEOCODER_DELAY}, or none.
 *
 * <p>Prints {@code geocoder ready on HOST:PORT} when it serves, and ends on SIGTERM. Exit codes: 2
 * bad arguments; 5 the port is taken or cannot be listened on.
 */
public final class Main {

  private static final int BAD_ARGUMENTS = 2;
  private static final int PORT_TAKEN = 5;
  private static final int LAST_PORT = 65_535;

  private static final String USAGE =
      "Give --port N, a number from 1 to 65535, and if you like --host NAME and --delay MS.";

  private Main() {}

  /** Serves until the process is asked to end. */
  public static void main(String[] arguments) {
    String usual = System.getenv().getOrDefault("OLIO_GEOCODER_DELAY", "0");
    Map<String, String> given = new TreeMap<>(Map.of("--host", "127.0.0.1", "--delay", usual));
    for (int i = 0; i < arguments.length; i += 2) {
      given.put(arguments[i], i + 1 < arguments.length ? arguments[i + 1] : "");
    }
    String port = given.getOrDefault("--port", "");
    String delay = given.get("--delay");
    if (given.size() != 3
        || !port.matches("[1-9][0-9]{0,4}")
        || Integer.parseInt(port) > LAST_PORT
        || !delay.matches("[0-9]{1,5}")) {
      end(BAD_ARGUMENTS, USAGE);
      return;
    }
    String where = given.get("--host") + ":" + port;
    try {
      Geocoder geocoder =
          new Geocoder(given.get("--host"), Integer.parseInt(port), Integer.parseInt(delay));
      geocoder.start();
      System.out.println("geocoder ready on " + where);
    } catch (IOException | IllegalArgumentException e) {
      end(
          PORT_TAKEN,
          "Cannot listen on %s (%s): end what uses it, or give another --port."
              .formatted(where, e.getMessage()));
    }
  }

  private static void end(int code, String sentence) {
    System.err.println(sentence);
    System.exit(code);
  }
}
