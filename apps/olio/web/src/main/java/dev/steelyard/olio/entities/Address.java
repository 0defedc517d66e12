// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.entities;

import jakarta.persistence.AttributeOverride;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Table;

/** Where a person lives or an event is. */
@Entity
@Table(name = "ADDRESS")
@AttributeOverride(name = "id", column = @Column(name = "ADDRESSID"))
public class Address extends Row {

  private static final long serialVersionUID = 1L;

  @Column(name = "STREET1")
  private String street1;

  @Column(name = "STREET2")
  private String street2;

  @Column(name = "CITY")
  private String city;

  @Column(name = "STATE")
  private String state;

  @Column(name = "ZIP")
  private String zip;

  @Column(name = "COUNTRY")
  private String country;

  @Column(name = "LATITUDE")
  private double latitude;

  @Column(name = "LONGITUDE")
  private double longitude;

  /** For Persistence, and to be filled by setters. */
  public Address() {}

  public String getStreet1() {
    return street1;
  }

  public void setStreet1(String street1) {
    this.street1 = street1;
  }

  public String getStreet2() {
    return street2;
  }

  public void setStreet2(String street2) {
    this.street2 = street2;
  }

  public String getCity() {
    return city;
  }

  public void setCity(String city) {
    this.city = city;
  }

  public String getState() {
    return state;
  }

  public void setState(String state) {
    this.state = state;
  }

  public String getZip() {
    return zip;
  }

  public void setZip(String zip) {
    this.zip = zip;
  }

  public String getCountry() {
    return country;
  }

  public void setCountry(String country) {
    this.country = country;
  }

  public double getLatitude() {
    return latitude;
  }

  public void setLatitude(double latitude) {
    this.latitude = latitude;
  }

  public double getLongitude() {
    return longitude;
  }

  public void setLongitude(double longitude) {
    this.longitude = longitude;
  }
}
