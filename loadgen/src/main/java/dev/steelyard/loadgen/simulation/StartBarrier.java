// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.recording.Merge;
import dev.steelyard.loadgen.scenario.Ratio;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * The injectors of a run that nobody steers, as in the pods of a Job: they meet at the first one,
 * begin together, and bring it their files at the end; it merges them and tells the whole. If one
 * does not come, or is lost, the first one fails and says so, and so do all if the first one is.
 *
 * <p>They begin at one word over the network, whatever their clocks say. Each says {@link Hello},
 * and so does the first one to it; all hear a byte when the last one has come, or why that will not
 * be; at the end each sends the files of {@link Merge}, each as its length and its bytes.
 */
final class StartBarrier implements Closeable {
  private static final int CONNECT_MILLIS = 2000;
  private static final int GO = 1;
  private static final int GIVEN_UP = 2;
  private static final int REASON_MILLIS = 10_000;
  private static final String LOST = "The first injector was lost before the start.";

  /** Beyond what ends a run: the others may still wait for operations in flight. */
  private static final int END_MILLIS = 60_000;

  private final Settings settings;
  private final LongSupplier clock;
  private final Hello hello;

  /** Null where this is not the first injector, or the only one. */
  private final Registrar registrar;

  /** The first injector has all others here by index, each of them has the first one, at 0. */
  private final Map<Integer, Socket> others = new TreeMap<>();

  /** An injector is lost, or they cannot meet. */
  static final class StartBarrierException extends IOException {
    private static final long serialVersionUID = 1;

    StartBarrierException(String message) {
      super(message);
    }
  }

  private StartBarrier(Settings settings, LongSupplier clock, Registrar registrar) {
    this.settings = settings;
    this.clock = clock;
    hello = new Hello(settings);
    this.registrar = registrar;
  }

  /**
   * The barrier of a run; of one injector alone, or of a run that nobody joins, nothing happens
   * there.
   *
   * @param clock nanoseconds that never go back
   * @throws IOException if the first injector cannot listen at its port
   */
  static StartBarrier of(Settings settings, LongSupplier clock) throws IOException {
    boolean first = settings.meet() != null && settings.injector() == 0;
    try {
      return new StartBarrier(
          settings,
          clock,
          first && settings.injectors() > 1
              ? new Registrar(settings, port(settings), clock)
              : null);
    } catch (IOException e) {
      throw new StartBarrierException(
          "The injectors cannot meet at %s: %s.".formatted(settings.meet(), e.getMessage()));
    }
  }

  /**
   * Returns when all are there, or this run is to stop.
   *
   * @throws StartBarrierException if one is missing, or the first one is
   */
  void begin(BooleanSupplier stopped) throws IOException, InterruptedException {
    if (settings.meet() == null || settings.injectors() == 1) {
      return;
    }
    if (registrar == null) {
      register(stopped);
      return;
    }
    try {
      others.putAll(registrar.awaitOthers(stopped));
    } catch (StartBarrierException e) {
      registrar.giveUp(e.getMessage());
      throw e;
    }
    for (Map.Entry<Integer, Socket> other : others.entrySet()) {
      try {
        other.getValue().setTcpNoDelay(true);
        other.getValue().setSoTimeout(settings.longestWaitMillis() + END_MILLIS);
        other.getValue().getOutputStream().write(GO);
      } catch (IOException e) {
        throw new StartBarrierException(
            "Injector %d was lost before the start.".formatted(other.getKey()));
      }
    }
  }

  /** What the others hear in the place of the start. */
  static ByteBuffer givenUp(String why) {
    byte[] text = why.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(1 + text.length).put((byte) GIVEN_UP).put(text).flip();
  }

