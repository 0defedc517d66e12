// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.data;

import com.mongodb.client.MongoDatabase;
import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.customer.Customer;
import dev.steelyard.acmeair.mongo.Collections;
import dev.steelyard.acmeair.mongo.MongoCustomers;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Map;
import org.bson.Document;

/** Writes the customers: {@code uid0@email.com} and so on, all alike. */
@Singleton
public final class CustomerLoader {

  /** How many customers there are unless somebody says so. */
  public static final int DEFAULT_CUSTOMERS = 10_000;

  /** The most that can be asked for. */
  public static final int MOST_CUSTOMERS = 10_000_000;

  private static final String PART = "customers";

  private final MongoDatabase database;
  private final DataSet dataSet;

  /** Loads into this database. */
  @Inject
  public CustomerLoader(MongoDatabase database) {
    this.database = database;
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
   * @param totalMiles miles in all of each
   * @param milesThisYear miles of this year of each
   */
  public synchronized void load(int customers, int totalMiles, int milesThisYear) {
    dataSet.forget(PART);
    database.getCollection(Collections.CUSTOMER).deleteMany(new Document());
    ContentHash hash = new ContentHash();
    try (BatchWriter writer = new BatchWriter(database, Collections.CUSTOMER, hash)) {
      for (int n = 0; n < customers; n++) {
        writer.write(MongoCustomers.document(Customer.numbered(n, totalMiles, milesThisYear)));
      }
    }
    dataSet.remember(PART, hash.text(), Map.of("customers", Integer.toString(customers)));
  }
}
