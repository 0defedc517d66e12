// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import static dev.steelyard.olio.calendar.RefreshHint.refreshed;

import dev.steelyard.olio.Refused;
import dev.steelyard.olio.calendar.Views.Found;
import dev.steelyard.olio.entities.Friendship;
import dev.steelyard.olio.entities.Invitation;
import dev.steelyard.olio.entities.Person;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import java.util.List;

/** Friends, and invitations to be friends. */
@ApplicationScoped
public class Friends {

  private static final int MOST_FOUND = 50;

  @PersistenceContext(unitName = "olio")
  private EntityManager entities;

  @Inject private Persons persons;

  /** The friends of a person. */
  @InTransaction
  public List<Person> of(int personId) {
    return entities
        .createQuery(
            "SELECT p FROM Person p, Friendship f WHERE f.personId = :person"
                + " AND f.friendId = p.id ORDER BY p.id",
            Person.class)
        .setParameter("person", personId)
        .getResultList();
  }

  /** Invitations that wait for a person's answer. */
  @InTransaction
  public List<Invitation> incoming(String userName) {
    return invitations("i.candidate = :user", userName);
  }

  /** Invitations of a person's that wait for an answer. */
  @InTransaction
  public List<Invitation> outgoing(String userName) {
    return invitations("i.requestor = :user", userName);
  }

  private List<Invitation> invitations(String whose, String userName) {
    return entities
        .createQuery(
            "SELECT i FROM Invitation i WHERE " + whose + " AND i.accepted = 0 ORDER BY i.id",
            Invitation.class)
        .setParameter("user", userName)
        .getResultList();
  }

  /** How many invitations wait for a person's answer. */
  @InTransaction
  public long requests(String userName) {
    return entities
        .createQuery(
            "SELECT COUNT(i) FROM Invitation i WHERE i.candidate = :user AND i.accepted = 0",
            Long.class)
        .setParameter("user", userName)
        .getSingleResult();
  }

  /** Persons whose user names begin in a way, but no friends and not the asking person. */
  @InTransaction
  public Found search(int personId, String userName, String prefix) {
    String pattern = prefix.replaceAll("[!%_]", "!$0") + "%";
    List<Person> found =
        refreshed(
                entities.createQuery(
                    "SELECT p FROM Person p WHERE p.userName LIKE :pattern ESCAPE '!'"
                        + " AND p.id <> :self AND p.id NOT IN"
                        + " (SELECT f.friendId FROM Friendship f WHERE f.personId = :self)"
                        + " ORDER BY p.userName",
                    Person.class))
            .setParameter("pattern", pattern)
            .setParameter("self", personId)
            .setMaxResults(MOST_FOUND)
            .getResultList();
    return new Found(found, outgoing(userName).stream().map(Invitation::getCandidate).toList());
  }

  /** Invites a person, who is locked: a second time, or twice at once, changes nothing. */
  @InTransaction
  public void invite(String requestor, String candidate) {
    persons.locked(candidate);
    if (requestor.equals(candidate)) {
      throw Refused.badInput("Nobody can invite himself.");
    }
    if (between(requestor, candidate).isEmpty()) {
      Invitation invitation = new Invitation();
      invitation.setRequestor(requestor);
      invitation.setCandidate(candidate);
      entities.persist(invitation);
      entities.flush();
    }
  }

  private List<Invitation> between(String requestor, String candidate) {
    return entities
        .createQuery(
            "SELECT i FROM Invitation i WHERE i.requestor = :requestor AND i.candidate = :candidate",
            Invitation.class)
        .setParameter("requestor", requestor)
        .setParameter("candidate", candidate)
        .getResultList();
  }

  /** Takes an invitation back, or rejects it. */
  @InTransaction
  public void withdraw(String requestor, String candidate) {
    List<Invitation> invitations = between(requestor, candidate);
    if (invitations.isEmpty()) {
      throw Refused.unknown("There is no such invitation.");
    }
    invitations.forEach(entities::remove);
    entities.flush();
  }

  /**
   * Accepts an invitation: who does has a friend more, as in the original in that direction alone.
   */
  @InTransaction
  public void approve(String requestor, String candidate) {
    withdraw(requestor, candidate);
    int person = persons.get(candidate).getId();
    int friend = persons.get(requestor).getId();
    if (entities.find(Friendship.class, new Friendship.Key(person, friend)) == null) {
      entities.persist(new Friendship(person, friend));
      entities.flush();
    }
  }
}
