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
import jakarta.persistence.OneToOne;
import jakarta.persistence.Table;
import jakarta.persistence.TableGenerator;
import jakarta.persistence.Transient;
import java.io.Serializable;
import java.math.BigDecimal;
import java.sql.Timestamp;
import java.util.Comparator;

/** An order to buy or to sell. */
@Entity
@Table(name = "ORDEREJB")
public class TradeOrder implements Serializable {

  public static final String BUY = "buy";
  public static final String SELL = "sell";

  public static final String OPEN = "open";
  public static final String CLOSED = "closed";
  public static final String COMPLETED = "completed";
  public static final String CANCELLED = "cancelled";

  /** By their numbers, which are given in turn. */
  public static final Comparator<TradeOrder> NEWEST_FIRST =
      Comparator.comparing(TradeOrder::getOrderID).reversed();

  private static final long serialVersionUID = 1L;

  @Id
  @TableGenerator(
      name = "order",
      table = "KEYGENEJB",
      pkColumnName = "KEYNAME",
      valueColumnName = "KEYVAL",
      pkColumnValue = "order",
      allocationSize = 1000)
  @GeneratedValue(strategy = GenerationType.TABLE, generator = "order")
  @Column(name = "ORDERID", nullable = false)
  private Integer orderID;

  @Column(name = "ORDERTYPE")
  private String orderType;

  @Column(name = "ORDERSTATUS")
  private String orderStatus;

  @Column(name = "OPENDATE")
  private Timestamp openDate;

  @Column(name = "COMPLETIONDATE")
  private Timestamp completionDate;

  @Column(name = "QUANTITY", nullable = false)
  private double quantity;

  @Column(name = "PRICE")
  private BigDecimal price;

  @Column(name = "ORDERFEE")
  private BigDecimal orderFee;

  @ManyToOne(fetch = FetchType.LAZY)
  @JoinColumn(name = "ACCOUNT_ACCOUNTID")
  private Account account;

  @ManyToOne(fetch = FetchType.EAGER)
  @JoinColumn(name = "QUOTE_SYMBOL")
  private Quote quote;

  @OneToOne(fetch = FetchType.LAZY)
  @JoinColumn(name = "HOLDING_HOLDINGID")
  private Holding holding;

  @Transient private String symbol;

  /** For Persistence. */
  protected TradeOrder() {}

  /** A new order, which Persistence gives a number. */
  public TradeOrder(
      String orderType,
      double quantity,
      BigDecimal price,
      BigDecimal orderFee,
      Timestamp openDate,
      Account account,
      Quote quote,
      Holding holding) {
    this(null, orderType, OPEN, openDate, null, quantity, price, orderFee, null);
    this.account = account;
    this.quote = quote;
    this.holding = holding;
  }

  /** An order as a row has it. */
  public TradeOrder(
      Integer orderID,
      String orderType,
      String orderStatus,
      Timestamp openDate,
      Timestamp completionDate,
      double quantity,
      BigDecimal price,
      BigDecimal orderFee,
      String symbol) {
    this.orderID = orderID;
    this.orderType = orderType;
    this.orderStatus = orderStatus;
    this.openDate = openDate;
    this.completionDate = completionDate;
    this.quantity = quantity;
    this.price = price;
    this.orderFee = orderFee;
    this.symbol = symbol;
  }

  /**
   * The symbol of the stock; null in an order that was cancelled because there was nothing to sell.
   */
  public String getSymbol() {
    return quote == null ? symbol : quote.getSymbol();
  }

  /** Whether it is one to buy. */
  public boolean isBuy() {
    return BUY.equals(orderType);
  }

  public boolean isCancelled() {
    return CANCELLED.equals(orderStatus);
  }

  /** Whether it still waits for its completion. */
  public boolean isOpen() {
    return OPEN.equals(orderStatus) || "processing".equals(orderStatus);
  }

  public Integer getOrderID() {
    return orderID;
  }

  public String getOrderType() {
    return orderType;
  }

  public String getOrderStatus() {
    return orderStatus;
  }

  public void setOrderStatus(String orderStatus) {
    this.orderStatus = orderStatus;
  }

  public Timestamp getOpenDate() {
    return openDate;
  }

  public Timestamp getCompletionDate() {
    return completionDate;
  }

  public void setCompletionDate(Timestamp completionDate) {
    this.completionDate = completionDate;
  }

  public double getQuantity() {
    return quantity;
  }

  public BigDecimal getPrice() {
    return price;
  }

  public BigDecimal getOrderFee() {
    return orderFee;
  }

  public Account getAccount() {
    return account;
  }

  public Quote getQuote() {
    return quote;
  }

  public Holding getHolding() {
    return holding;
  }

  public void setHolding(Holding holding) {
    this.holding = holding;
  }
}
