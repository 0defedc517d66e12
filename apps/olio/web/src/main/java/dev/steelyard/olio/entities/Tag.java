// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.entities;

import jakarta.persistence.AttributeOverride;
import jakarta.persistence.Cacheable;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Table;

/**
 * A word by which events are found, and how many have it. No tag is ever found by its key, so that
 * keeping tags would save no statement, and show counts that other JVMs have changed.
 */
@Entity
@Cacheable(false)
@Table(name = "SOCIALEVENTTAG")
@AttributeOverride(name = "id", column = @Column(name = "SOCIALEVENTTAGID"))
public class Tag extends Row {

  private static final long serialVersionUID = 1L;

  @Column(name = "TAG")
  private String word;

  @Column(name = "REFCOUNT")
  private int references;

  /** For Persistence, and to be filled by setters. */
  public Tag() {}

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
