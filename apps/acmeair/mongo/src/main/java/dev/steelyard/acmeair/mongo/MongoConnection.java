// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import com.mongodb.MongoException;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.event.CommandListener;
import dev.steelyard.acmeair.settings.MongoSettings;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.bson.BsonType;
import org.bson.Document;
import org.bson.codecs.BsonTypeClassMap;
import org.bson.codecs.DocumentCodecProvider;
import org.bson.codecs.configuration.CodecRegistries;
import org.bson.codecs.configuration.CodecRegistry;

/**
 * The one client of a database that a server has. Made at once, whether or not the database
 * answers: operations fail with a {@link MongoException} while it does not, and work when it does.
 */
public final class MongoConnection implements AutoCloseable {

  private static final long HEARTBEAT_SECONDS = 2;

  // Kept, since the JDK forgets the level of a logger that nobody holds. The driver would log a
  // stack trace for each state of the server, of which the watch tells what matters.
  private static final Logger DRIVER_LOG = Logger.getLogger("org.mongodb.driver");

  // Dates of documents are instants, in both directions.
  private static final CodecRegistry INSTANTS =
      CodecRegistries.fromRegistries(
          CodecRegistries.fromProviders(
              new DocumentCodecProvider(
                  new BsonTypeClassMap(Map.of(BsonType.DATE_TIME, Instant.class)))),
          MongoClientSettings.getDefaultCodecRegistry());

  private final MongoSettings settings;
  private final DatabaseWatch watch;
  private final MongoClient client;
  private final MongoDatabase database;

  /** Connects to the database of these settings. */
  public MongoConnection(MongoSettings settings) {
    this(settings, List.of());
  }

  /**
   * Connects to the database of these settings.
   *
   * @param listeners are told of each command
   */
  public MongoConnection(MongoSettings settings, List<CommandListener> listeners) {
    DRIVER_LOG.setLevel(Level.SEVERE);
    this.settings = settings;
    this.watch = new DatabaseWatch(settings.host() + ":" + settings.port(), System.out::println);
    this.client = MongoClients.create(clientSettings(settings, watch, listeners));
    this.database = client.getDatabase(settings.database());
  }

  private static MongoClientSettings clientSettings(
      MongoSettings settings, DatabaseWatch watch, List<CommandListener> listeners) {
    MongoSettings.Pool pool = settings.pool();
    MongoClientSettings.Builder builder =
        MongoClientSettings.builder()
            .applicationName("acmeair")
            .codecRegistry(INSTANTS)
            // A request issues the commands of its operation and no others.
            .retryReads(false)
            .retryWrites(false)
            .applyToClusterSettings(
                cluster ->
                    cluster
                        .hosts(List.of(new ServerAddress(settings.host(), settings.port())))
                        .serverSelectionTimeout(pool.selectMillis(), TimeUnit.MILLISECONDS)
                        .addClusterListener(watch))
            .applyToServerSettings(
                server -> server.heartbeatFrequency(HEARTBEAT_SECONDS, TimeUnit.SECONDS))
            .applyToConnectionPoolSettings(
                connections ->
                    connections
                        .maxSize(pool.most())
                        .minSize(pool.least())
                        .maxConnectionIdleTime(pool.idleMillis(), TimeUnit.MILLISECONDS)
                        .maxWaitTime(pool.waitMillis(), TimeUnit.MILLISECONDS))
            .applyToSocketSettings(
                socket ->
                    socket
                        .connectTimeout(pool.connectMillis(), TimeUnit.MILLISECONDS)
                        .readTimeout(pool.readMillis(), TimeUnit.MILLISECONDS))
            .applyToSslSettings(tls -> tls.enabled(settings.tls()));
    settings
        .credentials()
        .ifPresent(
            known ->
                builder.credential(
                    MongoCredential.createCredential(
                        known.user(), known.database(), known.password().toCharArray())));
    listeners.forEach(builder::addCommandListener);
    return builder.build();
  }

  /** The database, for as long as this connection is open. */
  public MongoDatabase database() {
    return database;
  }

  /** Whether the database answered when it was last looked at, some two seconds ago at most. */
  public boolean up() {
    return watch.up();
  }

  /** What the server calls its version, or nothing while it does not answer. */
  public Optional<String> serverVersion() {
    if (!up()) {
      return Optional.empty();
    }
    try {
      return Optional.ofNullable(
          database.runCommand(new Document("buildInfo", 1)).getString("version"));
    } catch (MongoException e) {
      return Optional.empty();
    }
  }

  /** What was asked for. */
  public MongoSettings settings() {
    return settings;
  }

  @Override
  public void close() {
    client.close();
  }
}
