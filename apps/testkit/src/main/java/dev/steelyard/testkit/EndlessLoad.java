// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.steelyard.testkit.Browser.Answer;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Users who have a server write rows without end, whatever they are answered, while something is
 * killed; and what they were told. What was acknowledged must be there afterwards, once.
 */
public final class EndlessLoad {

  /** What a user does again and again. */
  @FunctionalInterface
  public interface Step {
    /** Does it once. */
    void run() throws IOException, InterruptedException;
  }

  /** A user comes. */
  @FunctionalInterface
  public interface Arrival {
    /** Does what is done once, and says what is done from then on. */
    Step of(EndlessLoad load, int user) throws IOException, InterruptedException;
  }

  /** What is killed: it goes at once, with nothing written in order, and can be started again. */
  public interface Target {
    /** Kills it (SIGKILL), and waits until its processes have ended. */
    void kill() throws IOException, InterruptedException;

    /** Starts it again, and waits until it takes connections. */
    void start() throws IOException, InterruptedException;
  }

  private final Queue<String> acknowledged = new ConcurrentLinkedQueue<>();
  private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
  private final Queue<Integer> refused = new ConcurrentLinkedQueue<>();
  private final List<Future<Void>> sessions = new ArrayList<>();
  private volatile boolean ended;

  /**
   * Starts it.
   *
   * @param users from 0 on
   */
  public EndlessLoad(int users, Arrival arrival) {
    ExecutorService threads = Executors.newFixedThreadPool(users);
    for (int user = 0; user < users; user++) {
      int number = user;
      sessions.add(threads.submit(() -> repeat(arrival, number)));
    }
    threads.shutdown();
  }

  private Void repeat(Arrival arrival, int user) throws IOException, InterruptedException {
    Step step = arrival.of(this, user);
    while (!ended) {
      step.run();
    }
    return null;
  }

  /** A user was told the key of a row. */
  public void acknowledge(String key) {
    acknowledged.add(key);
  }

  /** A user was told of no row: an error of the server may be, any other answer is wrong. */
  public void refuse(Answer answer) {
    if (answer.status() >= 500) {
      refused.add(answer.status());
    } else {
      wrong.add(answer.status() + ": " + answer.body());
    }
  }

  /** How many rows users were told of. */
  public int size() {
    return acknowledged.size();
  }

  /** Waits until users were told of so many more rows. */
  public void await(int more) throws IOException, InterruptedException {
    int before = size();
    Waiting.await(more + " more rows", () -> size() >= before + more);
  }

  /**
   * Kills a database, once so many rows were written, and starts it again for as many.
   *
   * @return how long after the database took connections again a user was told of a row
   */
  public Duration killAndRestart(Target database, int rows) throws Exception {
    await(rows);
    database.kill();
    Waiting.await("the load meets the dead database", () -> !refused.isEmpty());
    database.start();
    int before = size();
    Duration recovered = Waiting.time("a user is told of a row again", () -> size() > before);
    await(rows);
    end();
    return recovered;
  }

  /** All users go; one whose step has failed fails the test. */
  public void end() throws Exception {
    ended = true;
    for (Future<Void> session : sessions) {
      session.get();
    }
  }

  /** Each user has gone because the server was gone, and for no other reason. */
  public void awaitKilledServer() {
    for (Future<Void> session : sessions) {
      Throwable end = assertThrows(ExecutionException.class, session::get).getCause();
      assertInstanceOf(IOException.class, end, () -> "not by the kill: " + end);
    }
  }

  /**
   * Every row that users were told of is there, none was told of twice, and no answer was anything
   * but right or an error.
   *
   * @param sql the keys of the rows that are there with all that belongs to them
   */
  public void assertAllThere(Connection connection, String sql) throws SQLException {
    assertAllThere(keys(connection, sql));
  }

  /**
   * Every row that users were told of is there, none was told of twice, and no answer was anything
   * but right or an error.
   *
   * @param there the keys of the rows that are there
   */
  public void assertAllThere(Set<String> there) {
    assertEquals(List.of(), List.copyOf(wrong), "answers that are neither right nor errors");
    Set<String> lost = new HashSet<>(acknowledged);
    assertEquals(acknowledged.size(), lost.size(), "a key was given twice");
    lost.removeAll(there);
    assertEquals(Set.of(), lost, "rows that users were told of");
  }

  /** How many of the rows that users were told of a query finds. */
  public long count(Connection connection, String sql) throws SQLException {
    return keys(connection, sql).stream().filter(acknowledged::contains).count();
  }

  /** What a query has in its first column. */
  public static Set<String> keys(Connection connection, String sql) throws SQLException {
    Set<String> keys = new HashSet<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        keys.add(rows.getString(1));
      }
    }
    return keys;
  }
}
