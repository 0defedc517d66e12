// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.entities;

import jakarta.persistence.Cacheable;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.SequenceGenerator;
import jakarta.persistence.Table;
import java.io.Serializable;

/** A person asks another to be friends. */
@Entity
@Cacheable(false)
@Table(name = "INVITATION")
public class Invitation implements Serializable {

  private static final long serialVersionUID = 1L;

  @Id
  @SequenceGenerator(
      name = "INVITATION_KEYS",
      sequenceName = "INVITATION_KEYS",
      allocationSize = 50)
  @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "INVITATION_KEYS")
  @Column(name = "INVITATIONID")
  private int id;

  @Column(name = "REQUESTOR_USERNAME")
  private String requestor;

  @Column(name = "CANDIDATE_USERNAME")
  private String candidate;

  @Column(name = "ISACCEPTED")
  private short accepted;

  /** For Persistence, and to be filled by setters. */
  public Invitation() {}

  public int getId() {
    return id;
  }

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

  public short getAccepted() {
    return accepted;
  }

  public void setAccepted(short accepted) {
    this.accepted = accepted;
  }
}
