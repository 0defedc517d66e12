// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.steelyard.olio.Refused;
import dev.steelyard.olio.Stats;
import dev.steelyard.olio.calendar.Forms.AddressForm;
import dev.steelyard.olio.calendar.Forms.EventForm;
import dev.steelyard.olio.calendar.Forms.PersonForm;
import dev.steelyard.olio.calendar.Forms.Place;
import dev.steelyard.olio.calendar.Forms.StoredFiles;
import dev.steelyard.olio.entities.SocialEvent;
import dev.steelyard.olio.files.Filestore;
import dev.steelyard.olio.files.StoredName;
import dev.steelyard.olio.population.FileKind;
import dev.steelyard.olio.population.FileSizes;
import jakarta.persistence.PersistenceException;
import java.io.IOException;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is left where a step after the first fails: nothing. */
final class PublishingTest {

  private static final int ID = 10_000_051;
  private static final AddressForm ADDRESS = new AddressForm("1 A St", "", "B", "CD", "1", "USA");
  private static final PersonForm PERSON =
      new PersonForm("ada", "a", "Ada", "Byron", "a@b", "1", "writes", "UTC", ADDRESS);
  private static final EventForm EVENT =
      new EventForm(
          "party",
          "all",
          "come",
          "1",
          LocalDateTime.of(2026, 7, 4, 20, 15),
          new TreeSet<>(Set.of("fun")),
          ADDRESS);

  /** Rows and files that are there. */
  private final Set<String> there = new TreeSet<>();

  private final Stats stats = new Stats();
  private final PersistenceException noConnection = new PersistenceException("the pool timed out");
  private PersistenceException createFailure;
  private int attempts;
  private boolean full;
  private boolean undone = true;

  private final class Rows extends Persons {
    @Override
    public int create(PersonForm form) {
      there.add("person");
      return ID;
    }

    @Override
    public void complete(int id, PersonForm form, Place place, StoredFiles files) {
      assertEquals(Set.of("person", "P10000051.jpg", "P10000051T.jpg"), there);
      throw noConnection;
    }

    @Override
    public void remove(int id) {
      assertEquals(ID, id);
      if (!undone) {
        throw new PersistenceException("nor now");
      }
      there.remove("person");
    }
  }

  private final class Calendar extends Events {
    @Override
    public int create(EventForm form, String submitter) {
      attempts++;
      if (createFailure != null && attempts < 3) {
        throw createFailure;
      }
      there.add("event");
      return ID;
    }

    @Override
    public void complete(int id, EventForm form, Place place, StoredFiles files) {
      assertEquals(4, there.size(), there::toString);
      throw noConnection;
    }

    @Override
    public SocialEvent ownedBy(String user, int id) {
      return new SocialEvent();
    }

    @Override
    public SocialEvent delete(int id, String user) {
      assertEquals(ID, id);
      assertEquals("ada", user);
      there.remove("event");
      return new SocialEvent();
    }
  }

  private final class Store extends Filestore {
    @Override
    public void store(Map<StoredName, byte[]> files) throws IOException {
      if (full) {
        throw new IOException("No space left on device");
      }
      files.keySet().forEach(name -> there.add(name.text()));
    }

    @Override
    public void remove(String text) {
      if (text != null) {
        there.remove(text);
      }
    }
  }

  private static final class Nowhere extends GeocoderClient {
    @Override
    public Place locate(AddressForm address) {
      return Place.UNKNOWN;
    }
  }

  private final Publishing publishing =
      new Publishing(
          new Calendar(),
          new Store(),
          new Fragments(false, stats, () -> 0),
          new Nowhere(),
          new Rows(),
          stats);

  private static Publishing.UploadedFiles sent() {
    byte[] picture = FileKind.EVENT.content(FileSizes.SMALL);
    return new Publishing.UploadedFiles(picture, new byte[] {1}, "pdf");
  }

  private static Publishing.UploadedFiles picture() {
    return new Publishing.UploadedFiles(FileKind.PERSON.content(FileSizes.SMALL), null, null);
  }

  @Test
  void aPersonWhoseRestIsNotStoredIsGone() {
    Throwable told =
        assertThrows(PersistenceException.class, () -> publishing.register(PERSON, picture()));
    assertSame(noConnection, told);
    assertEquals(Set.of(), there);
    assertEquals(0, stats.get(Stats.Count.PERSONS_ADDED));
  }

  @Test
  void whatFailedFirstIsToldEvenIfItCannotBeUndone() {
    undone = false;
    Throwable told =
        assertThrows(PersistenceException.class, () -> publishing.register(PERSON, picture()));
    assertSame(noConnection, told);
    assertEquals(Set.of("person"), there);
  }

  @Test
  void anEventWhoseRestIsNotStoredIsGone() {
    Throwable told =
        assertThrows(PersistenceException.class, () -> publishing.post(EVENT, "ada", sent()));
    assertSame(noConnection, told);
    assertEquals(Set.of(), there);
    assertEquals(0, stats.get(Stats.Count.EVENTS_ADDED));
  }

  @ParameterizedTest
  @CsvSource({"23505, 3", "40001, 3", "40P01, 3", "08006, 1", "57014, 1", ", 1"})
  void onlyWhatAnotherTransactionWasInTheWayOfIsDoneAgain(String state, int expected) {
    createFailure =
        new PersistenceException(new IllegalStateException(new SQLException("no", state)));
    Throwable told =
        assertThrows(PersistenceException.class, () -> publishing.post(EVENT, "ada", sent()));
    assertSame(expected == 1 ? createFailure : noConnection, told);
    assertEquals(expected, attempts);
    assertEquals(expected - 1, stats.get(Stats.Count.TRANSACTIONS_REPEATED));
  }

  @Test
  void withAFullFilestoreNothingIsAdded() {
    full = true;
    assertThrows(Refused.class, () -> publishing.register(PERSON, picture()));
    assertThrows(Refused.class, () -> publishing.post(EVENT, "ada", sent()));
    assertEquals(Set.of(), there);
  }

  @Test
  void anEventThatCannotBeChangedKeepsItsFiles() {
    Set<String> files = Set.of("E10000051.jpg", "E10000051T.jpg", "E10000051L.pdf");
    there.addAll(files);
    full = true;
    assertThrows(Refused.class, () -> publishing.change(ID, "ada", EVENT, sent()));
    assertEquals(files, there);
  }
}
