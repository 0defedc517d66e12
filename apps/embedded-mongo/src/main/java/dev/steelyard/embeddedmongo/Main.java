// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.embeddedmongo;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * The server's command line: {@code Main --port N [--host NAME]}, the host 127.0.0.1 unless given.
 *
 * <p>Like MongoDB's image it takes a user of the environment, {@code MONGO_INITDB_ROOT_USERNAME}
 * with {@code MONGO_INITDB_ROOT_PASSWORD} or {@code MONGO_INITDB_ROOT_PASSWORD_FILE}, and serves
 * nobody else; without one it serves everybody.
 *
 * <p>Prints {@code embedded-mongo ready on HOST:PORT} when it serves and ends in order on SIGTERM.
 * Exit codes: 2 bad arguments or variables; 5 the port is taken or cannot be listened on.
 */
public final class Main {

  private static final int BAD_ARGUMENTS = 2;
  private static final int PORT_TAKEN = 5;
  private static final int MOST_PORT = 65_535;
  private static final String USAGE =
      "Give --port N, a number from 1 to 65535, and if you like --host NAME (default 127.0.0.1).";

  private static final String USER = "MONGO_INITDB_ROOT_USERNAME";
  private static final String PASSWORD = "MONGO_INITDB_ROOT_PASSWORD";

  private Main() {}

  /** Serves until the process is asked to end. */
  @SuppressWarnings("CatchingUnchecked") // The network library throws what it does not declare.
  public static void main(String[] arguments) {
    String host = "127.0.0.1";
    int port = 0;
    for (int i = 0; i < arguments.length; i += 2) {
      String value = i + 1 < arguments.length ? arguments[i + 1] : "";
      switch (arguments[i]) {
        case "--port" -> port = port(value);
        case "--host" -> host = value;
        default -> throw end(BAD_ARGUMENTS, "Unknown argument " + arguments[i] + ". " + USAGE);
      }
    }
    if (port == 0) {
      throw end(BAD_ARGUMENTS, USAGE);
    }
    checkHost(host);
    String user = variable(USER);
    String password = password();
    if (user.isEmpty() != password.isEmpty()) {
      throw end(BAD_ARGUMENTS, USER + " and its password belong together: set both or neither.");
    }
    EmbeddedMongo server;
    try {
      server =
          user.isEmpty()
              ? EmbeddedMongo.start(host, port)
              : EmbeddedMongo.start(host, port, user, password);
    } catch (Exception e) {
      throw end(
          PORT_TAKEN,
          "Cannot listen on %s:%d (%s): end what uses it, or give another --port."
              .formatted(host, port, e.getMessage()));
    }
    Runtime.getRuntime().addShutdownHook(new Thread(server::close, "shutdown"));
    System.out.println("embedded-mongo ready on " + host + ":" + port);
  }

  private static String variable(String name) {
    return System.getenv().getOrDefault(name, "").strip();
  }

  private static String password() {
    String file = variable(PASSWORD + "_FILE");
    if (file.isEmpty()) {
      return variable(PASSWORD);
    }
    try {
      return Files.readString(Path.of(file)).strip();
    } catch (IOException | InvalidPathException e) {
      throw end(
          BAD_ARGUMENTS,
          "%s_FILE names %s, which cannot be read (%s): name the file with the password."
              .formatted(PASSWORD, file, e.getClass().getSimpleName()));
    }
  }

  private static int port(String text) {
    try {
      int port = Integer.parseInt(text);
      if (port >= 1 && port <= MOST_PORT) {
        return port;
      }
    } catch (NumberFormatException e) {
      // Refused below.
    }
    throw end(BAD_ARGUMENTS, "'" + text + "' is no port. " + USAGE);
  }

  private static void checkHost(String host) {
    try {
      if (!host.isEmpty() && InetAddress.getByName(host) != null) {
        return;
      }
    } catch (UnknownHostException e) {
      // Refused below.
    }
    throw end(BAD_ARGUMENTS, "'" + host + "' is no address of this machine. " + USAGE);
  }

  /** Ends the process; the result only tells the compiler that nothing comes after it. */
  private static IllegalStateException end(int code, String sentence) {
    System.err.println(sentence);
    System.exit(code);
    return new IllegalStateException(sentence);
  }
}
