// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.embeddedmongo;

import de.bwaldvogel.mongo.MongoBackend;
import de.bwaldvogel.mongo.MongoServer;
import java.net.InetSocketAddress;

/** A running server; its data is gone when it is closed. */
public final class EmbeddedMongo implements AutoCloseable {

  static {
    // Netty would look for a hardware address, for names of connections that differ between hosts.
    // Where there is none (a network namespace with loopback alone) it warns on standard error.
    System.setProperty("io.netty.machineId", "02:00:00:00:00:00:00:00");
  }

  private final MongoServer server;
  private final InetSocketAddress address;

  private EmbeddedMongo(MongoServer server, InetSocketAddress address) {
    this.server = server;
    this.address = address;
  }

  /**
   * Starts a server.
   *
   * @param host name or address to listen on
   * @param port TCP port, or 0 for any that is free
   */
  public static EmbeddedMongo start(String host, int port) {
    return start(host, port, new IndexedBackend());
  }

  /**
   * Starts a server that serves one user alone, whom it knows by a password.
   *
   * @param host name or address to listen on
   * @param port TCP port, or 0 for any that is free
   * @param user name
   * @param password in clear text
   */
  public static EmbeddedMongo start(String host, int port, String user, String password) {
    return start(host, port, new GuardedBackend(new Scram(user, password)));
  }

  private static EmbeddedMongo start(String host, int port, MongoBackend backend) {
    MongoServer server = new MongoServer(backend);
    server.bind(new InetSocketAddress(host, port));
    return new EmbeddedMongo(server, server.getLocalAddress());
  }

  /** The port that the server listens on. */
  public int port() {
    return address.getPort();
  }

  @Override
  public void close() {
    server.shutdown();
  }
}
