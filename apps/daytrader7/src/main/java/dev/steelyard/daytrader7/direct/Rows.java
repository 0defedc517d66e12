// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.direct;

import dev.steelyard.daytrader7.entities.Account;
import dev.steelyard.daytrader7.entities.AccountProfile;
import dev.steelyard.daytrader7.entities.Holding;
import dev.steelyard.daytrader7.entities.Quote;
import dev.steelyard.daytrader7.entities.TradeOrder;
import java.sql.ResultSet;
import java.sql.SQLException;

/** What rows of whole tables say. */
final class Rows {

  private Rows() {}

  static Account account(ResultSet row) throws SQLException {
    return new Account(
        row.getInt("ACCOUNTID"),
        row.getTimestamp("CREATIONDATE"),
        row.getBigDecimal("OPENBALANCE"),
        row.getBigDecimal("BALANCE"),
        row.getTimestamp("LASTLOGIN"),
        row.getInt("LOGINCOUNT"),
        row.getInt("LOGOUTCOUNT"));
  }

  static AccountProfile profile(ResultSet row) throws SQLException {
    return new AccountProfile(
        row.getString("USERID"),
        row.getString("PASSWD"),
        row.getString("FULLNAME"),
        row.getString("ADDRESS"),
        row.getString("EMAIL"),
        row.getString("CREDITCARD"));
  }

  static Quote quote(ResultSet row) throws SQLException {
    return new Quote(
        row.getString("SYMBOL"),
        row.getString("COMPANYNAME"),
        row.getDouble("VOLUME"),
        row.getBigDecimal("PRICE"),
        row.getBigDecimal("OPEN1"),
        row.getBigDecimal("LOW"),
        row.getBigDecimal("HIGH"),
        row.getDouble("CHANGE1"));
  }

  static Holding holding(ResultSet row) throws SQLException {
    return new Holding(
        row.getInt("HOLDINGID"),
        row.getDouble("QUANTITY"),
        row.getBigDecimal("PURCHASEPRICE"),
        row.getTimestamp("PURCHASEDATE"),
        row.getString("QUOTE_SYMBOL"));
  }

  static TradeOrder order(ResultSet row) throws SQLException {
    return new TradeOrder(
        row.getInt("ORDERID"),
        row.getString("ORDERTYPE"),
        row.getString("ORDERSTATUS"),
        row.getTimestamp("OPENDATE"),
        row.getTimestamp("COMPLETIONDATE"),
        row.getDouble("QUANTITY"),
        row.getBigDecimal("PRICE"),
        row.getBigDecimal("ORDERFEE"),
        row.getString("QUOTE_SYMBOL"));
  }
}
