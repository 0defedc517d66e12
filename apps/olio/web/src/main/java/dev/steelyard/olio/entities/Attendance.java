// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.entities;

import jakarta.persistence.Cacheable;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.Table;
import java.io.Serializable;
import java.util.Objects;

/** A person attends an event. */
@Entity
@Cacheable(false)
@IdClass(Attendance.Key.class)
@Table(name = "PERSON_SOCIALEVENT")
public class Attendance implements Serializable {

  private static final long serialVersionUID = 1L;

  @Id
  @Column(name = "SOCIALEVENTID")
  private int eventId;

  @Id
  @Column(name = "USERNAME")
  private String userName;

  /** For Persistence. */
  protected Attendance() {}

  public Attendance(int eventId, String userName) {
    this.eventId = eventId;
    this.userName = userName;
  }

  /** Both columns. */
  public static final class Key implements Serializable {

    private static final long serialVersionUID = 1L;

    private int eventId;
    private String userName;

    /** For Persistence. */
    public Key() {}

    public Key(int eventId, String userName) {
      this.eventId = eventId;
      this.userName = userName;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key key
          && eventId == key.eventId
          && Objects.equals(userName, key.userName);
    }

    @Override
    public int hashCode() {
      return Objects.hash(eventId, userName);
    }
  }
}
