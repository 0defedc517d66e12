// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.entities;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.SequenceGenerator;
import jakarta.persistence.Table;
import java.io.Serializable;

/** A word by which events are found, and how many have it. */
@Entity
@Table(name = "SOCIALEVENTTAG")
public class Tag implements Serializable {

  private static final long serialVersionUID = 1L;

  @Id
  @SequenceGenerator(name = "TAG_KEYS", sequenceName = "TAG_KEYS", allocationSize = 50)
  @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "TAG_KEYS")
  @Column(name = "SOCIALEVENTTAGID")
  private int id;

  @Column(name = "TAG")
  private String word;

  @Column(name = "REFCOUNT")
  private int references;

  /** For Persistence, and to be filled by setters. */
  public Tag() {}

  public int getId() {
    return id;
  }

  public String getWord() {
    return word;
  }

  public void setWord(String word) {
    this.word = word;
  }

  public int getReferences() {
    return references;
  }

  public void setReferences(int references) {
    this.references = references;
  }
}
