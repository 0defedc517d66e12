// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import dev.steelyard.bench.database.Database;
import dev.steelyard.olio.entities.Tag;
import dev.steelyard.olio.entities.TagLink;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import jakarta.persistence.Query;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Words by which events are found. */
@ApplicationScoped
public class Tags {

  /** Tags in the cloud. */
  private static final int CLOUD = 50;

  @PersistenceContext(unitName = "olio")
  private EntityManager entities;

  @Inject private Database database;

  /** The tags that most events have, in alphabetical order. */
  @InTransaction
  public List<Tag> cloud() {
    List<Tag> tags =
        new ArrayList<>(
            dirty("ORDER BY REFCOUNT DESC, SOCIALEVENTTAGID FETCH FIRST " + CLOUD + " ROWS ONLY"));
    tags.sort(Comparator.comparing(Tag::getWord));
    return tags;
  }

  /**
   * Tags by a statement that waits for no lock. Several tags are read in another order than who
   * posts an event changes them in: two who wait for each other would be one failure, seconds
   * later.
   */
  @SuppressWarnings("unchecked") // A native query of a class has its type.
  private List<Tag> dirty(String rest, Object... values) {
    Query query =
        entities.createNativeQuery(
            database.dialect().unlocked("SELECT * FROM SOCIALEVENTTAG " + rest), Tag.class);
    for (int i = 0; i < values.length; i++) {
      query.setParameter(i + 1, values[i]);
    }
    return query.getResultList();
  }

  Optional<Tag> byWord(String word) {
    return entities
        .createQuery("SELECT t FROM Tag t WHERE t.word = :word", Tag.class)
        .setParameter("word", word)
        .getResultStream()
        .findFirst();
  }

  List<Tag> of(int event) {
    return dirty(
        "WHERE SOCIALEVENTTAGID IN (SELECT SOCIALEVENTTAGID FROM SOCIALEVENTTAG_SOCIALEVENT"
            + " WHERE SOCIALEVENTID = ?) ORDER BY TAG",
        event);
  }

  /**
   * Gives an event these tags, of which some may be new; in one order, so that nobody waits in a
   * circle.
   */
  void add(int event, Collection<String> words) {
    if (words.isEmpty()) {
      return;
    }
    // One that is not committed, and never will be, breaks the link's foreign key: who calls tries
    // again.
    List<Tag> known =
        dirty(
            "WHERE TAG IN ("
                + String.join(", ", Collections.nCopies(words.size(), "?"))
                + ") ORDER BY SOCIALEVENTTAGID",
            words.toArray());
    Set<String> unknown = new HashSet<>(words);
    List<TagLink> links = new ArrayList<>();
    for (Tag tag : known) {
      unknown.remove(tag.getWord());
      entities
          .createQuery("UPDATE Tag t SET t.references = t.references + 1 WHERE t.id = :id")
          .setParameter("id", tag.getId())
          .executeUpdate();
      links.add(new TagLink(tag.getId(), event));
    }
    for (String word : unknown.stream().sorted().toList()) {
      Tag tag = new Tag();
      tag.setWord(word);
      tag.setReferences(1);
      entities.persist(tag);
      links.add(new TagLink(tag.getId(), event));
    }
    entities.flush();
    links.forEach(entities::persist);
    entities.flush();
  }

  /** Takes an event's tags away; a tag that no event has any more is removed. */
  void removeAll(int event) {
    List<Tag> tags = of(event);
    entities
        .createQuery("DELETE FROM TagLink l WHERE l.eventId = :event")
        .setParameter("event", event)
        .executeUpdate();
    for (Tag tag : tags.stream().sorted(Comparator.comparing(Tag::getId)).toList()) {
      entities
          .createQuery("UPDATE Tag t SET t.references = t.references - 1 WHERE t.id = :id")
          .setParameter("id", tag.getId())
          .executeUpdate();
      entities
          .createQuery("DELETE FROM Tag t WHERE t.id = :id AND t.references = 0")
          .setParameter("id", tag.getId())
          .executeUpdate();
    }
  }
}
