// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.data;

import com.mongodb.client.MongoDatabase;
import dev.steelyard.acmeair.Dialect;
import dev.steelyard.acmeair.InvalidInputException;
import java.util.Map;
import org.bson.Document;

/** Writes the customers: {@code uid0@email.com} and so on, all alike. */
public final class CustomerLoader {

  /** How many customers there are unless somebody says so. */
  public static final int DEFAULT_CUSTOMERS = 10_000;

  /** The most that can be asked for. */
  public static final int MOST_CUSTOMERS = 10_000_000;

  private static final String PART = "customers";

  private final MongoDatabase database;
  private final Dialect dialect;
  private final DataSet dataSet;

  /** Loads into this database. */
  public CustomerLoader(MongoDatabase database, Dialect dialect) {
    this.database = database;
    this.dialect = dialect;
    this.dataSet = new DataSet(database);
  }

  /**
   * A number of customers that can be loaded.
   *
   * @throws InvalidInputException if it is negative or larger than {@link #MOST_CUSTOMERS}
   */
  public static int checked(long customers) {
    if (customers < 0 || customers > MOST_CUSTOMERS) {
      throw new InvalidInputException(
          "The number of customers must be from 0 to " + MOST_CUSTOMERS + ".");
    }
    return (int) customers;
  }

  /**
   * Replaces all customers.
   *
   * @param customers how many there are to be
   */
  public synchronized void load(int customers) {
    dataSet.forget(PART);
    database.getCollection(Collections.CUSTOMER).deleteMany(new Document());
    ContentHash hash = new ContentHash();
    try (BatchWriter writer = new BatchWriter(database, Collections.CUSTOMER, hash)) {
      for (int n = 0; n < customers; n++) {
        writer.write(customer(n));
      }
    }
    dataSet.remember(PART, hash.text(), Map.of("customers", Integer.toString(customers)));
  }

  private Document customer(int n) {
    return new Document("_id", "uid" + n + "@email.com")
        .append("password", "password")
        .append("status", "GOLD")
        .append("total_miles", dialect.totalMiles())
        .append("miles_ytd", dialect.milesThisYear())
        .append(
            "address",
            new Document("streetAddress1", "123 Main St.")
                .append("streetAddress2", null)
                .append("city", "Anytown")
                .append("stateProvince", "NC")
                .append("country", "USA")
                .append("postalCode", "27617"))
        .append("phoneNumber", "919-123-4567")
        .append("phoneNumberType", "BUSINESS");
  }
}
