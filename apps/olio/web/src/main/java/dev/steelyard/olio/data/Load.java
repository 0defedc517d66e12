// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.data;

import dev.steelyard.bench.database.Database;
import dev.steelyard.olio.Settings;
import dev.steelyard.olio.population.Names;
import dev.steelyard.olio.population.Scale;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.PersistenceUnit;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/** Drops, makes and fills the tables, several at a time; and tells what they were filled with. */
@ApplicationScoped
public class Load {

  private static final int HASH_DIGITS = 16;
  private static final int TABLES_AT_ONCE = 4;

  @Inject private Database database;
  @Inject private Settings settings;
  @Inject private Tables tables;

  @PersistenceUnit(unitName = "olio")
  private EntityManagerFactory entities;

  /** The hash of the data, or nothing while there is none. */
  public Optional<String> hash() {
    try {
      return tables.exist()
          ? Optional.ofNullable(
              database.run(
                  connection ->
                      Database.one(
                          connection, row -> row.getString(1), "SELECT HASH FROM DATASET")))
          : Optional.empty();
    } catch (OlioDatabase.Failure unreachable) {
      return Optional.empty();
    }
  }

  /**
   * Loads the data anew. One at a time.
   *
   * @param progress is told lines for people
   * @return the hash of the data
   */
  public synchronized String run(Consumer<String> progress) {
    Scale scale = settings.scale();
    progress.accept(
        "Loading for %d users: %d persons, %d events, %d tags"
            .formatted(scale.users(), scale.persons(), scale.events(), scale.tags()));
    tables.make();
    Population population = new Population(scale, settings.seed(), settings.today());
    List<TableLoad> loads = loads(population, scale);
    List<TableLoad.Filled> filled = inParallel(loads, progress);
    progress.accept("Adding keys and indexes");
    tables.addKeys();
    MessageDigest all = TableLoad.sha256();
    filled.forEach(each -> all.update(each.hash().getBytes(StandardCharsets.US_ASCII)));
    String hash = HexFormat.of().formatHex(all.digest()).substring(0, HASH_DIGITS);
    int attendances = filled.get(loads.size() - 1).rows();
    database.run(
        connection ->
            Database.update(connection, "INSERT INTO DATASET VALUES (?, ?)", hash, attendances));
    // What was read of the tables before is gone.
    entities.getCache().evictAll();
    return hash;
  }

  /** All tables; the last is that of attendances. */
  static List<TableLoad> loads(Population population, Scale scale) {
    int[] references = population.references();
    int persons = scale.persons();
    int events = scale.events();
    return List.of(
        TableLoad.oneEach("PERSON", 12, persons, population::person),
        new TableLoad("COMMENTS_RATING", 6, events, population::comments, true),
        TableLoad.oneEach("SOCIALEVENT", 15, events, population::event),
        TableLoad.oneEach("ADDRESS", 9, persons, population::address),
        TableLoad.oneEach(
            "SOCIALEVENTTAG",
            3,
            scale.tags(),
            tag -> new Object[] {tag, Names.of(tag), references[tag]}),
        new TableLoad("SOCIALEVENTTAG_SOCIALEVENT", 2, events, population::tagLinks, false),
        new TableLoad("INVITATION", 4, persons, population::invitations, true),
        new TableLoad("PERSON_PERSON", 2, persons, population::friends, false),
        new TableLoad("PERSON_SOCIALEVENT", 2, events, population::attendances, false));
  }

  private List<TableLoad.Filled> inParallel(List<TableLoad> loads, Consumer<String> progress) {
    ExecutorService threads = Executors.newFixedThreadPool(TABLES_AT_ONCE);
    try {
      List<Future<TableLoad.Filled>> running = new ArrayList<>();
      for (TableLoad load : loads) {
        running.add(
            threads.submit(
                () -> {
                  TableLoad.Filled filled = load.run(database);
                  progress.accept("%s: %d rows".formatted(load.table(), filled.rows()));
                  return filled;
                }));
      }
      List<TableLoad.Filled> filled = new ArrayList<>();
      for (Future<TableLoad.Filled> each : running) {
        filled.add(each.get());
      }
      return filled;
    } catch (ExecutionException e) {
      throw new IllegalStateException("A table could not be filled: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("The load was interrupted", e);
    } finally {
      threads.shutdownNow();
    }
  }
}
