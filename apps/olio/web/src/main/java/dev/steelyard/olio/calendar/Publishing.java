// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import dev.steelyard.olio.Refused;
import dev.steelyard.olio.Stats;
import dev.steelyard.olio.calendar.Forms.EventForm;
import dev.steelyard.olio.calendar.Forms.PersonForm;
import dev.steelyard.olio.calendar.Forms.Place;
import dev.steelyard.olio.calendar.Forms.StoredFiles;
import dev.steelyard.olio.entities.Person;
import dev.steelyard.olio.entities.SocialEvent;
import dev.steelyard.olio.files.Filestore;
import dev.steelyard.olio.files.StoredName;
import dev.steelyard.olio.files.Uploads;
import dev.steelyard.olio.population.FileKind;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.persistence.PersistenceException;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Adding and changing persons and events with their files: the row first, whose key names the
 * files, then the files and the geocoder, then the rest of the row. If any of it fails, nothing is
 * added: a row without the rest would take the user name for good, or be an event without a time.
 */
@ApplicationScoped
public class Publishing {

  /** The files that were sent beside the form; null for one that was not. */
  public static final class UploadedFiles {

    private final byte[] picture;
    private final byte[] document;
    private final String documentExtension;

    public UploadedFiles(byte[] picture, byte[] document, String documentExtension) {
      this.picture = picture;
      this.document = document;
      this.documentExtension = documentExtension;
    }
  }

  private static final Logger LOG = Logger.getLogger(Publishing.class.getName());

  private Events events;
  private Filestore filestore;
  private Fragments fragments;
  private GeocoderClient geocoder;
  private Persons persons;
  private Stats stats;

  /** For the container. */
  protected Publishing() {}

  @Inject
  Publishing(
      Events events,
      Filestore filestore,
      Fragments fragments,
      GeocoderClient geocoder,
      Persons persons,
      Stats stats) {
    this.events = events;
    this.filestore = filestore;
    this.fragments = fragments;
    this.geocoder = geocoder;
    this.persons = persons;
    this.stats = stats;
  }

  /** Registers a person with a picture. */
  public void register(PersonForm form, UploadedFiles sent) {
    byte[] thumbnail = Uploads.thumbnail(sent.picture);
    int id = created(form);
    StoredFiles names = names(id, FileKind.PERSON, FileKind.PERSON_THUMBNAIL, sent);
    boolean done = false;
    try {
      StoredFiles files = store(names, sent, thumbnail);
      persons.complete(id, form, geocoder.locate(form.address()), files);
      done = true;
    } catch (IOException e) {
      throw notStored(e);
    } finally {
      if (!done) {
        undo("person " + id, () -> persons.remove(id), names);
      }
    }
    stats.add(Stats.Count.PERSONS_ADDED);
  }

  private int created(PersonForm form) {
    try {
      return persons.create(form);
    } catch (PersistenceException e) {
      // Somebody else was a moment earlier.
      if (persons.find(form.userName()).isPresent()) {
        throw Refused.taken("The user name " + form.userName() + " is taken.");
      }
      throw e;
    }
  }

  /** Changes a profile; the picture stays if none is sent. */
  public void change(Person person, PersonForm form, UploadedFiles sent) {
    byte[] thumbnail = sent.picture == null ? null : Uploads.thumbnail(sent.picture);
    try {
      StoredFiles names = names(person.getId(), FileKind.PERSON, FileKind.PERSON_THUMBNAIL, sent);
      StoredFiles files = store(names, sent, thumbnail);
      persons.change(person.getId(), form, geocoder.locate(form.address()), files);
    } catch (IOException e) {
      throw notStored(e);
    }
  }

