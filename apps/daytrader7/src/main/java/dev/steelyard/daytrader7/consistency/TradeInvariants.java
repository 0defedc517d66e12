// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.consistency;

import dev.steelyard.bench.database.Invariant;
import java.sql.Timestamp;
import java.util.List;

/** What must hold once no order is under way. */
final class TradeInvariants {

  /** Rows that break the first of all: they may still be under way. */
  static final Invariant NO_OPEN_ORDERS =
      Invariant.of(
          "orders that are still open",
          "SELECT COUNT(*) FROM ORDEREJB WHERE ORDERSTATUS IN ('open', 'processing')");

  private static final String SETTLED = "O.ORDERSTATUS IN ('closed', 'completed')";

  /** What an account paid and got, and what it must hold, by its orders. */
  private static final String BY_ORDERS =
      "SELECT ACCOUNT_ACCOUNTID AS ID,"
          + " SUM(CASE WHEN ORDERTYPE = 'buy' THEN -(QUANTITY * PRICE + ORDERFEE)"
          + " ELSE QUANTITY * PRICE - ORDERFEE END) AS CASH,"
          + " SUM(CASE WHEN ORDERTYPE = 'buy' THEN 1 ELSE -1 END) AS HELD"
          + " FROM ORDEREJB O WHERE "
          + SETTLED
          + " GROUP BY ACCOUNT_ACCOUNTID";

