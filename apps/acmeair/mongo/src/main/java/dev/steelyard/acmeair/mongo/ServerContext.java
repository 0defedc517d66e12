// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import com.mongodb.MongoException;
import com.mongodb.client.MongoDatabase;
import dev.steelyard.acmeair.data.DataSet;
import dev.steelyard.acmeair.flight.CachedFlights;
import dev.steelyard.acmeair.flight.FlightRepository;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import dev.steelyard.acmeair.settings.MongoSettings;
import dev.steelyard.bench.UnusableServer;
import dev.steelyard.bench.settings.SettingsException;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** What the parts of a server with a database are made from: its settings and its connection. */
@Singleton
public class ServerContext implements AutoCloseable {

  /** The bean that is the name of an application's database, unless a variable gives one. */
  public static final String DATABASE = "database";

  private static final int BAD_SETTINGS = 2;

  private final AcmeAirSettings settings;
  private final MongoConnection connection;

  /**
   * The context of a server from the variables of its process. With settings that cannot be used
   * the process says so in one sentence and ends with exit code 2: a server that was started to be
   * measured is of no use half alive.
   */
  @Inject
  ServerContext(@Named(DATABASE) String database) {
    this(System.getenv(), database, true);
  }

  /**
   * Reads the settings and opens the connection, whether or not the database answers yet.
   *
   * @param variables environment variables
   * @param database the name of the database unless the variables give one
   * @throws SettingsException for a value that cannot be used
   */
  public static ServerContext of(Map<String, String> variables, String database) {
    return new ServerContext(variables, database, false);
  }

  private ServerContext(Map<String, String> variables, String database, boolean endsProcess) {
    try {
      this.settings = AcmeAirSettings.read(variables);
      this.connection = new MongoConnection(MongoSettings.read(variables, database));
    } catch (SettingsException e) {
      if (endsProcess) {
        UnusableServer.end(e.getMessage(), BAD_SETTINGS);
      }
      throw e;
    }
  }

  /** That this hears of the application's start is what opens the connection then. */
  void start(@Observes @Initialized(ApplicationScoped.class) Object event) {}

  /** The connection. */
  public MongoConnection connection() {
    return connection;
  }

  /** The database. */
  @Produces
  public MongoDatabase database() {
    return connection.database();
  }

  /** The settings. */
  @Produces
  public AcmeAirSettings settings() {
    return settings;
  }

  /** The flights of the database, remembered if the settings say so. */
  @Produces
  @Singleton
  public FlightRepository flights() {
    FlightRepository stored = new MongoFlights(database(), settings.zone());
    return settings.caching() ? new CachedFlights(stored) : stored;
  }

  /** The clock of sessions, bookings and, where the settings say so, of today. */
  @Produces
  public Clock clock() {
    return Clock.systemUTC();
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

  @PreDestroy
  @Override
  public void close() {
    connection.close();
  }
}
