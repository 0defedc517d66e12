// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.embeddedmongo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.Updates;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The server, asked by MongoDB's own driver. */
final class EmbeddedMongoTest {

  private static final int PEOPLE = 300;
  private static final int CITIES = 7;

  private final EmbeddedMongo server = EmbeddedMongo.start("127.0.0.1", 0);
  private final MongoClient client = Clients.of("", server.port(), "&retryWrites=false");
  private final MongoCollection<Document> people =
      client.getDatabase("test").getCollection("people");

  @BeforeEach
  void load() {
    List<Document> documents = new ArrayList<>();
    IntStream.range(0, PEOPLE)
        .forEach(
            n ->
                documents.add(
                    new Document("_id", n).append("city", "c" + n % CITIES).append("age", n % 50)));
    people.insertMany(documents);
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  /** Netty warns on standard error where a host has none, and what reads that takes it for ours. */
  @Test
  void looksForNoHardwareAddress() {
    assertTrue(System.getProperty("io.netty.machineId", "").contains(":"));
  }

  @Test
  void anIndexChangesNoAnswerWhateverHappensToTheDocuments() {
    List<Bson> queries =
        List.of(
            Filters.eq("city", "c3"),
            Filters.eq("city", null),
            Filters.eq("city", "nowhere"),
            Filters.and(Filters.eq("city", "c3"), Filters.eq("age", 10)),
            Filters.and(Filters.eq("age", 10), Filters.eq("city", "c3")),
            Filters.in("city", "c1", "c3"),
            Filters.gt("city", "c4"),
            Filters.regex("city", "^c[12]$"),
            Filters.eq("age", 10.0),
            Filters.eq(42));
    List<Set<Integer>> scanned = answers(queries);

    people.createIndex(Indexes.ascending("city"));
    people.createIndex(Indexes.ascending("city", "age"));
    assertEquals(scanned, answers(queries));

    people.updateMany(Filters.eq("city", "c3"), Updates.set("city", "c1"));
    people.updateOne(Filters.eq(5), Updates.unset("city"));
    people.updateMany(Filters.lt("_id", 20), Updates.inc("age", 1));
    people.deleteMany(Filters.eq("city", "c2"));
    people.insertOne(new Document("_id", -1).append("city", "c3").append("age", 10));
    List<Set<Integer>> indexed = answers(queries);
    people.dropIndexes();
    assertEquals(answers(queries), indexed);
    assertEquals(Set.of(-1), indexed.get(0));
    assertEquals(Set.of(5), indexed.get(1));
  }

  @Test
  void anIndexIsListedAndEmptiedWithItsCollection() {
    people.createIndex(Indexes.ascending("city"));
    List<String> names = new ArrayList<>();
    people.listIndexes().forEach(index -> names.add(index.getString("name")));
    assertEquals(List.of("_id_", "city_1"), names);

    people.deleteMany(new Document());
    assertEquals(0, people.countDocuments());
    assertEquals(Set.of(), answers(List.of(Filters.eq("city", "c1"))).get(0));
    load();
    assertTrue(answers(List.of(Filters.eq("city", "c1"))).get(0).contains(1));
  }

  private List<Set<Integer>> answers(List<Bson> queries) {
    List<Set<Integer>> answers = new ArrayList<>();
    for (Bson query : queries) {
      Set<Integer> ids = new TreeSet<>();
      people.find(query).forEach(person -> ids.add(person.getInteger("_id")));
      answers.add(ids);
    }
    return answers;
  }
}
