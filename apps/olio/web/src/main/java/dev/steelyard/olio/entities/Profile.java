// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.entities;

import jakarta.persistence.Column;
import jakarta.persistence.MappedSuperclass;

/** What persons and events tell of themselves alike; pictures are names of files. */
@MappedSuperclass
public abstract class Profile extends Row {

  private static final long serialVersionUID = 1L;

  @Column(name = "SUMMARY")
  private String summary;

  @Column(name = "TELEPHONE")
  private String telephone;

  @Column(name = "IMAGEURL")
  private String image;

  @Column(name = "IMAGETHUMBURL")
  private String thumbnail;

  @Column(name = "ADDRESS_ADDRESSID")
  private Integer addressId;

  public String getSummary() {
    return summary;
  }

  public void setSummary(String summary) {
    this.summary = summary;
  }

  public String getTelephone() {
    return telephone;
  }

  public void setTelephone(String telephone) {
    this.telephone = telephone;
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

  public Integer getAddressId() {
    return addressId;
  }

  public void setAddressId(Integer addressId) {
    this.addressId = addressId;
  }
}
