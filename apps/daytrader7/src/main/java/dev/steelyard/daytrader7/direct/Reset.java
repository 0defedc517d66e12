// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.direct;

import static dev.steelyard.bench.database.Database.one;
import static dev.steelyard.bench.database.Database.update;

import dev.steelyard.daytrader7.RunStatistics;
import java.sql.Connection;
import java.sql.SQLException;

/** The statements of a reset, in one transaction: 8 that read, 7 that delete, 1 that changes. */
final class Reset {

  private static final String NEW_ACCOUNTS =
      "(SELECT A.ACCOUNTID FROM ACCOUNTEJB A WHERE A.PROFILE_USERID LIKE 'ru:%')";

  /** Logins and logouts. */
  private record Visits(int logins, int logouts) {}

  private Reset() {}

  static RunStatistics run(Connection connection) throws SQLException {
    update(connection, "DELETE FROM HOLDINGEJB WHERE ACCOUNT_ACCOUNTID IS NULL");
    int newUsers = update(connection, "DELETE FROM ACCOUNTPROFILEEJB WHERE USERID LIKE 'ru:%'");
    update(connection, "DELETE FROM ORDEREJB WHERE ACCOUNT_ACCOUNTID IN " + NEW_ACCOUNTS);
    update(connection, "DELETE FROM HOLDINGEJB WHERE ACCOUNT_ACCOUNTID IN " + NEW_ACCOUNTS);
    update(connection, "DELETE FROM ACCOUNTEJB WHERE PROFILE_USERID LIKE 'ru:%'");
    int users = count(connection, "ACCOUNTEJB");
    int stocks = count(connection, "QUOTEEJB");
    Visits visits =
        one(
            connection,
            row -> new Visits(row.getInt(1), row.getInt(2)),
            "SELECT SUM(LOGINCOUNT), SUM(LOGOUTCOUNT) FROM ACCOUNTEJB");
    update(
        connection,
        "UPDATE ACCOUNTEJB SET LOGINCOUNT = 0, LOGOUTCOUNT = 0 WHERE PROFILE_USERID LIKE 'uid:%'");
    int holdings = count(connection, "HOLDINGEJB");
    int orders = count(connection, "ORDEREJB");
    int buys = count(connection, "ORDEREJB WHERE ORDERTYPE = 'buy'");
    int sells = count(connection, "ORDEREJB WHERE ORDERTYPE = 'sell'");
    int cancelled = update(connection, "DELETE FROM ORDEREJB WHERE ORDERSTATUS = 'cancelled'");
    int open = count(connection, "ORDEREJB WHERE ORDERSTATUS = 'open'");
    int deleted = update(connection, "DELETE FROM ORDEREJB WHERE HOLDING_HOLDINGID IS NULL");
    return new RunStatistics(
        users,
        stocks,
        newUsers,
        visits.logins(),
        visits.logouts(),
        holdings,
        orders,
        buys,
        sells,
        cancelled,
        open,
        deleted);
  }

  private static int count(Connection connection, String what) throws SQLException {
    return one(connection, row -> row.getInt(1), "SELECT COUNT(*) FROM " + what);
  }
}
