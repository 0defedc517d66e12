// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import com.mongodb.connection.ServerDescription;
import com.mongodb.event.ClusterDescriptionChangedEvent;
import com.mongodb.event.ClusterListener;
import java.util.List;
import java.util.function.Consumer;

/** Knows whether the database answers, and says so in one line when that changes. */
final class DatabaseWatch implements ClusterListener {

  private enum State {
    NEW,
    UP,
    DOWN
  }

  private final String address;
  private final Consumer<String> lines;
  private volatile State state = State.NEW;

  /**
   * @param address of the database, for the lines
   * @param lines takes each line
   */
  DatabaseWatch(String address, Consumer<String> lines) {
    this.address = address;
    this.lines = lines;
  }

  boolean up() {
    return state == State.UP;
  }

  @Override
  public synchronized void clusterDescriptionChanged(ClusterDescriptionChangedEvent event) {
    List<ServerDescription> servers = event.getNewDescription().getServerDescriptions();
    if (servers.stream().anyMatch(ServerDescription::isOk)) {
      become(State.UP, "The database at " + address + " answers.");
    } else if (servers.stream().anyMatch(server -> server.getException() != null)) {
      become(
          State.DOWN,
          "The database at "
              + address
              + " does not answer: operations answer 503 until it does, no restart is needed.");
    }
  }

  private void become(State next, String line) {
    if (state != next) {
      state = next;
      lines.accept(line);
    }
  }
}
