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
import java.util.function.IntSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Adding and changing persons and events with their files: the row first, whose key names the
 * files, then the files and the geocoder, then the rest of the row. If a file cannot be stored,
 * nothing is added.
 */
@ApplicationScoped
public class Publishing {

  /** The files that were sent beside the form; null for one that was not. */
  public static final class Sent {

    private final byte[] picture;
    private final byte[] document;
    private final String documentExtension;

    public Sent(byte[] picture, byte[] document, String documentExtension) {
      this.picture = picture;
      this.document = document;
      this.documentExtension = documentExtension;
    }
  }

  private static final Logger LOG = Logger.getLogger(Publishing.class.getName());

  /** Of many who post at once with the same new tags, one gets through each time. */
  private static final int MOST_ATTEMPTS = 10;

  @Inject private Events events;
  @Inject private Filestore filestore;
  @Inject private Fragments fragments;
  @Inject private GeocoderClient geocoder;
  @Inject private Persons persons;
  @Inject private Stats stats;

  /** Registers a person with a picture. */
  public void register(PersonForm form, Sent sent) {
    byte[] thumbnail = Uploads.thumbnail(sent.picture);
    int id = created(form);
    try {
      StoredFiles files = store(id, FileKind.PERSON, FileKind.PERSON_THUMBNAIL, sent, thumbnail);
      persons.complete(id, form, geocoder.locate(form.address()), files);
    } catch (IOException e) {
      persons.remove(id);
      throw notStored(e);
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
  public void change(Person person, PersonForm form, Sent sent) {
    byte[] thumbnail = sent.picture == null ? null : Uploads.thumbnail(sent.picture);
    try {
      StoredFiles files =
          store(person.getId(), FileKind.PERSON, FileKind.PERSON_THUMBNAIL, sent, thumbnail);
      persons.complete(person.getId(), form, geocoder.locate(form.address()), files);
    } catch (IOException e) {
      throw notStored(e);
    }
  }

  /**
   * Posts an event with a picture, and a document if there is one.
   *
   * @return its key
   */
  public int post(EventForm form, String submitter, Sent sent) {
    byte[] thumbnail = Uploads.thumbnail(sent.picture);
    int id = again(() -> events.create(form, submitter));
    try {
      StoredFiles files = store(id, FileKind.EVENT, FileKind.EVENT_THUMBNAIL, sent, thumbnail);
      events.complete(id, form, geocoder.locate(form.address()), files);
    } catch (IOException e) {
      events.delete(id, submitter);
      throw notStored(e);
    }
    stats.add(Stats.Count.EVENTS_ADDED);
    fragments.clear();
    return id;
  }

  /**
   * Does something with an event's tags, again if it fails: somebody else has made one of its new
   * tags a moment earlier, which is a known one now, or has not made one after all that was seen.
   */
  private static int again(IntSupplier work) {
    for (int left = MOST_ATTEMPTS - 1; true; left--) {
      try {
        return work.getAsInt();
      } catch (PersistenceException e) {
        if (left == 0) {
          throw e;
        }
      }
    }
  }

  /** Changes an event of somebody's own; files stay if none are sent. */
  public void change(int id, String user, EventForm form, Sent sent) {
    events.ownedBy(user, id);
    byte[] thumbnail = sent.picture == null ? null : Uploads.thumbnail(sent.picture);
    try {
      StoredFiles files = store(id, FileKind.EVENT, FileKind.EVENT_THUMBNAIL, sent, thumbnail);
      Place place = geocoder.locate(form.address());
      again(() -> events.update(id, user, form, place, files));
    } catch (IOException e) {
      throw notStored(e);
    }
    fragments.clear();
  }

  /** Deletes an event of somebody's own, with the files that were uploaded for it. */
  public void delete(int id, String user) {
    SocialEvent event = events.delete(id, user);
    try {
      filestore.remove(event.getImage());
      filestore.remove(event.getThumbnail());
      filestore.remove(event.getLiterature());
    } catch (IOException e) {
      LOG.log(Level.WARNING, "Files of event " + id + " are left", e);
    }
    fragments.clear();
  }

  private StoredFiles store(
      int id, FileKind pictures, FileKind thumbnails, Sent sent, byte[] thumbnail)
      throws IOException {
    StoredName image = StoredName.upload(pictures, id, "jpg");
    StoredName small = StoredName.upload(thumbnails, id, "jpg");
    StoredName document =
        StoredName.upload(FileKind.LITERATURE, id, String.valueOf(sent.documentExtension));
    boolean pictured = sent.picture != null;
    boolean documented = sent.document != null;
    Map<StoredName, byte[]> files = new LinkedHashMap<>();
    if (pictured) {
      files.put(image, sent.picture);
      files.put(small, thumbnail);
    }
    if (documented) {
      files.put(document, sent.document);
    }
    filestore.store(files);
    for (int uploads = (pictured ? 1 : 0) + (documented ? 1 : 0); uploads > 0; uploads--) {
      stats.add(Stats.Count.UPLOADS);
    }
    return new StoredFiles(
        pictured ? image.text() : null,
        pictured ? small.text() : null,
        documented ? document.text() : null);
  }

  private static Refused notStored(IOException e) {
    LOG.log(Level.WARNING, "The filestore did not take a file: {0}", e.toString());
    return Refused.notStored(e);
  }
}
