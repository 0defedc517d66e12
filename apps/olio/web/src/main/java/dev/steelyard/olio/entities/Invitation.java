// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.entities;

import jakarta.persistence.AttributeOverride;
import jakarta.persistence.Cacheable;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Table;

/** A person asks another to be friends. */
@Entity
@Cacheable(false)
@Table(name = "INVITATION")
@AttributeOverride(name = "id", column = @Column(name = "INVITATIONID"))
public class Invitation extends Row {

  private static final long serialVersionUID = 1L;

  @Column(name = "REQUESTOR_USERNAME")
  private String requestor;

  @Column(name = "CANDIDATE_USERNAME")
  private String candidate;

  @Column(name = "ISACCEPTED")
  private short accepted;

  /** For Persistence, and to be filled by setters. */
  public Invitation() {}

  public String getRequestor() {
    return requestor;
  }

  public void setRequestor(String requestor) {
    this.requestor = requestor;
  }

  public String getCandidate() {
    return candidate;
  }

  public void setCandidate(String candidate) {
    this.candidate = candidate;
  }
}
