// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import dev.steelyard.daytrader7.LoginException;
import dev.steelyard.daytrader7.Trade;
import dev.steelyard.daytrader7.TradeException;
import dev.steelyard.daytrader7.entities.AccountProfile;
import jakarta.annotation.PostConstruct;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import java.math.BigDecimal;
import java.time.Instant;

/** Logging in and out, registering, and the profile: the fields of their forms and what they do. */
@Named("user")
@RequestScoped
public class UserBean {

  private static final BigDecimal MOST_MONEY = new BigDecimal("999999999999.99");

  @Inject private Trade trade;
  @Inject private SessionUser session;

  private String userId;
  private String password;
  private String passwordAgain;
  private String fullName;
  private String address;
  private String email;
  private String creditCard;
  private String money = "10000";

  /** Begins with what is known of the user who is logged in. */
  @PostConstruct
  void begin() {
    String id = Page.userId();
    if (id == null) {
      return;
    }
    AccountProfile profile = session.profile();
    if (profile == null || !id.equals(profile.getUserID())) {
      profile = trade.accountProfileData(id);
      session.profile(profile);
    }
    userId = id;
    fullName = profile.getFullName();
    address = profile.getAddress();
    email = profile.getEmail();
    creditCard = profile.getCreditCard();
  }

  /** Logs in. */
  public String login() {
    Page.operation("faces-login");
    try {
      return enter();
    } catch (LoginException e) {
      Page.say("Could not find account, or the password is not its own");
      return null;
    }
  }

  private String enter() {
    trade.login(userId, password);
    session.profile(trade.accountProfileData(userId));
    Page.loggedIn(userId);
    return "tradehome";
  }

  /** Makes an account and logs in. */
  public String register() {
    Page.operation("faces-register");
    if (!password.equals(passwordAgain)) {
      Page.say("Registration operation failed, your passwords did not match");
      return null;
    }
    return Page.attempt(
        "Registration operation failed; ",
        () -> {
          trade.register(
              new AccountProfile(userId, password, fullName, address, email, creditCard), amount());
          String next = enter();
          Page.say("Registration operation succeeded; account " + userId + " has been created.");
          return next;
        });
  }

  private BigDecimal amount() {
    try {
      BigDecimal amount = new BigDecimal(money.strip());
      if (amount.signum() >= 0 && amount.compareTo(MOST_MONEY) <= 0) {
        return amount;
      }
    } catch (NumberFormatException e) {
      // Told below, as is an amount out of range.
    }
    throw new TradeException("The opening balance must be an amount from 0 to " + MOST_MONEY);
  }

  /** Stores what the form may change: not the names. */
  public void updateProfile() {
    Page.operation("faces-update-profile");
    if (isEmpty(password) || isEmpty(creditCard) || isEmpty(email)) {
      Page.say("Update profile error: please fill in all fields");
    } else if (!password.equals(passwordAgain)) {
      Page.say("Update profile error: passwords do not match");
    } else {
      session.profile(
          trade.updateAccountProfile(
              new AccountProfile(Page.userId(), password, fullName, address, email, creditCard)));
      Page.say("Account profile update successful");
    }
  }

  private static boolean isEmpty(String text) {
    return text == null || text.isBlank();
  }

  /** Counts the logout and ends the session. */
  public String logout() {
    Page.operation("faces-logout");
    trade.logout(Page.userId());
    Page.loggedOut();
    userId = null;
    return "welcome";
  }

  /** When the user logged in. */
  public Instant getSince() {
    return Page.since();
  }

  public String getUserId() {
    return userId;
  }

  public void setUserId(String userId) {
    this.userId = userId;
  }

  public String getPassword() {
    return password;
  }

  public void setPassword(String password) {
    this.password = password;
  }

  public String getPasswordAgain() {
    return passwordAgain;
  }

  public void setPasswordAgain(String passwordAgain) {
    this.passwordAgain = passwordAgain;
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

  public String getMoney() {
    return money;
  }

  public void setMoney(String money) {
    this.money = money;
  }
}
