// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.original;

import dev.steelyard.acmeair.customer.Customer;
import dev.steelyard.acmeair.customer.CustomerRepository;
import dev.steelyard.acmeair.json.CustomerTexts;
import java.util.Optional;

/**
 * Customers as texts, parsed for what rules need of them: not where they are only shown.
 *
 * @param stored where they come from
 * @param form of the texts
 */
public record TextCustomers(CustomerRepository stored, TextForm form)
    implements CustomerRepository {

  @Override
  public Optional<Customer> find(String id) {
    return stored.find(id).map(this::parsed);
  }

  private Customer parsed(Customer customer) {
    String text = CustomerTexts.stored(customer, customer.password(), form.style());
    return customer.withPassword(form.parser().apply(text).text("password"));
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
