// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.entities;

import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.MappedSuperclass;
import jakarta.persistence.SequenceGenerator;
import java.io.Serializable;

/**
 * A row with a key of its own, whose column its class names. One sequence is for all tables; each
 * JVM takes fifty keys at a time.
 */
@MappedSuperclass
public abstract class Row implements Serializable {

  private static final long serialVersionUID = 1L;

  @Id
  @SequenceGenerator(name = "ROW_KEYS", sequenceName = "ROW_KEYS", allocationSize = 50)
  @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "ROW_KEYS")
  private int id;

  public int getId() {
    return id;
  }
}
