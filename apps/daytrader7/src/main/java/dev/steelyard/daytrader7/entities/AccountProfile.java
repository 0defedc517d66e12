// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.entities;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.OneToOne;
import jakarta.persistence.Table;
import java.io.Serializable;

/** Who an account belongs to. */
@Entity
@Table(name = "ACCOUNTPROFILEEJB")
public class AccountProfile implements Serializable {

  private static final long serialVersionUID = 1L;

  @Id
  @Column(name = "USERID", nullable = false)
  private String userID;

  @Column(name = "PASSWD")
  private String password;

  @Column(name = "FULLNAME")
  private String fullName;

  @Column(name = "ADDRESS")
  private String address;

  @Column(name = "EMAIL")
  private String email;

  @Column(name = "CREDITCARD")
  private String creditCard;

  @OneToOne(mappedBy = "profile", fetch = FetchType.LAZY)
  private Account account;

  /** For Persistence. */
  protected AccountProfile() {}

  /** A profile; its account names it. */
  public AccountProfile(
      String userID,
      String password,
      String fullName,
      String address,
      String email,
      String creditCard) {
    this.userID = userID;
    this.password = password;
    this.fullName = fullName;
    this.address = address;
    this.email = email;
    this.creditCard = creditCard;
  }

  public String getUserID() {
    return userID;
  }

  public String getPassword() {
    return password;
  }

  public void setPassword(String password) {
    this.password = password;
  }

  public String getFullName() {
    return fullName;
  }

  public void setFullName(String fullName) {
    this.fullName = fullName;
  }

  public String getAddress() {
    return address;
  }

  public void setAddress(String address) {
    this.address = address;
  }

  public String getEmail() {
    return email;
  }

  public void setEmail(String email) {
    this.email = email;
  }

  public String getCreditCard() {
    return creditCard;
  }

  public void setCreditCard(String creditCard) {
    this.creditCard = creditCard;
  }

  public Account getAccount() {
    return account;
  }
}
