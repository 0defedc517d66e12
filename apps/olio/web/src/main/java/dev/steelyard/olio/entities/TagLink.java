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

/** An event has a tag. */
@Entity
@Cacheable(false)
@IdClass(TagLink.Key.class)
@Table(name = "SOCIALEVENTTAG_SOCIALEVENT")
public class TagLink implements Serializable {

  private static final long serialVersionUID = 1L;

  @Id
  @Column(name = "SOCIALEVENTTAGID")
  private int tagId;

  @Id
  @Column(name = "SOCIALEVENTID")
  private int eventId;

  /** For Persistence. */
  protected TagLink() {}

  public TagLink(int tagId, int eventId) {
    this.tagId = tagId;
    this.eventId = eventId;
  }

  /** Both columns. */
  public static final class Key implements Serializable {

    private static final long serialVersionUID = 1L;

    private int tagId;
    private int eventId;

    /** For Persistence. */
    public Key() {}

    public Key(int tagId, int eventId) {
      this.tagId = tagId;
      this.eventId = eventId;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key key && tagId == key.tagId && eventId == key.eventId;
    }

    @Override
    public int hashCode() {
      return Objects.hash(tagId, eventId);
    }
  }
}
