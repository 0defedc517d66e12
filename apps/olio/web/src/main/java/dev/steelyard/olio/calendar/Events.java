// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import static dev.steelyard.olio.calendar.RefreshHint.refreshed;

import dev.steelyard.olio.Refused;
import dev.steelyard.olio.Settings;
import dev.steelyard.olio.calendar.Forms.EventForm;
import dev.steelyard.olio.calendar.Forms.Place;
import dev.steelyard.olio.calendar.Forms.StoredFiles;
import dev.steelyard.olio.calendar.Views.EventDetail;
import dev.steelyard.olio.calendar.Views.Filter;
import dev.steelyard.olio.calendar.Views.Listed;
import dev.steelyard.olio.calendar.Views.Said;
import dev.steelyard.olio.calendar.Views.Upcoming;
import dev.steelyard.olio.entities.Address;
import dev.steelyard.olio.entities.Comment;
import dev.steelyard.olio.entities.Person;
import dev.steelyard.olio.entities.SocialEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import jakarta.persistence.LockModeType;
import jakarta.persistence.PersistenceContext;
import jakarta.persistence.TypedQuery;
import java.time.LocalDateTime;
import java.util.List;

/** Lists of events, their pages, and their life: posted in two steps, changed, deleted. */
@ApplicationScoped
public class Events {

  private static final int UPCOMING = 3;
  private static final String ATTENDED =
      "FROM SocialEvent e, Attendance a WHERE a.userName = :user AND a.eventId = e.id"
          + " AND e.eventTime >= :now";

  @PersistenceContext(unitName = "olio")
  private EntityManager entities;

  @Inject private Settings settings;
  @Inject private Tags tags;

  /** A page of the events that a filter leaves. */
  @InTransaction
  public Listed<SocialEvent> list(Filter filter, int index) {
    LocalDateTime from = filter.day() == null ? settings.now() : filter.day().atStartOfDay();
    boolean zip = !filter.zip().isEmpty();
    String which =
        "FROM SocialEvent e"
            + (zip ? ", Address a" : "")
            + " WHERE e.eventTime >= :from"
            + (filter.day() == null ? "" : " AND e.eventTime < :to")
            + (zip ? " AND e.addressId = a.id AND a.zip = :zip" : "");
    String order =
        (filter.byCreated() ? " ORDER BY e.createdTime" : " ORDER BY e.eventTime")
            + (filter.descending() ? " DESC, e.id" : ", e.id");
    List<SocialEvent> events =
        refreshed(filtered("SELECT e " + which + order, SocialEvent.class, filter, from))
            .setFirstResult(index * Views.PAGE)
            .setMaxResults(Views.PAGE)
            .getResultList();
    return new Listed<>(
        events,
        index,
        all(events, index, filtered("SELECT COUNT(e) " + which, Long.class, filter, from)));
  }

  private <T> TypedQuery<T> filtered(
      String query, Class<T> type, Filter filter, LocalDateTime from) {
    TypedQuery<T> typed = entities.createQuery(query, type).setParameter("from", from);
    if (filter.day() != null) {
      typed.setParameter("to", from.plusDays(1));
    }
    if (!filter.zip().isEmpty()) {
      typed.setParameter("zip", filter.zip());
    }
    return typed;
  }

  /** The length of a list: only a full page has to be counted on. */
  private static long all(List<?> page, int index, TypedQuery<Long> count) {
    return page.size() == Views.PAGE || index > 0 ? count.getSingleResult() : page.size();
  }

  /**
   * The events of a tag, in the order of their time, those that are over too; none for an unknown
   * tag. One that is still being posted has no time yet, and no picture.
   */
  @InTransaction
  public List<SocialEvent> tagged(String word) {
    return tags.byWord(word)
        .map(
            tag ->
                refreshed(
                        entities.createQuery(
                            "SELECT e FROM SocialEvent e, TagLink l WHERE l.tagId = :tag"
                                + " AND l.eventId = e.id AND e.eventTime IS NOT NULL"
                                + " ORDER BY e.eventTime, e.id",
                            SocialEvent.class))
                    .setParameter("tag", tag.getId())
                    .getResultList())
        .orElse(List.of());
  }

  /** A page of the events that somebody will attend. */
  @InTransaction
  public Listed<SocialEvent> attendedBy(String userName, int index) {
    List<SocialEvent> events =
        attended(
                refreshed(
                    entities.createQuery(
                        "SELECT e " + ATTENDED + " ORDER BY e.eventTime, e.id", SocialEvent.class)),
                userName)
            .setFirstResult(index * Views.PAGE)
            .setMaxResults(Views.PAGE)
            .getResultList();
    TypedQuery<Long> count =
        attended(entities.createQuery("SELECT COUNT(e) " + ATTENDED, Long.class), userName);
    return new Listed<>(events, index, all(events, index, count));
  }

  private <T> TypedQuery<T> attended(TypedQuery<T> query, String userName) {
    return query.setParameter("user", userName).setParameter("now", settings.now());
  }

  /** The next three events that somebody will attend. */
  @InTransaction
  public List<Upcoming> upcoming(String userName) {
    return attended(
            refreshed(
                entities.createQuery(
                    "SELECT e " + ATTENDED + " ORDER BY e.eventTime, e.id", SocialEvent.class)),
            userName)
        .setMaxResults(UPCOMING)
        .getResultStream()
        .map(Upcoming::of)
        .toList();
  }

  /** The events that somebody has posted, but none that is still being posted. */
  @InTransaction
  public List<SocialEvent> postedBy(String userName) {
    return refreshed(
            entities.createQuery(
                "SELECT e FROM SocialEvent e WHERE e.submitter = :user"
                    + " AND e.eventTime IS NOT NULL ORDER BY e.createdTime DESC, e.id",
                SocialEvent.class))
        .setParameter("user", userName)
        .getResultList();
  }

