// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Stands between a server and its database, and notes what is asked of which collection. */
final class CommandRelay implements AutoCloseable {

  private static final int HEADER_BYTES = 16;
  private static final int FLAG_BYTES = 4;
  private static final int LENGTH_BYTES = 4;
  private static final int OP_MSG = 2013;
  private static final byte STRING = 2;

  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Socket> sockets = new ArrayList<>();
  private final List<String> commands = new ArrayList<>();
  private final int database;

  /**
   * @param database its port
   */
  CommandRelay(int database) throws IOException {
    this.database = database;
    threads.execute(() -> quietly(this::accept));
  }

  int port() {
    return listener.getLocalPort();
  }

  /** The commands since the last call, such as {@code find customer}. */
  List<String> taken() {
    synchronized (commands) {
      List<String> taken = List.copyOf(commands);
      commands.clear();
      return taken;
    }
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = kept(listener.accept());
      Socket server = kept(new Socket(InetAddress.getLoopbackAddress(), database));
      threads.execute(() -> quietly(() -> relay(client, server)));
      threads.execute(
          () -> quietly(() -> server.getInputStream().transferTo(client.getOutputStream())));
    }
  }

  private synchronized Socket kept(Socket socket) {
    sockets.add(socket);
    return socket;
  }

  private void relay(Socket client, Socket server) throws IOException {
    DataInputStream in = new DataInputStream(client.getInputStream());
    OutputStream out = server.getOutputStream();
    while (true) {
      byte[] header = in.readNBytes(HEADER_BYTES);
      if (header.length < HEADER_BYTES) {
        server.close();
        return;
      }
      byte[] body = new byte[fields(header).getInt(0) - HEADER_BYTES];
      in.readFully(body);
      if (fields(header).getInt(HEADER_BYTES - Integer.BYTES) == OP_MSG) {
        note(body);
      }
      out.write(header);
      out.write(body);
      out.flush();
    }
  }

  /**
   * The first member of a command's document is the command and, of those wanted, the collection.
   */
  private void note(byte[] message) {
    int type = FLAG_BYTES + 1 + LENGTH_BYTES;
    if (message[type] == STRING) {
      int name = type + 1;
      int end = name;
      while (message[end] != 0) {
        end++;
      }
      int value = end + 1 + LENGTH_BYTES;
      int length = fields(message).getInt(end + 1) - 1;
      synchronized (commands) {
        commands.add(text(message, name, end - name) + " " + text(message, value, length));
      }
    }
  }

  private static ByteBuffer fields(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static String text(byte[] message, int start, int length) {
    return new String(message, start, length, StandardCharsets.UTF_8);
  }

  @FunctionalInterface
  private interface Work {
    void perform() throws IOException;
  }

  /** Either side may go at any time, and the test as well. */
  private static void quietly(Work work) {
    try {
      work.perform();
    } catch (SocketException | EOFException gone) {
      return;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public synchronized void close() throws IOException {
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
    threads.shutdownNow();
  }
}