  /**
   * Posts an event with a picture, and a document if there is one.
   *
   * @return its key
   */
  public int post(EventForm form, String submitter, UploadedFiles sent) {
    byte[] thumbnail = Uploads.thumbnail(sent.picture);
    int id = Conflicts.retry(stats, () -> events.create(form, submitter));
    StoredFiles names = names(id, FileKind.EVENT, FileKind.EVENT_THUMBNAIL, sent);
    boolean done = false;
    try {
      StoredFiles files = store(names, sent, thumbnail);
      events.complete(id, form, geocoder.locate(form.address()), files);
      done = true;
    } catch (IOException e) {
      throw notStored(e);
    } finally {
      if (!done) {
        undo(
            "event " + id, () -> Conflicts.retry(stats, () -> events.delete(id, submitter)), names);
      }
    }
    stats.add(Stats.Count.EVENTS_ADDED);
    fragments.clear();
    return id;
  }

  /**
   * Takes back what was added before the rest of it failed. If that fails as well, the log says so:
   * who asked is told what failed first.
   */
  private void undo(String what, Runnable row, StoredFiles files) {
    try {
      row.run();
    } catch (RuntimeException e) {
      LOG.log(
          Level.WARNING, "The row of {0} is left without the rest: {1}", new Object[] {what, e});
    }
    remove(what, files.image(), files.thumbnail(), files.literature());
  }

  private void remove(String what, String... names) {
    try {
      for (String name : names) {
        filestore.remove(name);
      }
    } catch (IOException e) {
      LOG.log(Level.WARNING, "Files of " + what + " are left", e);
    }
  }

  /** Changes an event of somebody's own; files stay if none are sent. */
  public void change(int id, String user, EventForm form, UploadedFiles sent) {
    events.ownedBy(user, id);
    byte[] thumbnail = sent.picture == null ? null : Uploads.thumbnail(sent.picture);
    try {
      StoredFiles names = names(id, FileKind.EVENT, FileKind.EVENT_THUMBNAIL, sent);
      StoredFiles files = store(names, sent, thumbnail);
      Place place = geocoder.locate(form.address());
      Conflicts.retry(stats, () -> events.update(id, user, form, place, files));
    } catch (IOException e) {
      throw notStored(e);
    }
    fragments.clear();
  }

  /** Deletes an event of somebody's own, with the files that were uploaded for it. */
  public void delete(int id, String user) {
    SocialEvent event = Conflicts.retry(stats, () -> events.delete(id, user));
    remove("event " + id, event.getImage(), event.getThumbnail(), event.getLiterature());
    fragments.clear();
  }

  /** How the files that were sent are called. */
  private static StoredFiles names(
      int id, FileKind pictures, FileKind thumbnails, UploadedFiles sent) {
    boolean pictured = sent.picture != null;
    return new StoredFiles(
        pictured ? StoredName.upload(pictures, id, "jpg").text() : null,
        pictured ? StoredName.upload(thumbnails, id, "jpg").text() : null,
        sent.document == null
            ? null
            : StoredName.upload(FileKind.LITERATURE, id, sent.documentExtension).text());
  }

  /** Those of a row that was there before stay if not all can be stored: it names them. */
  private StoredFiles store(StoredFiles names, UploadedFiles sent, byte[] thumbnail)
      throws IOException {
    Map<StoredName, byte[]> files = new LinkedHashMap<>();
    int uploads = 0;
    if (sent.picture != null) {
      files.put(named(names.image()), sent.picture);
      files.put(named(names.thumbnail()), thumbnail);
      uploads++;
    }
    if (sent.document != null) {
      files.put(named(names.literature()), sent.document);
      uploads++;
    }
    filestore.store(files);
    for (; uploads > 0; uploads--) {
      stats.add(Stats.Count.UPLOADS);
    }
    return names;
  }

  private static StoredName named(String text) {
    return StoredName.parse(text).orElseThrow();
  }

  private static Refused notStored(IOException e) {
    LOG.log(Level.WARNING, "The filestore did not take a file: {0}", e.toString());
    return Refused.notStored(e);
  }
}
