// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.entities;

import jakarta.persistence.AttributeOverride;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Table;
import java.time.LocalDateTime;

/** An event; its times are UTC. */
@Entity
@Table(name = "SOCIALEVENT")
@AttributeOverride(name = "id", column = @Column(name = "SOCIALEVENTID"))
public class SocialEvent extends Profile {

  private static final long serialVersionUID = 1L;

  @Column(name = "TITLE")
  private String title;

  @Column(name = "DESCRIPTION")
  private String description;

  @Column(name = "SUBMITTERUSERNAME")
  private String submitter;

  @Column(name = "LITERATUREURL")
  private String literature;

  @Column(name = "EVENTTIMESTAMP")
  private LocalDateTime eventTime;

  @Column(name = "CREATEDTIMESTAMP")
  private LocalDateTime createdTime;

  @Column(name = "TOTALSCORE")
  private int totalScore;

  @Column(name = "NUMBEROFVOTES")
  private int numberOfVotes;

  @Column(name = "DISABLED")
  private int disabled;

  /** For Persistence, and to be filled by setters. */
  public SocialEvent() {}

  public String getTitle() {
    return title;
  }

  public void setTitle(String title) {
    this.title = title;
  }

  public String getDescription() {
    return description;
  }

  public void setDescription(String description) {
    this.description = description;
  }

  public String getSubmitter() {
    return submitter;
  }

  public void setSubmitter(String submitter) {
    this.submitter = submitter;
  }

  public String getLiterature() {
    return literature;
  }

  public void setLiterature(String literature) {
    this.literature = literature;
  }

  public LocalDateTime getEventTime() {
    return eventTime;
  }

  public void setEventTime(LocalDateTime eventTime) {
    this.eventTime = eventTime;
  }

  public LocalDateTime getCreatedTime() {
    return createdTime;
  }

  public void setCreatedTime(LocalDateTime createdTime) {
    this.createdTime = createdTime;
  }
}
