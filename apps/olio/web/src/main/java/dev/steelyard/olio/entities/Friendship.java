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

/** One direction of a friendship. */
@Entity
@Cacheable(false)
@IdClass(Friendship.Key.class)
@Table(name = "PERSON_PERSON")
public class Friendship implements Serializable {

  private static final long serialVersionUID = 1L;

  @Id
  @Column(name = "PERSON_USERID")
  private int personId;

  @Id
  @Column(name = "FRIENDS_USERID")
  private int friendId;

  /** For Persistence. */
  protected Friendship() {}

  public Friendship(int personId, int friendId) {
    this.personId = personId;
    this.friendId = friendId;
  }

  /** Both columns. */
  public static final class Key implements Serializable {

    private static final long serialVersionUID = 1L;

    private int personId;
    private int friendId;

    /** For Persistence. */
    public Key() {}

    public Key(int personId, int friendId) {
      this.personId = personId;
      this.friendId = friendId;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key key && personId == key.personId && friendId == key.friendId;
    }

    @Override
    public int hashCode() {
      return Objects.hash(personId, friendId);
    }
  }
}
