// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.steelyard.acmeair.customer.Address;
import dev.steelyard.acmeair.customer.Customer;
import dev.steelyard.acmeair.customer.CustomerRepository;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.bson.Document;

/** Customers in their collection. */
@Singleton
public final class MongoCustomers implements CustomerRepository {

  private static final String LINE_1 = "streetAddress1";
  private static final String LINE_2 = "streetAddress2";

  private final MongoCollection<Document> customers;

  /** Keeps customers in this database. */
  @Inject
  public MongoCustomers(MongoDatabase database) {
    this.customers = database.getCollection(Collections.CUSTOMER);
  }

  @Override
  public Optional<Customer> find(String id) {
    return Optional.ofNullable(customers.find(Filters.eq(id)).first()).map(MongoCustomers::entity);
  }

  @Override
  public Optional<Customer> profile(String id) {
    return find(id);
  }

  @Override
  public void update(Customer customer) {
    customers.updateOne(
        Filters.eq(customer.id()),
        Updates.combine(
            Updates.set("status", customer.status()),
            Updates.set("total_miles", customer.totalMiles()),
            Updates.set("miles_ytd", customer.milesThisYear()),
            Updates.set("address", document(customer.address())),
            Updates.set("phoneNumber", customer.phoneNumber()),
            Updates.set("phoneNumberType", customer.phoneNumberType())));
  }

  @Override
  public void updateMiles(String id, int totalMiles) {
    customers.updateOne(Filters.eq(id), Updates.set("total_miles", totalMiles));
  }

  @Override
  public long count() {
    return customers.countDocuments();
  }

  private static Customer entity(Document stored) {
    Document address = stored.get("address", Document.class);
    String line = address.getString(LINE_1);
    return new Customer(
        stored.getString("_id"),
        stored.getString("password"),
        stored.getString("status"),
        stored.getInteger("total_miles"),
        stored.getInteger("miles_ytd"),
        new Address(
            address.containsKey(LINE_2)
                ? Arrays.asList(line, address.getString(LINE_2))
                : List.of(line),
            address.getString("city"),
            address.getString("stateProvince"),
            address.getString("country"),
            address.getString("postalCode")),
        stored.getString("phoneNumber"),
        stored.getString("phoneNumberType"));
  }

  /** A customer as it is stored. */
  public static Document document(Customer customer) {
    return new Document("_id", customer.id())
        .append("password", customer.password())
        .append("status", customer.status())
        .append("total_miles", customer.totalMiles())
        .append("miles_ytd", customer.milesThisYear())
        .append("address", document(customer.address()))
        .append("phoneNumber", customer.phoneNumber())
        .append("phoneNumberType", customer.phoneNumberType());
  }

  private static Document document(Address address) {
    Document document = new Document(LINE_1, address.street().get(0));
    if (address.street().size() > 1) {
      document.append(LINE_2, address.street().get(1));
    }
    return document
        .append("city", address.city())
        .append("stateProvince", address.stateProvince())
        .append("country", address.country())
        .append("postalCode", address.postalCode());
  }
}
