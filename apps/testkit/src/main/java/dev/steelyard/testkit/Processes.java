// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** What tests do with processes. */
public final class Processes {

  private static final int FIRST_PORT = 10_100;
  private static final int PORTS = 6_900;

  /** Processes with tests that run at the same time begin at different ports. */
  private static final int START = (int) (ProcessHandle.current().pid() * 10 % PORTS);

  private static final AtomicInteger TRIED = new AtomicInteger();

  /**
   * The ports' namesakes of UDP, which no server here uses: the kernel gives each to one process.
   */
  private static final Queue<DatagramSocket> HELD = new ConcurrentLinkedQueue<>();

  private Processes() {}

  /**
   * A program of this class path, not started yet, for a JVM of its own; its errors are part of its
   * output.
   *
   * @param options of the JVM
   */
  public static ProcessBuilder program(List<String> options, Class<?> main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).redirectErrorStream(true);
  }

  /** Asks a process to end (SIGTERM), waits until it has, and returns its exit code. */
  public static int stop(Process process) throws InterruptedException {
    process.destroy();
    return Waiting.awaitEnd(process);
  }

  /**
   * Kills one process (SIGKILL) of those that a script has started, all of which end with it, and
   * waits until they have.
   */
  public static void kill(Process script, ProcessHandle killed) throws InterruptedException {
    ProcessHandle[] all = script.descendants().toArray(ProcessHandle[]::new);
    killed.destroyForcibly();
    Waiting.awaitEnd(script);
    for (ProcessHandle each : all) {
      each.onExit().join();
    }
  }

  /**
   * A port that nobody listens on, for a server that starts later, or again; each only once, and no
   * other process with tests gets it before this one ends. Not one of those that the kernel gives
   * to whoever asks for any (32768 and above): of these, each connection that tests beside this one
   * open may take it meanwhile.
   */
  public static int freePort() throws IOException {
    for (int tried = TRIED.getAndIncrement(); tried < PORTS; tried = TRIED.getAndIncrement()) {
      int port = FIRST_PORT + (START + tried) % PORTS;
      if (hold(port)) {
        return port;
      }
    }
    throw new IllegalStateException("No port is left of the " + PORTS + " from " + FIRST_PORT);
  }

  /** Keeps a port until this process ends; false: somebody listens there, or has asked for it. */
  private static boolean hold(int port) throws IOException {
    try (ServerSocket socket = new ServerSocket(port)) {
      HELD.add(new DatagramSocket(socket.getLocalPort()));
      return true;
    } catch (BindException taken) {
      return false;
    }
  }
}
