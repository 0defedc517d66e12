// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import dev.steelyard.olio.Refused;
import dev.steelyard.olio.Settings;
import dev.steelyard.olio.Stats;
import dev.steelyard.olio.calendar.Views.EventDetail;
import dev.steelyard.olio.entities.Attendance;
import dev.steelyard.olio.entities.Comment;
import dev.steelyard.olio.entities.Person;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import java.util.List;
import java.util.stream.Stream;

/** Attending events, and saying something about them. */
@ApplicationScoped
public class Participation {

  /**
   * Who attends an event.
   *
   * @param status of the asking person: not_logged_in, attending, not_attending, added or deleted
   * @param attendees their user names
   */
  public record Attendees(String status, List<String> attendees) {}

  private static final String ATTENDING = "attending";
  private static final String NOT_ATTENDING = "not_attending";

  @PersistenceContext(unitName = "olio")
  private EntityManager entities;

  @Inject private Events events;
  @Inject private Settings settings;
  @Inject private Stats stats;

  /** Who attends, and whether somebody does, who may be null. */
  @InTransaction
  public Attendees attendees(int event, String userName) {
    events.find(event);
    List<String> names = events.attendees(event).stream().map(Person::getUserName).toList();
    if (names.isEmpty()) {
      events.reread(event);
    }
    String status = names.contains(userName) ? ATTENDING : NOT_ATTENDING;
    return new Attendees(userName == null ? "not_logged_in" : status, names);
  }

  /** Somebody attends from now on; reads all of the event as the original does. */
  @InTransaction
  public Attendees attend(int event, String userName) {
    EventDetail detail = events.detail(event);
    List<String> names = names(detail);
    if (detail.attendedBy(userName)) {
      return new Attendees(ATTENDING, names);
    }
    entities.persist(new Attendance(event, userName));
    entities.flush();
    stats.add(Stats.Count.ATTENDANCES_ADDED);
    return new Attendees("added", Stream.concat(names.stream(), Stream.of(userName)).toList());
  }

  /** Somebody does not attend any more. */
  @InTransaction
  public Attendees leave(int event, String userName) {
    EventDetail detail = events.detail(event);
    if (!detail.attendedBy(userName)) {
      return new Attendees(NOT_ATTENDING, names(detail));
    }
    Attendance attendance = entities.find(Attendance.class, new Attendance.Key(event, userName));
    if (attendance != null) {
      entities.remove(attendance);
    }
    return new Attendees(
        "deleted", names(detail).stream().filter(each -> !each.equals(userName)).toList());
  }

  private static List<String> names(EventDetail detail) {
    return detail.attendees().stream().map(Person::getUserName).toList();
  }

  /**
   * Makes or changes somebody's only comment on an event, which is locked: of two who speak for the
   * same person at once the second changes what the first has made. Loaded ones are more and stay.
   *
   * @param text or null to leave it
   * @param rating one to five stars, or 0 to leave them
   */
  @InTransaction
  public void say(int event, String userName, String text, int rating) {
    events.locked(event);
    Comment comment =
        entities
            .createQuery(
                "SELECT c FROM Comment c WHERE c.eventId = :event AND c.userName = :user"
                    + " ORDER BY c.id DESC",
                Comment.class)
            .setParameter("event", event)
            .setParameter("user", userName)
            .setMaxResults(1)
            .getResultStream()
            .findFirst()
            .orElseGet(() -> blank(event, userName));
    if (text != null) {
      comment.setText(text);
    }
    if (rating > 0) {
      comment.setRating(rating);
    }
    comment.setCreatedTime(settings.now());
    entities.persist(comment);
    entities.flush();
  }

  private static Comment blank(int event, String userName) {
    Comment comment = new Comment();
    comment.setEventId(event);
    comment.setUserName(userName);
    comment.setText("");
    return comment;
  }

  /** Removes a comment of somebody's own. */
  @InTransaction
  public void unsay(int event, int commentId, String userName) {
    Comment comment = entities.find(Comment.class, commentId);
    if (comment == null || comment.getEventId() != event) {
      throw Refused.unknown("There is no comment " + commentId + " on this event.");
    }
    if (!comment.getUserName().equals(userName)) {
      throw Refused.notYours("Only who has written a comment may delete it.");
    }
    entities.remove(comment);
    entities.flush();
  }
}
