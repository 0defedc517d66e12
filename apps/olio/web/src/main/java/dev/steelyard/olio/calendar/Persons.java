// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import static dev.steelyard.olio.calendar.RefreshHint.refreshed;

import dev.steelyard.olio.Refused;
import dev.steelyard.olio.calendar.Forms.PersonForm;
import dev.steelyard.olio.calendar.Forms.Place;
import dev.steelyard.olio.calendar.Forms.StoredFiles;
import dev.steelyard.olio.calendar.Views.PersonDetail;
import dev.steelyard.olio.entities.Address;
import dev.steelyard.olio.entities.Person;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import jakarta.persistence.LockModeType;
import jakarta.persistence.PersistenceContext;
import jakarta.persistence.TypedQuery;
import java.util.List;
import java.util.Optional;

/** Registered persons: found, shown, registered in two steps, changed. */
@ApplicationScoped
public class Persons {

  @PersistenceContext(unitName = "olio")
  private EntityManager entities;

  @Inject private Events events;
  @Inject private Friends friends;

  /** A person by user name. */
  @InTransaction
  public Optional<Person> find(String userName) {
    return byName(userName).getResultStream().findFirst();
  }

  private TypedQuery<Person> byName(String userName) {
    return refreshed(
            entities.createQuery("SELECT p FROM Person p WHERE p.userName = :user", Person.class))
        .setParameter("user", userName);
  }

  /** A person who has to be there. */
  @InTransaction
  public Person get(String userName) {
    return there(userName, find(userName));
  }

  /** A person who has to be there, whom nobody else locks before the transaction's end. */
  Person locked(String userName) {
    TypedQuery<Person> query = byName(userName).setLockMode(LockModeType.PESSIMISTIC_WRITE);
    return there(userName, query.getResultStream().findFirst());
  }

  private static Person there(String userName, Optional<Person> person) {
    return person.orElseThrow(() -> Refused.unknown("There is no person " + userName + "."));
  }

  /** The person, if the password is the right one. */
  @InTransaction
  public Optional<Person> login(String userName, String password) {
    return find(userName).filter(person -> password.equals(person.getPassword()));
  }

  /**
   * A person with all that belongs to him.
   *
   * @param own whether he looks himself
   */
  @InTransaction
  public PersonDetail detail(String userName, boolean own) {
    Person person = get(userName);
    return new PersonDetail(
        person,
        addressOf(person),
        events.postedBy(userName),
        friends.of(person.getId()),
        own ? friends.incoming(userName) : List.of(),
        own ? friends.outgoing(userName) : List.of());
  }

  /** The address of a person; an empty one while there is none. */
  @InTransaction
  public Address addressOf(Person person) {
    return person.getAddressId() == null
        ? new Address()
        : entities.find(Address.class, person.getAddressId());
  }

  /**
   * Registers a person: the row, from whose key the files take their names.
   *
   * @return its key
   */
  @InTransaction
  public int create(PersonForm form) {
    if (find(form.userName()).isPresent()) {
      throw Refused.taken("The user name " + form.userName() + " is taken.");
    }
    Person person = new Person();
    person.setUserName(form.userName());
    form.copyTo(person);
    entities.persist(person);
    entities.flush();
    return person.getId();
  }

  /** Gives a person who was registered address and files. */
  @InTransaction
  public void complete(int id, PersonForm form, Place place, StoredFiles files) {
    fill(entities.find(Person.class, id), form, place, files);
  }

  /** Changes a profile. The row is read: what is as it was kept here is not written. */
  @InTransaction
  public void change(int id, PersonForm form, Place place, StoredFiles files) {
    Person person =
        entities.find(Person.class, id, LockModeType.PESSIMISTIC_WRITE, RefreshHint.ROW);
    fill(person, form, place, files);
  }

  private void fill(Person person, PersonForm form, Place place, StoredFiles files) {
    Address address = new Address();
    form.address().copyTo(address, place);
    entities.persist(address);
    entities.flush();
    form.copyTo(person);
    person.setAddressId(address.getId());
    if (files.image() != null) {
      person.setImage(files.image());
      person.setThumbnail(files.thumbnail());
    }
  }

  /** Removes a person who could not be registered to the end. */
  @InTransaction
  public void remove(int id) {
    Person person = entities.find(Person.class, id);
    if (person != null) {
      entities.remove(person);
    }
  }
}
