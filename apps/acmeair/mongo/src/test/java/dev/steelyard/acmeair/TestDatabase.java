// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair;

import com.mongodb.client.MongoDatabase;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import dev.steelyard.acmeair.mongo.MongoConnection;
import dev.steelyard.acmeair.settings.MongoSettings;
import dev.steelyard.embeddedmongo.EmbeddedMongo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A database of its own for each test, and the commands that it was sent. */
public final class TestDatabase implements AfterEachCallback {

  private final EmbeddedMongo server = EmbeddedMongo.start("127.0.0.1", 0);
  private final List<BsonDocument> commands = Collections.synchronizedList(new ArrayList<>());
  private final MongoConnection connection =
      new MongoConnection(
          MongoSettings.read(
              Map.of("MONGO_HOST", "127.0.0.1", "MONGO_PORT", Integer.toString(server.port())),
              "acmeair"),
          List.of(
              new CommandListener() {
                @Override
                public void commandStarted(CommandStartedEvent event) {
                  commands.add(event.getCommand().clone());
                }
              }));

  /** The connection. */
  public MongoConnection connection() {
    return connection;
  }

  /** The database. */
  public MongoDatabase database() {
    return connection.database();
  }

  /** What an action makes the driver send. */
  public List<BsonDocument> commandsOf(Runnable action) {
    commands.clear();
    action.run();
    return List.copyOf(commands);
  }

  /** The same as texts: the command and the collection, such as {@code find customer}. */
  public List<String> namesOf(Runnable action) {
    return commandsOf(action).stream()
        .map(
            command ->
                command.getFirstKey() + " " + command.getString(command.getFirstKey()).getValue())
        .toList();
  }

  @Override
  public void afterEach(ExtensionContext context) {
    connection.close();
    server.close();
  }
}
