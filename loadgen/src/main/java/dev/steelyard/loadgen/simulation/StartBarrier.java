// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.recording.Merge;
import dev.steelyard.loadgen.scenario.Ratio;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/**
 * The injectors of a run that nobody steers, as in the pods of a Job: they meet at the first one,
 * begin together, and bring it their files at the end; it merges them and tells the whole. If one
 * is lost, the first one fails, and so do all if the first one is.
 *
 * <p>They begin at one word over the network, whatever their clocks say. Each says its index; all
 * hear a byte when the last one has come; at the end each sends the files of {@link Merge}, each as
 * its length and its bytes.
 */
final class StartBarrier implements Closeable {
  private static final int POLL_MILLIS = 200;
  private static final int GO = 1;

  /** Beyond what ends a run: the others may still wait for operations in flight. */
  private static final int END_MILLIS = 60_000;

  private final Settings settings;
  private final ServerSocket listener;
  private final Map<Integer, Socket> others = new TreeMap<>();

  /** An injector is lost, or they cannot meet. */
  static final class StartBarrierException extends IOException {
    private static final long serialVersionUID = 1;

    StartBarrierException(String message) {
      super(message);
    }
  }

  private StartBarrier(Settings settings, ServerSocket listener) {
    this.settings = settings;
    this.listener = listener;
  }

  /**
   * The barrier of a run; of one injector alone, or of a run that nobody joins, nothing happens
   * there.
   *
   * @throws IOException if the first injector cannot listen at its port
   */
  static StartBarrier of(Settings settings) throws IOException {
    boolean first = settings.meet() != null && settings.injector() == 0;
    try {
      return new StartBarrier(
          settings, first && settings.injectors() > 1 ? new ServerSocket(port(settings)) : null);
    } catch (IOException e) {
      throw new StartBarrierException(
          "The injectors cannot meet at %s: %s.".formatted(settings.meet(), e.getMessage()));
    }
  }

  /** Returns when all are there, or this run is to stop. */
  void begin(BooleanSupplier stopped) throws IOException, InterruptedException {
    if (settings.meet() == null || settings.injectors() == 1) {
      return;
    }
    if (listener == null) {
      register(stopped);
      return;
    }
    listener.setSoTimeout(POLL_MILLIS);
    while (others.size() < settings.injectors() - 1) {
      if (stopped.getAsBoolean()) {
        close();
        others.clear();
        return;
      }
      try {
        Socket other = listener.accept();
        other.setTcpNoDelay(true);
        other.setSoTimeout(POLL_MILLIS);
        int index = new DataInputStream(other.getInputStream()).readInt();
        other.setSoTimeout(settings.requestTimeoutMillis() + END_MILLIS);
        if (others.putIfAbsent(index, other) != null) {
          throw new StartBarrierException(
              "Injector %d came twice: it was started again.".formatted(index));
        }
      } catch (SocketTimeoutException | EOFException e) {
        // Nobody yet, or one that was gone again.
      }
    }
    for (Socket other : others.values()) {
      other.getOutputStream().write(GO);
    }
  }

  private void register(BooleanSupplier stopped) throws IOException, InterruptedException {
    while (!stopped.getAsBoolean()) {
      Socket first = new Socket();
      try {
        first.connect(address(settings), POLL_MILLIS * 10);
        first.setTcpNoDelay(true);
        others.put(0, first);
        break;
      } catch (IOException e) {
        first.close();
        Thread.sleep(POLL_MILLIS);
      }
    }
    if (others.isEmpty()) {
      return;
    }
    Socket first = others.get(0);
    first.setSoTimeout(POLL_MILLIS);
    new DataOutputStream(first.getOutputStream()).writeInt(settings.injector());
    while (!stopped.getAsBoolean()) {
      try {
        if (first.getInputStream().read() != GO) {
          throw new StartBarrierException("The first injector was lost before the start.");
        }
        return;
      } catch (SocketTimeoutException e) {
        // Others are still on their way.
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
    if (listener == null) {
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
      InputStream file = new Limited(from, size);
      Files.copy(file, folder.resolve(name));
      if (Files.size(folder.resolve(name)) != size) {
        throw new EOFException();
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
    if (listener != null) {
      listener.close();
    }
  }

  /** So many bytes of a stream. */
  private static final class Limited extends InputStream {
    private final InputStream from;
    private long left;

    Limited(InputStream from, long left) {
      this.from = from;
      this.left = left;
    }

    @Override
    public int read() throws IOException {
      int found = left > 0 ? from.read() : -1;
      left -= found < 0 ? 0 : 1;
      return found;
    }

    @Override
    public int read(byte[] to, int at, int most) throws IOException {
      int found = left > 0 ? from.read(to, at, (int) Math.min(most, left)) : -1;
      left -= Math.max(found, 0);
      return found;
    }
  }
}
