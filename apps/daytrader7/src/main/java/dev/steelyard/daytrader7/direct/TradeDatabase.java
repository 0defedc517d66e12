// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.direct;

import dev.steelyard.bench.database.Database;
import dev.steelyard.daytrader7.TradeException;
import jakarta.annotation.Resource;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.transaction.Status;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.SQLException;
import javax.sql.DataSource;

/** The application's database. A transaction that is under way is joined. */
@ApplicationScoped
public class TradeDatabase extends Database {

  @Resource(lookup = "java:comp/env/jdbc/TradeDataSource")
  private DataSource source;

  @Resource(lookup = "java:comp/TransactionSynchronizationRegistry")
  private TransactionSynchronizationRegistry transactions;

  @Override
  protected DataSource source() {
    return source;
  }

  @Override
  protected RuntimeException failure(String message, SQLException cause) {
    return new TradeException(message, cause);
  }

  @Override
  protected boolean joins() {
    return transactions.getTransactionStatus() != Status.STATUS_NO_TRANSACTION;
  }
}
