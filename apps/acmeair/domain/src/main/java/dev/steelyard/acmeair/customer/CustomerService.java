// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.customer;

import dev.steelyard.acmeair.InvalidInputException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Optional;
import java.util.OptionalInt;

/** Customers: who they are, what they have. */
@Singleton
public final class CustomerService {

  private final CustomerRepository customers;
  private volatile boolean loaded;

  @Inject
  public CustomerService(CustomerRepository customers) {
    this.customers = customers;
  }

  /** Whether there are customers: counted until there are some, then remembered. */
  public boolean loaded() {
    loaded = loaded || customers.count() > 0;
    return loaded;
  }

  /**
   * Whether this is a customer's password: one find.
   *
   * @param id the login name; an unknown one has no password
   */
  public boolean validate(String id, String password) {
    return withPassword(id, password).isPresent();
  }

  private Optional<Customer> withPassword(String id, String password) {
    return customers.find(id).filter(customer -> password.equals(customer.password()));
  }

  /** A customer to be shown, or nothing for an unknown id: one find. */
  public Optional<Customer> profile(String id) {
    return customers.profile(id);
  }

  /**
   * Stores what a client sends: a find, an update, a find.
   *
   * @param sent the password is checked and never changed
   * @return the customer as stored; nothing if the password is not the customer's or the id is
   *     unknown
   */
  public Optional<Customer> update(Customer sent) {
    if (withPassword(sent.id(), sent.password()).isEmpty()) {
      return Optional.empty();
    }
    customers.update(sent);
    return withPassword(sent.id(), sent.password());
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
    Optional<Customer> customer = customers.find(id);
    if (customer.isEmpty()) {
      return OptionalInt.empty();
    }
    long total = (long) customer.get().totalMiles() + miles;
    if (total != (int) total) {
      throw new InvalidInputException("The total of the customer's miles would not fit.");
    }
    customers.updateMiles(id, (int) total);
    return OptionalInt.of((int) total);
  }
}
