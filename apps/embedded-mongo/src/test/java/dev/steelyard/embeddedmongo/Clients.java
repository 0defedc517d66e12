// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.embeddedmongo;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;

/** Clients that outlast a test that stands still; the driver's own give up after ten seconds. */
final class Clients {

  private static final String PATIENCE = "connectTimeoutMS=600000&serverSelectionTimeoutMS=600000";

  private Clients() {}

  /**
   * A client of a server on this host.
   *
   * @param credentials {@code user:password@}, or nothing
   * @param options further options of the address, each after an ampersand
   */
  static MongoClient of(String credentials, int port, String options) {
    return MongoClients.create(
        "mongodb://%s127.0.0.1:%d/?%s%s".formatted(credentials, port, PATIENCE, options));
  }
}
