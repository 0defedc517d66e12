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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A database of its own for each test, and the commands that it was sent. */
public final class TestDatabase implements AfterEachCallback {

  /**
   * Limits that a machine which stands still for a while does not reach; the servers' own give up
   * after seconds.
   */
  private static final Map<String, String> PATIENCE =
      Map.of(
          "MONGO_SERVERSELECTIONTIMEOUT", "600000",
          "MONGO_CONNECTTIMEOUT", "600000",
          "MONGO_MAXWAITTIME", "600000",
          "MONGO_SOCKETTIMEOUT", "0");

  private final EmbeddedMongo server = EmbeddedMongo.start("127.0.0.1", 0);
  private final List<BsonDocument> commands = Collections.synchronizedList(new ArrayList<>());
  private final MongoConnection connection =
      new MongoConnection(
          MongoSettings.read(variables(server.port(), Map.of()), "acmeair"),
          List.of(
              new CommandListener() {
                @Override
                public void commandStarted(CommandStartedEvent event) {
                  commands.add(event.getCommand().clone());
                }
              }));

  /**
   * What connects a test with a database of its own.
   *
   * @param port of the database, on 127.0.0.1
   * @param more variables, which may set a limit otherwise
   */
  public static Map<String, String> variables(int port, Map<String, String> more) {
    Map<String, String> variables = new HashMap<>(PATIENCE);
    variables.put("MONGO_HOST", "127.0.0.1");
    variables.put("MONGO_PORT", Integer.toString(port));
    variables.putAll(more);
    return variables;
  }

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
