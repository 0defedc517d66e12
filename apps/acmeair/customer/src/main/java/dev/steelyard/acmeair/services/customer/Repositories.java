// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.customer;

import dev.steelyard.acmeair.customer.CustomerRepository;
import dev.steelyard.acmeair.mongo.MongoCustomers;
import dev.steelyard.acmeair.original.TextCustomers;
import dev.steelyard.acmeair.original.TextForm;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import jakarta.annotation.Priority;
import jakarta.enterprise.inject.Alternative;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** Customers in the place of those of the database: with the original's detours, or without. */
@Alternative
@Priority(1)
@Singleton
public class Repositories {

  @Produces
  @Singleton
  CustomerRepository customers(MongoCustomers stored, AcmeAirSettings settings) {
    return settings.json() == AcmeAirSettings.Json.LEAN
        ? stored
        : new TextCustomers(stored, TextForm.SERVICES);
  }
}
