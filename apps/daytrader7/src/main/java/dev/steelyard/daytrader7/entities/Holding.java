// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.entities;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;
import jakarta.persistence.TableGenerator;
import jakarta.persistence.Transient;
import java.io.Serializable;
import java.math.BigDecimal;
import java.sql.Timestamp;

/** Shares that an account owns. A purchase date of the epoch says that they are being sold. */
@Entity
@Table(name = "HOLDINGEJB")
public class Holding implements Serializable {

  private static final long serialVersionUID = 1L;

  @Id
  @TableGenerator(
      name = "holding",
      table = "KEYGENEJB",
      pkColumnName = "KEYNAME",
      valueColumnName = "KEYVAL",
      pkColumnValue = "holding",
      allocationSize = 1000)
  @GeneratedValue(strategy = GenerationType.TABLE, generator = "holding")
  @Column(name = "HOLDINGID", nullable = false)
  private Integer holdingID;

  @Column(name = "QUANTITY", nullable = false)
  private double quantity;

  @Column(name = "PURCHASEPRICE")
  private BigDecimal purchasePrice;

  @Column(name = "PURCHASEDATE")
  private Timestamp purchaseDate;

  @ManyToOne(fetch = FetchType.EAGER)
  @JoinColumn(name = "QUOTE_SYMBOL")
  private Quote quote;

  @ManyToOne(fetch = FetchType.LAZY)
  @JoinColumn(name = "ACCOUNT_ACCOUNTID")
  private Account account;

  @Transient private String quoteID;

  /** For Persistence. */
  protected Holding() {}

  /** New shares, which Persistence gives a number. */
  public Holding(
      double quantity,
      BigDecimal purchasePrice,
      Timestamp purchaseDate,
      Account account,
      Quote quote) {
    this(null, quantity, purchasePrice, purchaseDate, null);
    this.account = account;
    this.quote = quote;
  }

  /** Shares as a row has them. */
  public Holding(
      Integer holdingID,
      double quantity,
      BigDecimal purchasePrice,
      Timestamp purchaseDate,
      String quoteID) {
    this.holdingID = holdingID;
    this.quantity = quantity;
    this.purchasePrice = purchasePrice;
    this.purchaseDate = purchaseDate;
    this.quoteID = quoteID;
  }

  /** The symbol of the stock. */
  public String getQuoteID() {
    return quote == null ? quoteID : quote.getSymbol();
  }

  public Integer getHoldingID() {
    return holdingID;
  }

  public double getQuantity() {
    return quantity;
  }

  public BigDecimal getPurchasePrice() {
    return purchasePrice;
  }

  public Timestamp getPurchaseDate() {
    return purchaseDate;
  }

  public void setPurchaseDate(Timestamp purchaseDate) {
    this.purchaseDate = purchaseDate;
  }

  public Quote getQuote() {
    return quote;
  }

  public Account getAccount() {
    return account;
  }
}
