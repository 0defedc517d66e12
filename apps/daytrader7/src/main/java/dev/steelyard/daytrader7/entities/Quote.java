// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.entities;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.io.Serializable;
import java.math.BigDecimal;

/** A stock and its price. */
@Entity
@Table(name = "QUOTEEJB")
public class Quote implements Serializable {

  private static final long serialVersionUID = 1L;

  @Id
  @Column(name = "SYMBOL", nullable = false)
  private String symbol;

  @Column(name = "COMPANYNAME")
  private String companyName;

  @Column(name = "VOLUME", nullable = false)
  private double volume;

  @Column(name = "PRICE")
  private BigDecimal price;

  @Column(name = "OPEN1")
  private BigDecimal open;

  @Column(name = "LOW")
  private BigDecimal low;

  @Column(name = "HIGH")
  private BigDecimal high;

  @Column(name = "CHANGE1", nullable = false)
  private double change;

  /** For Persistence. */
  protected Quote() {}

  /** A stock as a row has it. */
  public Quote(
      String symbol,
      String companyName,
      double volume,
      BigDecimal price,
      BigDecimal open,
      BigDecimal low,
      BigDecimal high,
      double change) {
    this.symbol = symbol;
    this.companyName = companyName;
    this.volume = volume;
    this.price = price;
    this.open = open;
    this.low = low;
    this.high = high;
    this.change = change;
  }

  public String getSymbol() {
    return symbol;
  }

  public String getCompanyName() {
    return companyName;
  }

  public double getVolume() {
    return volume;
  }

  public void setVolume(double volume) {
    this.volume = volume;
  }

  public BigDecimal getPrice() {
    return price;
  }

  public void setPrice(BigDecimal price) {
    this.price = price;
  }

  public BigDecimal getOpen() {
    return open;
  }

  public BigDecimal getLow() {
    return low;
  }

  public BigDecimal getHigh() {
    return high;
  }

  public double getChange() {
    return change;
  }

  public void setChange(double change) {
    this.change = change;
  }
}
