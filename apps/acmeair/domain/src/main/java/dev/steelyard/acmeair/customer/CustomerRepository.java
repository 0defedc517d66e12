// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.customer;

import java.util.Optional;

/** Where customers are kept. */
public interface CustomerRepository {

  /** A customer as rules need it, with its password; nothing for an unknown id. */
  Optional<Customer> find(String id);

  /** A customer to be shown; nothing for an unknown id. */
  Optional<Customer> profile(String id);

  /** Replaces all of a customer but the id and the password. */
  void update(Customer customer);

  /** Replaces a customer's miles in all. */
  void updateMiles(String id, int totalMiles);

  /** How many there are, counted one by one. */
  long count();
}
