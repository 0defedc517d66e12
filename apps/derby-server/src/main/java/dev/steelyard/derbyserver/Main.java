// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.derbyserver;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.apache.derby.drda.NetworkServerControl;

/**
 * The server's command line: {@code Main --port N --folder PATH [--host NAME]}, the host 127.0.0.1
 * unless given. Databases lie below the folder, made by clients that ask for it.
 *
 * <p>Derby's own program leaves its databases open when it is asked to end, and the next start has
 * to recover them. This one closes them on SIGTERM, so that their files can be copied. Derby also
 * keeps the global transactions, with their locks, of a client that was killed before it prepared
 * them: this one undoes them after 30 s.
 *
 * <p>Prints {@code derby-server ready on HOST:PORT} when it serves. Exit codes: 1 the folder cannot
 * be used or the server failed; 2 bad arguments; 5 the port is taken or cannot be listened on.
 */
public final class Main {

  private static final int FAILED = 1;
  private static final int BAD_ARGUMENTS = 2;
  private static final int PORT_TAKEN = 5;
  private static final int LAST_PORT = 65_535;

  /**
   * Seconds, after which a global transaction that is not prepared is undone, unless the JVM was
   * given Derby's own property.
   */
  private static final String ABANDONED_AFTER = "30";

  private static final String USAGE =
      "Give --port N, a number from 1 to 65535, --folder PATH, and if you like --host NAME.";

  private Main() {}

  /** Serves until the process is asked to end. */
  public static void main(String[] arguments) throws InterruptedException {
    Map<String, String> given = new TreeMap<>(Map.of("--host", "127.0.0.1"));
    for (int i = 0; i < arguments.length; i += 2) {
      given.put(arguments[i], i + 1 < arguments.length ? arguments[i + 1] : "");
    }
    String folder = given.getOrDefault("--folder", "");
    String port = given.getOrDefault("--port", "");
    if (given.size() != 3
        || folder.isEmpty()
        || !port.matches("[1-9][0-9]{0,4}")
        || Integer.parseInt(port) > LAST_PORT) {
      throw end(BAD_ARGUMENTS, USAGE);
    }
    serve(given.get("--host"), Integer.parseInt(port), Path.of(folder));
    // Derby's threads keep no process alive.
    new CountDownLatch(1).await();
  }

  @SuppressWarnings("CatchingUnchecked") // Derby's control throws Exception.
  private static void serve(String host, int port, Path folder) throws InterruptedException {
    String where = host + ":" + port;
    try (ServerSocket probe = new ServerSocket()) {
      // Derby would say in the background that the port is taken.
      probe.setReuseAddress(true);
      probe.bind(new InetSocketAddress(host, port));
    } catch (IOException | IllegalArgumentException e) {
      throw end(
          PORT_TAKEN,
          "Cannot listen on %s (%s): end what uses it, or give another --port."
              .formatted(where, e.getMessage()));
    }
    try {
      Files.createDirectories(folder);
      System.setProperty("derby.system.home", folder.toString());
      System.getProperties().putIfAbsent("derby.jdbc.xaTransactionTimeout", ABANDONED_AFTER);
      NetworkServerControl server = new NetworkServerControl(InetAddress.getByName(host), port);
      server.start(new PrintWriter(System.out, true, StandardCharsets.UTF_8));
      Runtime.getRuntime().addShutdownHook(new Thread(() -> close(server), "shutdown"));
      while (!listens(host, port)) {
        Thread.sleep(20);
      }
      System.out.println("derby-server ready on " + where);
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      throw end(FAILED, "The server did not start with the folder %s: %s".formatted(folder, e));
    }
  }

  private static boolean listens(String host, int port) {
    try (Socket asked = new Socket(host, port)) {
      return asked.isConnected();
    } catch (IOException notYet) {
      return false;
    }
  }

  @SuppressWarnings("CatchingUnchecked") // As above.
  private static void close(NetworkServerControl server) {
    try {
      server.shutdown();
      DriverManager.getConnection("jdbc:derby:;shutdown=true").close();
    } catch (SQLException always) {
      // Derby says in this way that it has closed its databases.
    } catch (Exception e) {
      System.err.println("The server did not end in order: " + e);
    }
  }

  /** Ends the process; the result only tells the compiler that nothing comes after it. */
  private static IllegalStateException end(int code, String sentence) {
    System.err.println(sentence);
    System.exit(code);
    return new IllegalStateException(sentence);
  }
}
