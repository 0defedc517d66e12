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
import java.time.LocalDateTime;

/** An event; its times are UTC. */
@Entity
@Table(name = "SOCIALEVENT")
public class SocialEvent implements Serializable {

  private static final long serialVersionUID = 1L;

  @Id
  @SequenceGenerator(name = "EVENT_KEYS", sequenceName = "EVENT_KEYS", allocationSize = 50)
  @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "EVENT_KEYS")
  @Column(name = "SOCIALEVENTID")
  private int id;

  @Column(name = "TITLE")
  private String title;

  @Column(name = "SUMMARY")
  private String summary;

  @Column(name = "DESCRIPTION")
  private String description;

  @Column(name = "TELEPHONE")
  private String telephone;

  @Column(name = "SUBMITTERUSERNAME")
  private String submitter;

  @Column(name = "IMAGEURL")
  private String image;

  @Column(name = "IMAGETHUMBURL")
  private String thumbnail;

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

  @Column(name = "ADDRESS_ADDRESSID")
  private Integer addressId;

  /** For Persistence, and to be filled by setters. */
  public SocialEvent() {}

  public int getId() {
    return id;
  }

  public String getTitle() {
    return title;
  }

  public void setTitle(String title) {
    this.title = title;
  }

  public String getSummary() {
    return summary;
  }

  public void setSummary(String summary) {
    this.summary = summary;
  }

  public String getDescription() {
    return description;
  }

  public void setDescription(String description) {
    this.description = description;
  }

  public String getTelephone() {
    return telephone;
  }

  public void setTelephone(String telephone) {
    this.telephone = telephone;
  }

  public String getSubmitter() {
    return submitter;
  }

  public void setSubmitter(String submitter) {
    this.submitter = submitter;
  }

  public String getImage() {
    return image;
  }

  public void setImage(String image) {
    this.image = image;
  }

  public String getThumbnail() {
    return thumbnail;
  }

  public void setThumbnail(String thumbnail) {
    this.thumbnail = thumbnail;
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

  public int getTotalScore() {
    return totalScore;
  }

  public void setTotalScore(int totalScore) {
    this.totalScore = totalScore;
  }

  public int getNumberOfVotes() {
    return numberOfVotes;
  }

  public void setNumberOfVotes(int numberOfVotes) {
    this.numberOfVotes = numberOfVotes;
  }

  public int getDisabled() {
    return disabled;
  }

  public void setDisabled(int disabled) {
    this.disabled = disabled;
  }

  public Integer getAddressId() {
    return addressId;
  }

  public void setAddressId(Integer addressId) {
    this.addressId = addressId;
  }
}