  /** An event by itself; what this JVM keeps of it may be two minutes old. */
  @InTransaction
  public SocialEvent find(int id) {
    SocialEvent event = entities.find(SocialEvent.class, id);
    // It may have been posted to its end since, elsewhere.
    return event != null && event.getEventTime() == null ? reread(id) : there(id, event);
  }

  /** An event as it is now, whatever this JVM keeps of it. */
  @InTransaction
  public SocialEvent reread(int id) {
    SocialEvent event = there(id, entities.find(SocialEvent.class, id, RefreshHint.ROW));
    if (event.getEventTime() == null) {
      throw Refused.unknown("There is no event " + id + " yet.");
    }
    return event;
  }

  /** An event as it is now, which nobody else changes or deletes before the transaction's end. */
  SocialEvent locked(int id) {
    return there(
        id, entities.find(SocialEvent.class, id, LockModeType.PESSIMISTIC_WRITE, RefreshHint.ROW));
  }

  private SocialEvent there(int id, SocialEvent event) {
    if (event == null) {
      entities.getEntityManagerFactory().getCache().evict(SocialEvent.class, id);
      throw Refused.unknown("There is no event " + id + ".");
    }
    return event;
  }

  /** An event with its address and tags, as its form has it: what is sent back is to be new. */
  @InTransaction
  public EventDetail form(int id) {
    SocialEvent event = reread(id);
    return new EventDetail(event, addressOf(event), List.of(), tags.of(id), List.of());
  }

  private Address addressOf(SocialEvent event) {
    return event.getAddressId() == null
        ? new Address()
        : entities.find(Address.class, event.getAddressId());
  }

  /** An event with all that belongs to it; if nothing does, it may have been deleted elsewhere. */
  @InTransaction
  public EventDetail detail(int id) {
    SocialEvent event = find(id);
    EventDetail detail =
        new EventDetail(event, addressOf(event), attendees(id), tags.of(id), comments(id));
    if (detail.attendees().isEmpty() && detail.tags().isEmpty() && detail.comments().isEmpty()) {
      reread(id);
    }
    return detail;
  }

  List<Person> attendees(int id) {
    return entities
        .createQuery(
            "SELECT p FROM Person p, Attendance a WHERE a.eventId = :event"
                + " AND a.userName = p.userName ORDER BY p.userName",
            Person.class)
        .setParameter("event", id)
        .getResultList();
  }

  /** The comments on an event, the oldest first. */
  @InTransaction
  public List<Said> comments(int id) {
    return entities
        .createQuery(
            "SELECT c, p FROM Comment c, Person p WHERE c.eventId = :event"
                + " AND c.userName = p.userName ORDER BY c.createdTime, c.id",
            Object[].class)
        .setParameter("event", id)
        .getResultStream()
        .map(each -> new Said((Comment) each[0], (Person) each[1]))
        .toList();
  }

  /**
   * Posts an event: its row, from whose key its files take their names, and its tags. It is in no
   * list of events to come until {@link #complete}.
   *
   * @return its key
   */
  @InTransaction
  public int create(EventForm form, String submitter) {
    SocialEvent event = new SocialEvent();
    form.copyTo(event);
    event.setSubmitter(submitter);
    event.setCreatedTime(settings.now());
    entities.persist(event);
    entities.flush();
    tags.add(event.getId(), form.tags());
    return event.getId();
  }

  /** Gives an event that was posted its address, files and time. */
  @InTransaction
  public void complete(int id, EventForm form, Place place, StoredFiles files) {
    fill(there(id, entities.find(SocialEvent.class, id)), form, place, files);
  }

  private void fill(SocialEvent event, EventForm form, Place place, StoredFiles files) {
    Address address = new Address();
    form.address().copyTo(address, place);
    entities.persist(address);
    entities.flush();
    event.setAddressId(address.getId());
    event.setEventTime(form.time());
    copy(files, event);
  }

  private static void copy(StoredFiles files, SocialEvent event) {
    if (files.image() != null) {
      event.setImage(files.image());
      event.setThumbnail(files.thumbnail());
    }
    if (files.literature() != null) {
      event.setLiterature(files.literature());
    }
  }

  /**
   * Changes an event: loaded events share their addresses, so that it gets one of its own. It is
   * locked, as two that count the tags of one event at once count wrong; and read, as what is as it
   * was kept here is not written.
   *
   * @return its key
   */
  @InTransaction
  public int update(int id, String user, EventForm form, Place place, StoredFiles files) {
    SocialEvent event = owned(user, locked(id));
    form.copyTo(event);
    tags.removeAll(id);
    tags.add(id, form.tags());
    fill(event, form, place, files);
    return id;
  }

  /** An event, if it is somebody's. */
  @InTransaction
  public SocialEvent ownedBy(String user, int id) {
    return owned(user, find(id));
  }

  private static SocialEvent owned(String user, SocialEvent event) {
    if (!user.equals(event.getSubmitter())) {
      throw Refused.notYours("Only who has posted an event may change or delete it.");
    }
    return event;
  }

  /** Deletes an event with all that belongs to it, but its files. */
  @InTransaction
  public SocialEvent delete(int id, String user) {
    SocialEvent event = owned(user, locked(id));
    tags.removeAll(id);
    for (String rows : List.of("Comment", "Attendance")) {
      entities
          .createQuery("DELETE FROM " + rows + " r WHERE r.eventId = :event")
          .setParameter("event", id)
          .executeUpdate();
    }
    entities.remove(event);
    entities.flush();
    return event;
  }
}
