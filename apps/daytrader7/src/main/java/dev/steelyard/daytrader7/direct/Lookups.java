// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.direct;

import static dev.steelyard.bench.database.Database.one;

import dev.steelyard.bench.database.Dialect;
import dev.steelyard.daytrader7.LoginException;
import dev.steelyard.daytrader7.entities.Account;
import dev.steelyard.daytrader7.entities.AccountProfile;
import dev.steelyard.daytrader7.entities.Holding;
import dev.steelyard.daytrader7.entities.Quote;
import dev.steelyard.daytrader7.entities.TradeOrder;
import java.sql.Connection;
import java.sql.SQLException;

/** Single rows by their keys; those of a user have to be there. */
final class Lookups {

  static final String QUOTE = "SELECT * FROM QUOTEEJB WHERE SYMBOL = ?";

  static final String ORDER = "SELECT * FROM ORDEREJB WHERE ORDERID = ?";
  private static final String ACCOUNT = "SELECT * FROM ACCOUNTEJB WHERE PROFILE_USERID = ?";
  private static final String PROFILE = "SELECT * FROM ACCOUNTPROFILEEJB WHERE USERID = ?";

  private Lookups() {}

  /** A stock, or null. */
  static Quote quote(Connection connection, String symbol) throws SQLException {
    return symbol == null ? null : one(connection, Rows::quote, QUOTE, symbol);
  }

  /** The account whose balance is to change: nobody else may change it before this is done. */
  static Account lockedAccount(Connection connection, Dialect dialect, String userID)
      throws SQLException {
    return known(one(connection, Rows::account, dialect.locked(ACCOUNT), userID), userID);
  }

  static Account account(Connection connection, String userID) throws SQLException {
    return known(one(connection, Rows::account, ACCOUNT, userID), userID);
  }

  static AccountProfile profile(Connection connection, String userID) throws SQLException {
    return known(userID == null ? null : one(connection, Rows::profile, PROFILE, userID), userID);
  }

  private static <T> T known(T row, String userID) {
    if (row == null) {
      throw new LoginException("There is no user " + userID + ".");
    }
    return row;
  }

  static Holding holding(Connection connection, int holdingID) throws SQLException {
    return one(
        connection, Rows::holding, "SELECT * FROM HOLDINGEJB WHERE HOLDINGID = ?", holdingID);
  }

  static TradeOrder order(Connection connection, int orderID) throws SQLException {
    return one(connection, Rows::order, ORDER, orderID);
  }
}
