// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.entities;

import jakarta.persistence.AttributeOverride;
import jakarta.persistence.Cacheable;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Table;
import java.time.LocalDateTime;

/** What a person says of an event, with one to five stars. */
@Entity
@Cacheable(false)
@Table(name = "COMMENTS_RATING")
@AttributeOverride(name = "id", column = @Column(name = "COMMENTSID"))
public class Comment extends Row {

  private static final long serialVersionUID = 1L;

  @Column(name = "USERNAME_USERNAME")
  private String userName;

  @Column(name = "SOCIALEVENT_SOCIALEVENTID")
  private int eventId;

  @Column(name = "COMMENTS")
  private String text;

  @Column(name = "RATING")
  private int rating;

  @Column(name = "CREATIONTIME")
  private LocalDateTime createdTime;

  /** For Persistence, and to be filled by setters. */
  public Comment() {}

  public String getUserName() {
    return userName;
  }

  public void setUserName(String userName) {
    this.userName = userName;
  }

  public int getEventId() {
    return eventId;
  }

  public void setEventId(int eventId) {
    this.eventId = eventId;
  }

  public String getText() {
    return text;
  }

  public void setText(String text) {
    this.text = text;
  }

  public int getRating() {
    return rating;
  }

  public void setRating(int rating) {
    this.rating = rating;
  }

  public LocalDateTime getCreatedTime() {
    return createdTime;
  }

  public void setCreatedTime(LocalDateTime createdTime) {
    this.createdTime = createdTime;
  }
}