  private void register(BooleanSupplier stopped) throws IOException, InterruptedException {
    Patience patience = new Patience(settings.meetSeconds(), clock);
    String last = "";
    while (!stopped.getAsBoolean()) {
      if (patience.isOver()) {
        throw new StartBarrierException(
            "The first injector was not met at %s within %d s%s: the run did not start."
                .formatted(settings.meet(), settings.meetSeconds(), last));
      }
      Socket first = new Socket();
      try {
        first.connect(address(settings), CONNECT_MILLIS);
        first.setTcpNoDelay(true);
        first.getOutputStream().write(hello.of(settings.injector()).array());
        first.setSoTimeout(Patience.POLL_MILLIS);
        if (isFirst(first, patience, stopped)) {
          others.put(0, first);
          awaitStart(first, stopped);
          return;
        }
        last = " (something else answers there)";
      } catch (StartBarrierException e) {
        throw e;
      } catch (IOException e) {
        last = " (" + e.getMessage() + ")";
      }
      first.close();
      Thread.sleep(Patience.POLL_MILLIS);
    }
  }

  /** Whether it answers as the first injector of this run. */
  private boolean isFirst(Socket first, Patience patience, BooleanSupplier stopped)
      throws IOException {
    ByteBuffer answer = ByteBuffer.allocate(Hello.LENGTH);
    while (answer.hasRemaining()) {
      if (stopped.getAsBoolean() || patience.isOver()) {
        return false;
      }
      try {
        int next = first.getInputStream().read();
        if (next < 0) {
          return false;
        }
        answer.put((byte) next);
      } catch (SocketTimeoutException e) {
        // Others may keep it busy.
      }
    }
    return hello.sender(answer.flip()) == 0;
  }

  private static String reason(Socket first) throws IOException {
    first.setSoTimeout(REASON_MILLIS);
    return new String(first.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  /** However long that takes: the first one waits for its time, and says so if that is over. */
  private static void awaitStart(Socket first, BooleanSupplier stopped) throws IOException {
    while (!stopped.getAsBoolean()) {
      try {
        int word = first.getInputStream().read();
        if (word == GO) {
          first.setSoTimeout(0);
          return;
        }
        throw new StartBarrierException(word == GIVEN_UP ? reason(first) : LOST);
      } catch (SocketTimeoutException e) {
        // Others are still on their way.
      } catch (SocketException e) {
        throw new StartBarrierException(LOST);
      }
    }
  }

  /**
   * Brings the files to the first injector, or takes those of the others.
   *
   * @param output folder of this injector, which those of the others are put into
   * @param ratios figures of the workload
   * @return the summary of all for people; empty where this is not the first one
   * @throws StartBarrierException if one of them is gone
   */
  String end(Path output, List<Ratio> ratios) throws IOException {
    if (others.isEmpty()) {
      return "";
    }
    if (registrar == null) {
      try {
        DataOutputStream to = new DataOutputStream(others.get(0).getOutputStream());
        for (String name : Merge.FILES) {
          Path file = output.resolve(name);
          to.writeLong(Files.size(file));
          Files.copy(file, to);
        }
        to.flush();
      } catch (IOException e) {
        throw new StartBarrierException("The first injector was lost: there is no summary of all.");
      }
      return "";
    }
    List<Path> folders = new ArrayList<>(List.of(output));
    for (Map.Entry<Integer, Socket> other : others.entrySet()) {
      Path folder = Files.createDirectories(output.resolve("injector-" + other.getKey()));
      folders.add(folder);
      try {
        take(new DataInputStream(other.getValue().getInputStream()), folder);
      } catch (IOException e) {
        throw new StartBarrierException(
            "Injector %d was lost: there is no summary of all.".formatted(other.getKey()));
      }
    }
    return Merge.told(folders, ratios);
  }

  private static void take(DataInputStream from, Path folder) throws IOException {
    for (String name : Merge.FILES) {
      long size = from.readLong();
      try (FileChannel file = FileChannel.open(folder.resolve(name), WRITE, CREATE_NEW)) {
        if (file.transferFrom(Channels.newChannel(from), 0, size) != size) {
          throw new EOFException();
        }
      }
    }
  }

  private static InetSocketAddress address(Settings settings) {
    String host = settings.meet().substring(0, settings.meet().indexOf(':'));
    return new InetSocketAddress(host, port(settings));
  }

  private static int port(Settings settings) {
    return Integer.parseInt(settings.meet().substring(settings.meet().indexOf(':') + 1));
  }

  @Override
  public void close() throws IOException {
    for (Socket other : others.values()) {
      other.close();
    }
    if (registrar != null) {
      registrar.close();
    }
  }
}
