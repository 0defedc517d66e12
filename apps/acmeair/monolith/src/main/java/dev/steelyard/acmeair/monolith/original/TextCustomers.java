// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith.original;

import dev.steelyard.acmeair.customer.Customer;
import dev.steelyard.acmeair.customer.CustomerRepository;
import dev.steelyard.acmeair.json.CustomerTexts;
import dev.steelyard.acmeair.json.JsonStyle;
import java.util.Map;
import java.util.Optional;

/** Customers as texts, parsed for their password: not where they are only shown. */
record TextCustomers(CustomerRepository stored) implements CustomerRepository {

  @Override
  public Optional<Customer> find(String id) {
    return stored.find(id).map(TextCustomers::parsed);
  }

  private static Customer parsed(Customer customer) {
    String text = CustomerTexts.stored(customer, customer.password(), JsonStyle.WIDE);
    Map<String, Object> members = Texts.parsed(text);
    return customer.withPassword((String) members.get("password"));
  }

  @Override
  public Optional<Customer> profile(String id) {
    return stored.profile(id);
  }

  @Override
  public void update(Customer customer) {
    stored.update(customer);
  }

  @Override
  public void updateMiles(String id, int totalMiles) {
    stored.updateMiles(id, totalMiles);
  }

  @Override
  public long count() {
    return stored.count();
  }
}
