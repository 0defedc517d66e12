// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.embeddedmongo;

import de.bwaldvogel.mongo.MongoServer;
import java.net.InetSocketAddress;

/** A running server; its data is gone when it is closed. */
public final class EmbeddedMongo implements AutoCloseable {

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
    MongoServer server = new MongoServer(new IndexedBackend());
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
