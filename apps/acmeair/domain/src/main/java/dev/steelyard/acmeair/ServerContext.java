// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair;

import com.mongodb.MongoException;
import com.mongodb.client.MongoDatabase;
import dev.steelyard.acmeair.data.DataSet;
import dev.steelyard.acmeair.database.MongoConnection;
import dev.steelyard.acmeair.json.DateTexts;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import dev.steelyard.acmeair.settings.MongoSettings;
import dev.steelyard.acmeair.settings.SettingsException;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What the parts of a server with a database are made from. Each application makes one at its start
 * and closes it at its end.
 *
 * @param dialect monolith or microservices
 * @param settings of the application
 * @param connection to its database
 */
public record ServerContext(Dialect dialect, AcmeAirSettings settings, MongoConnection connection)
    implements AutoCloseable {

  private static final int BAD_SETTINGS = 2;

  /**
   * Reads the settings and opens the connection.
   *
   * @param variables environment variables
   * @param database the name of the database unless the variables give one
   * @throws SettingsException for a value that cannot be used
   */
  public static ServerContext of(Dialect dialect, Map<String, String> variables, String database) {
    AcmeAirSettings settings = AcmeAirSettings.read(variables);
    return new ServerContext(
        dialect, settings, new MongoConnection(MongoSettings.read(variables, database)));
  }

  /**
   * The context of a server from the variables of its process. With settings that cannot be used
   * the process says so in one sentence and ends with exit code 2: a server that was started to be
   * measured is of no use half alive.
   *
   * @param database the name of the database unless a variable gives one
   */
  public static ServerContext ofProcess(Dialect dialect, String database) {
    try {
      return of(dialect, System.getenv(), database);
    } catch (SettingsException e) {
      System.out.println(e.getMessage());
      System.out.flush();
      // Not exit: its hooks would wait for the application, which is just being started.
      Runtime.getRuntime().halt(BAD_SETTINGS);
      throw e;
    }
  }

  /** The database. */
  public MongoDatabase database() {
    return connection.database();
  }

  /** The clock of sessions, bookings and, where the settings say so, of today. */
  public Clock clock() {
    return Clock.systemUTC();
  }

  /** How dates are set. */
  public DateTexts dates() {
    return new DateTexts(settings.zone());
  }

  /** The hash of what is loaded; nothing before a load, and while the database does not answer. */
  public Optional<String> dataSetHash() {
    try {
      return connection.up() ? new DataSet(database()).hash() : Optional.empty();
    } catch (MongoException e) {
      return Optional.empty();
    }
  }

  /** The settings as {@code /bench/info} shows them. */
  public SortedMap<String, String> shown() {
    SortedMap<String, String> shown = new TreeMap<>(settings.shown());
    shown.put("mongo", connection.settings().address());
    shown.put("mongoPool", connection.settings().pool().toString());
    shown.put("mongoVersion", connection.serverVersion().orElse("unknown"));
    return shown;
  }

  @Override
  public void close() {
    connection.close();
  }
}
