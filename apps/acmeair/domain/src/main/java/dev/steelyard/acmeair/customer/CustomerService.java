// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.customer;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.steelyard.acmeair.Dialect;
import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.data.Collections;
import dev.steelyard.acmeair.data.Counts;
import java.util.Optional;
import java.util.OptionalInt;
import org.bson.Document;

/** Customers: who they are, what they have. */
public final class CustomerService {

  private static final String PASSWORD = "password";
  private static final String TOTAL_MILES = "total_miles";

  private final MongoCollection<Document> customers;
  private final Counts counts;
  private final Dialect dialect;
  private volatile boolean loaded;

  /** Keeps customers in this database. */
  public CustomerService(MongoDatabase database, Dialect dialect) {
    this.customers = database.getCollection(Collections.CUSTOMER);
    this.counts = new Counts(database, dialect);
    this.dialect = dialect;
    this.loaded = !dialect.countsDocuments();
  }

  /**
   * Whether this is a customer's password: one find. Services also count the customers until there
   * are some.
   *
   * @param id the login name; an unknown one has no password
   */
  public boolean validate(String id, String password) {
    if (!loaded) {
      loaded = counts.of(Collections.CUSTOMER) > 0;
    }
    Document customer = customers.find(Filters.eq(id)).first();
    return customer != null && password.equals(customer.getString(PASSWORD));
  }

  /**
   * A customer, JSON, the password null and at the end: one find.
   *
   * @return nothing for an unknown id
   */
  public Optional<String> profile(String id) {
    Document customer = customers.find(Filters.eq(id)).first();
    if (customer == null) {
      return Optional.empty();
    }
    customer.remove(PASSWORD);
    customer.put(PASSWORD, null);
    return Optional.of(dialect.style().print(customer));
  }

  /**
   * Stores what a client sends: a find, an update, a find.
   *
   * @param id the customer, whatever the update says
   * @return the customer as stored, JSON, the password null; nothing if the password is not the
   *     customer's or the id is unknown
   */
  public Optional<String> update(String id, CustomerUpdate update) {
    Document before = customers.find(Filters.eq(id)).first();
    if (before == null || !update.password().equals(before.getString(PASSWORD))) {
      return Optional.empty();
    }
    customers.updateOne(
        Filters.eq(id),
        Updates.combine(
            Updates.set("status", update.status()),
            Updates.set(TOTAL_MILES, update.totalMiles()),
            Updates.set("miles_ytd", update.milesThisYear()),
            Updates.set("address", address(update.address())),
            Updates.set("phoneNumber", update.phoneNumber()),
            Updates.set("phoneNumberType", update.phoneNumberType())));
    return Optional.ofNullable(customers.find(Filters.eq(id)).first())
        .map(
            after -> {
              after.put(PASSWORD, null);
              return dialect.style().print(after);
            });
  }

  private Document address(CustomerUpdate.Address address) {
    Document document = new Document("streetAddress1", address.streetAddress1());
    if (address.streetAddress2() != null || dialect.keepsNullAddressLine()) {
      document.append("streetAddress2", address.streetAddress2());
    }
    return document
        .append("city", address.city())
        .append("stateProvince", address.stateProvince())
        .append("country", address.country())
        .append("postalCode", address.postalCode());
  }

  /**
   * Adds miles to a customer's: a find and an update, between which another may change them, as in
   * the original.
   *
   * @param miles negative to take them back
   * @return the new total, or nothing for an unknown id
   * @throws InvalidInputException if the total would not fit
   */
  public OptionalInt addMiles(String id, int miles) {
    Document customer = customers.find(Filters.eq(id)).first();
    if (customer == null) {
      return OptionalInt.empty();
    }
    long total = (long) customer.getInteger(TOTAL_MILES) + miles;
    if (total != (int) total) {
      throw new InvalidInputException("The total of the customer's miles would not fit.");
    }
    customers.updateOne(Filters.eq(id), Updates.set(TOTAL_MILES, (int) total));
    return OptionalInt.of((int) total);
  }
}
