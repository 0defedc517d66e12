// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.simulation.StartBarrier.StartBarrierException;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Where the first injector of a run awaits the others. Whoever connects may say anything, at any
 * pace, or nothing: only who says {@link Hello} as an injector of this run counts, and nobody keeps
 * the others waiting.
 */
final class Registrar implements Closeable {
  private final Settings settings;
  private final LongSupplier clock;
  private final Hello hello;
  private final ServerSocketChannel listener;
  private final Selector selector;
  private final Map<Integer, SocketChannel> registered = new TreeMap<>();

  /**
   * @param port that it listens at, on all addresses
   * @param clock nanoseconds that never go back
   * @throws IOException if it cannot
   */
  Registrar(Settings settings, int port, LongSupplier clock) throws IOException {
    this.settings = settings;
    this.clock = clock;
    hello = new Hello(settings);
    listener = ServerSocketChannel.open();
    try {
      listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      listener.bind(new InetSocketAddress(port));
      listener.configureBlocking(false);
      selector = Selector.open();
      listener.register(selector, SelectionKey.OP_ACCEPT);
    } catch (IOException e) {
      listener.close();
      throw e;
    }
  }

  /**
   * The connections of all others by index; empty if the run was stopped before they had come.
   *
   * @throws StartBarrierException if one has not come in time, or has come twice
   */
  Map<Integer, Socket> awaitOthers(BooleanSupplier stopped) throws IOException {
    Patience patience = new Patience(settings.meetSeconds(), clock);
    while (registered.size() < settings.injectors() - 1) {
      if (stopped.getAsBoolean()) {
        return Map.of();
      }
      if (patience.isOver()) {
        throw new StartBarrierException(
            "%s did not come to %s within %d s: the run did not start."
                .formatted(missing(), settings.meet(), settings.meetSeconds()));
      }
      selector.select(Patience.POLL_MILLIS);
      for (SelectionKey key : selector.selectedKeys()) {
        if (key.isAcceptable()) {
          accept();
        } else {
          listen(key);
        }
      }
      selector.selectedKeys().clear();
    }
    return taken();
  }

  private String missing() {
    List<Integer> missing =
        IntStream.range(1, settings.injectors())
            .filter(index -> !registered.containsKey(index))
            .boxed()
            .toList();
    String indexes = missing.stream().map(Object::toString).collect(Collectors.joining(", "));
    return (missing.size() == 1 ? "Injector " : "Injectors ") + indexes;
  }

  private void accept() {
    try {
      SocketChannel other = listener.accept();
      if (other != null) {
        other.configureBlocking(false);
        other.register(selector, SelectionKey.OP_READ, ByteBuffer.allocate(Hello.LENGTH));
      }
    } catch (IOException e) {
      // It is gone again, or there are too many of them: the next look is for the others.
    }
  }

  private void listen(SelectionKey key) throws StartBarrierException {
    SocketChannel other = (SocketChannel) key.channel();
    ByteBuffer message = (ByteBuffer) key.attachment();
    try {
      // One that has said all has nothing to add: what comes then is the end of its connection.
      if (!message.hasRemaining() || other.read(message) < 0) {
        forget(other);
      } else if (!message.hasRemaining()) {
        register(other, hello.sender(message.duplicate().flip()));
      }
    } catch (StartBarrierException e) {
      throw e;
    } catch (IOException e) {
      forget(other);
    }
  }

  private void register(SocketChannel other, int index) throws IOException {
    if (index <= 0) {
      other.close();
      return;
    }
    SocketChannel earlier = registered.put(index, other);
    if (earlier != null && !hasEnded(earlier)) {
      throw new StartBarrierException(
          "Injector %d came twice: give each an \"injector\" of its own, or restart all."
              .formatted(index));
    }
    // So that it knows whom it has met.
    other.write(hello.of(0));
  }

  private void forget(SocketChannel other) {
    registered.values().remove(other);
    close(other);
  }

  /**
   * Asked, and not awaited: after a pause of this process the end of one and the hello of who came
   * in its place are there at once, in any order. The next look forgets it.
   */
  private static boolean hasEnded(SocketChannel one) {
    try {
      return one.read(ByteBuffer.allocate(1)) < 0;
    } catch (IOException e) {
      return true;
    }
  }

  /** Hands the connections over, which block from now on; nobody else is let in. */
  private Map<Integer, Socket> taken() throws IOException {
    List<SelectionKey> keys = new ArrayList<>(selector.keys());
    keys.forEach(SelectionKey::cancel);
    selector.selectNow();
    for (SelectionKey key : keys) {
      if (!registered.containsValue(key.channel())) {
        close(key.channel());
      }
    }
    Map<Integer, Socket> sockets = new TreeMap<>();
    for (Map.Entry<Integer, SocketChannel> each : registered.entrySet()) {
      each.getValue().configureBlocking(true);
      sockets.put(each.getKey(), each.getValue().socket());
    }
    return sockets;
  }

  /** Tells all that have come why the run does not start. */
  void giveUp(String why) {
    for (SocketChannel other : registered.values()) {
      try {
        other.write(StartBarrier.givenUp(why));
        // They read up to the end.
        other.shutdownOutput();
      } catch (IOException e) {
        // It is gone as well.
      }
    }
  }

  private static void close(Closeable channel) {
    try {
      channel.close();
    } catch (IOException e) {
      // It is of no use any more.
    }
  }

  @Override
  public void close() {
    for (SelectionKey key : new ArrayList<>(selector.keys())) {
      close(key.channel());
    }
    registered.values().forEach(Registrar::close);
    close(listener);
    close(selector);
  }
}
