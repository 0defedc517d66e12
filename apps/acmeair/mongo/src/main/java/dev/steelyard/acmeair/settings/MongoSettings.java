// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.settings;

import dev.steelyard.bench.settings.Environment;
import dev.steelyard.bench.settings.SettingsException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Where the database is and how to talk to it.
 *
 * @param host name or address
 * @param port TCP port
 * @param database the name of the database
 * @param credentials user and password, or nothing where the server asks for none
 * @param tls whether to use TLS
 * @param pool the connections
 */
public record MongoSettings(
    String host,
    int port,
    String database,
    Optional<Credentials> credentials,
    boolean tls,
    Pool pool) {

  /**
   * A user of the database.
   *
   * @param user name
   * @param password in clear text
   * @param database where the user is known
   */
  public record Credentials(String user, String password, String database) {

    @Override
    public String toString() {
      return "Credentials[" + user + "]";
    }
  }

  /**
   * The driver's pool and time limits, all times in milliseconds.
   *
   * @param most connections at once
   * @param least connections that are kept open
   * @param idleMillis after which an unused connection is closed; 0 for never
   * @param waitMillis for a free connection
   * @param connectMillis for a new connection
   * @param readMillis for an answer
   * @param selectMillis for a server that answers at all
   */
  public record Pool(
      int most,
      int least,
      int idleMillis,
      int waitMillis,
      int connectMillis,
      int readMillis,
      int selectMillis) {

    @Override
    public String toString() {
      return "%d..%d connections, idle %d, wait %d, connect %d, read %d, select %d ms"
          .formatted(least, most, idleMillis, waitMillis, connectMillis, readMillis, selectMillis);
    }
  }

  private static final int ANY = Integer.MAX_VALUE;

  /**
   * Reads {@code MONGO_HOST}, {@code MONGO_PORT}, {@code MONGO_DATABASE} or {@code MONGO_DBNAME},
   * {@code MONGO_USERNAME} or {@code MONGO_USER}, {@code MONGO_PASSWORD} or {@code
   * MONGO_PASSWORD_FILE}, {@code MONGO_AUTHSOURCE} (the database that knows the user, by default
   * the one of the data), {@code MONGO_SSLENABLED}, {@code MONGO_CONNECTIONSPERHOST}, {@code
   * MONGO_MINCONNECTIONSPERHOST}, {@code MONGO_MAXCONNECTIONIDLETIME}, {@code MONGO_MAXWAITTIME},
   * {@code MONGO_CONNECTTIMEOUT}, {@code MONGO_SOCKETTIMEOUT} and {@code
   * MONGO_SERVERSELECTIONTIMEOUT}.
   *
   * <p>Pool sizes default to the driver's. Its time limits would hold a request for half a minute
   * and more while the database is away; these defaults give up after seconds.
   *
   * @param preset the database's name where none is given
   * @throws SettingsException for a value that cannot be used
   */
  public static MongoSettings read(Map<String, String> variables, String preset) {
    Environment environment = new Environment(variables);
    int most = environment.number("MONGO_CONNECTIONSPERHOST", 100, 1, 10_000);
    String database = environment.text("MONGO_DATABASE", "MONGO_DBNAME").orElse(preset);
    return new MongoSettings(
        environment.text("MONGO_HOST").orElse("localhost"),
        environment.number("MONGO_PORT", 27017, 1, 65535),
        database,
        credentials(environment, database),
        environment.flag("MONGO_SSLENABLED", false),
        new Pool(
            most,
            environment.number("MONGO_MINCONNECTIONSPERHOST", 0, 0, most),
            environment.number("MONGO_MAXCONNECTIONIDLETIME", 0, 0, ANY),
            environment.number("MONGO_MAXWAITTIME", 10_000, 1, ANY),
            environment.number("MONGO_CONNECTTIMEOUT", 2_000, 1, ANY),
            environment.number("MONGO_SOCKETTIMEOUT", 15_000, 0, ANY),
            environment.number("MONGO_SERVERSELECTIONTIMEOUT", 3_000, 1, ANY)));
  }

  private static Optional<Credentials> credentials(Environment environment, String database) {
    Optional<String> user = environment.text("MONGO_USERNAME", "MONGO_USER");
    Optional<String> password = environment.text("MONGO_PASSWORD");
    if (password.isEmpty()) {
      password = environment.text("MONGO_PASSWORD_FILE").map(MongoSettings::firstLine);
    }
    if (user.isPresent() != password.isPresent()) {
      throw new SettingsException(
          "MONGO_USERNAME and MONGO_PASSWORD belong together: set both or neither.");
    }
    String known = environment.text("MONGO_AUTHSOURCE").orElse(database);
    String word = password.orElse("");
    return user.map(name -> new Credentials(name, word, known));
  }

  private static String firstLine(String file) {
    try (BufferedReader lines = Files.newBufferedReader(Path.of(file))) {
      String line = lines.readLine();
      if (line != null && !line.isBlank()) {
        return line.strip();
      }
    } catch (IOException | InvalidPathException e) {
      // Refused below.
    }
    throw new SettingsException(
        "MONGO_PASSWORD_FILE is '%s': set it to a file with the password.".formatted(file));
  }

  /** {@code host:port/database}. */
  public String address() {
    return host + ":" + port + "/" + database;
  }
}