  /** Without those that need every order that there ever was. */
  static final List<Invariant> ALWAYS =
      List.of(
          NO_OPEN_ORDERS,
          Invariant.of(
              "accounts without a profile",
              "SELECT COUNT(*) FROM ACCOUNTEJB A LEFT JOIN ACCOUNTPROFILEEJB P"
                  + " ON P.USERID = A.PROFILE_USERID WHERE P.USERID IS NULL"),
          Invariant.of(
              "profiles without one account",
              "SELECT COUNT(*) FROM (SELECT P.USERID FROM ACCOUNTPROFILEEJB P LEFT JOIN ACCOUNTEJB A"
                  + " ON A.PROFILE_USERID = P.USERID GROUP BY P.USERID"
                  + " HAVING COUNT(A.ACCOUNTID) <> 1) WRONG"),
          Invariant.of(
              "holdings without an account or a stock",
              "SELECT COUNT(*) FROM HOLDINGEJB H LEFT JOIN ACCOUNTEJB A"
                  + " ON A.ACCOUNTID = H.ACCOUNT_ACCOUNTID LEFT JOIN QUOTEEJB Q"
                  + " ON Q.SYMBOL = H.QUOTE_SYMBOL WHERE A.ACCOUNTID IS NULL OR Q.SYMBOL IS NULL"),
          Invariant.of(
              "orders without an account or a stock",
              "SELECT COUNT(*) FROM ORDEREJB O LEFT JOIN ACCOUNTEJB A"
                  + " ON A.ACCOUNTID = O.ACCOUNT_ACCOUNTID LEFT JOIN QUOTEEJB Q"
                  + " ON Q.SYMBOL = O.QUOTE_SYMBOL WHERE "
                  + SETTLED
                  + " AND (A.ACCOUNTID IS NULL OR Q.SYMBOL IS NULL)"),
          Invariant.of(
              "settled orders without a date of completion",
              "SELECT COUNT(*) FROM ORDEREJB O WHERE " + SETTLED + " AND COMPLETIONDATE IS NULL"),
          Invariant.of(
              "holdings of more than one purchase",
              "SELECT COUNT(*) FROM (SELECT HOLDING_HOLDINGID FROM ORDEREJB"
                  + " WHERE ORDERTYPE = 'buy' AND HOLDING_HOLDINGID IS NOT NULL"
                  + " GROUP BY HOLDING_HOLDINGID HAVING COUNT(*) > 1) WRONG"),
          Invariant.of(
              "holdings that are not what was bought",
              "SELECT COUNT(*) FROM ORDEREJB O JOIN HOLDINGEJB H"
                  + " ON H.HOLDINGID = O.HOLDING_HOLDINGID WHERE O.ORDERTYPE = 'buy'"
                  + " AND (H.ACCOUNT_ACCOUNTID <> O.ACCOUNT_ACCOUNTID"
                  + " OR H.QUOTE_SYMBOL <> O.QUOTE_SYMBOL OR H.QUANTITY <> O.QUANTITY"
                  + " OR H.PURCHASEPRICE <> O.PRICE)"),
          Invariant.of(
              "settled sales whose holding is there",
              "SELECT COUNT(*) FROM ORDEREJB O WHERE O.ORDERTYPE = 'sell' AND "
                  + SETTLED
                  + " AND HOLDING_HOLDINGID IS NOT NULL"),
          Invariant.of(
              "holdings that are being sold by no order",
              "SELECT COUNT(*) FROM HOLDINGEJB WHERE PURCHASEDATE = ?",
              new Timestamp(0)),
          // Orders that were shown may be deleted, but a sale never before the purchase it sells.
          Invariant.of(
              "accounts whose purchases have lost holdings without a sale",
              "SELECT COUNT(*) FROM (SELECT O.ACCOUNT_ACCOUNTID FROM ORDEREJB O LEFT JOIN HOLDINGEJB H"
                  + " ON H.HOLDINGID = O.HOLDING_HOLDINGID WHERE "
                  + SETTLED
                  + " GROUP BY O.ACCOUNT_ACCOUNTID HAVING"
                  + " SUM(CASE WHEN O.ORDERTYPE = 'buy' AND H.HOLDINGID IS NULL THEN 1 ELSE 0 END)"
                  + " > SUM(CASE WHEN O.ORDERTYPE = 'sell' THEN 1 ELSE 0 END)) WRONG"),
          Invariant.of(
              "keys beyond their counter",
              "SELECT COUNT(*) FROM KEYGENEJB WHERE"
                  + " (KEYNAME = 'account' AND KEYVAL < (SELECT MAX(ACCOUNTID) FROM ACCOUNTEJB))"
                  + " OR (KEYNAME = 'holding' AND KEYVAL < (SELECT MAX(HOLDINGID) FROM HOLDINGEJB))"
                  + " OR (KEYNAME = 'order' AND KEYVAL < (SELECT MAX(ORDERID) FROM ORDEREJB))"),
          Invariant.of(
              "stocks without a price, or whose change is not from it",
              "SELECT COUNT(*) FROM QUOTEEJB WHERE PRICE <= 0"
                  + " OR ABS(CHANGE1 - (PRICE - OPEN1)) > 0.005"));

  /**
   * Those that need every order that there ever was: Enterprise Beans with long run delete orders
   * once they were shown.
   */
  static final List<Invariant> OF_HISTORY =
      List.of(
          Invariant.of(
              "accounts whose balance is not what their orders come to",
              "SELECT COUNT(*) FROM ACCOUNTEJB A LEFT JOIN ("
                  + BY_ORDERS
                  + ") B ON B.ID = A.ACCOUNTID"
                  + " WHERE ABS(A.BALANCE - A.OPENBALANCE - COALESCE(B.CASH, 0)) > 0.005"),
          Invariant.of(
              "accounts that do not hold what they bought and did not sell",
              "SELECT COUNT(*) FROM ACCOUNTEJB A LEFT JOIN ("
                  + BY_ORDERS
                  + ") B ON B.ID = A.ACCOUNTID LEFT JOIN (SELECT ACCOUNT_ACCOUNTID AS ID,"
                  + " COUNT(*) AS HELD FROM HOLDINGEJB GROUP BY ACCOUNT_ACCOUNTID) H"
                  + " ON H.ID = A.ACCOUNTID"
                  + " WHERE COALESCE(B.HELD, 0) <> COALESCE(H.HELD, 0)"));

  private TradeInvariants() {}
}
