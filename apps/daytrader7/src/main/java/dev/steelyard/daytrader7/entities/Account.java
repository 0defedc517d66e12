// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.entities;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OneToOne;
import jakarta.persistence.Table;
import jakarta.persistence.TableGenerator;
import java.io.Serializable;
import java.math.BigDecimal;
import java.sql.Timestamp;
import java.util.List;

/** A customer's money. */
@Entity
@Table(name = "ACCOUNTEJB")
public class Account implements Serializable {

  private static final long serialVersionUID = 1L;

  @Id
  @TableGenerator(
      name = "account",
      table = "KEYGENEJB",
      pkColumnName = "KEYNAME",
      valueColumnName = "KEYVAL",
      pkColumnValue = "account",
      allocationSize = 1000)
  @GeneratedValue(strategy = GenerationType.TABLE, generator = "account")
  @Column(name = "ACCOUNTID", nullable = false)
  private Integer accountID;

  @Column(name = "CREATIONDATE")
  private Timestamp creationDate;

  @Column(name = "OPENBALANCE")
  private BigDecimal openBalance;

  @Column(name = "BALANCE")
  private BigDecimal balance;

  @Column(name = "LASTLOGIN")
  private Timestamp lastLogin;

  @Column(name = "LOGINCOUNT", nullable = false)
  private int loginCount;

  @Column(name = "LOGOUTCOUNT", nullable = false)
  private int logoutCount;

  @OneToOne(fetch = FetchType.LAZY)
  @JoinColumn(name = "PROFILE_USERID")
  private AccountProfile profile;

  /** Nothing reads it; as in the original, an account that was read carries its lazy list. */
  @OneToMany(mappedBy = "account", fetch = FetchType.LAZY)
  @SuppressWarnings("UnusedVariable")
  private List<TradeOrder> orders;

  @OneToMany(mappedBy = "account", fetch = FetchType.LAZY)
  private List<Holding> holdings;

  /** For Persistence. */
  protected Account() {}

  /** A new account, which Persistence gives a number. */
  public Account(Timestamp creationDate, BigDecimal openBalance, AccountProfile profile) {
    this(null, creationDate, openBalance, openBalance, null, 0, 0);
    this.profile = profile;
  }

  /** An account as a row has it. */
  public Account(
      Integer accountID,
      Timestamp creationDate,
      BigDecimal openBalance,
      BigDecimal balance,
      Timestamp lastLogin,
      int loginCount,
      int logoutCount) {
    this.accountID = accountID;
    this.creationDate = creationDate;
    this.openBalance = openBalance;
    this.balance = balance;
    this.lastLogin = lastLogin;
    this.loginCount = loginCount;
    this.logoutCount = logoutCount;
  }

  /** What the account owns, in no order; read when it is asked for. */
  public List<Holding> getHoldings() {
    return holdings;
  }

  public Integer getAccountID() {
    return accountID;
  }

  public Timestamp getCreationDate() {
    return creationDate;
  }

  public BigDecimal getOpenBalance() {
    return openBalance;
  }

  public BigDecimal getBalance() {
    return balance;
  }

  public void setBalance(BigDecimal balance) {
    this.balance = balance;
  }

  public Timestamp getLastLogin() {
    return lastLogin;
  }

  public void setLastLogin(Timestamp lastLogin) {
    this.lastLogin = lastLogin;
  }

  public int getLoginCount() {
    return loginCount;
  }

  public void setLoginCount(int loginCount) {
    this.loginCount = loginCount;
  }

  public int getLogoutCount() {
    return logoutCount;
  }

  public void setLogoutCount(int logoutCount) {
    this.logoutCount = logoutCount;
  }

  public AccountProfile getProfile() {
    return profile;
  }
}
