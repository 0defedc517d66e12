// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith.original;

import dev.steelyard.acmeair.customer.CustomerRepository;
import dev.steelyard.acmeair.flight.FlightRepository;
import dev.steelyard.acmeair.mongo.MongoCustomers;
import dev.steelyard.acmeair.mongo.MongoSessions;
import dev.steelyard.acmeair.mongo.ServerContext;
import dev.steelyard.acmeair.original.TextCustomers;
import dev.steelyard.acmeair.original.TextFlights;
import dev.steelyard.acmeair.session.SessionRepository;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import jakarta.annotation.Priority;
import jakarta.enterprise.inject.Alternative;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;

/** The monolith's repositories in the place of those of the database: with detours, or without. */
@Alternative
@Priority(1)
@Singleton
public class Repositories {

  private final boolean lean;

  @Inject
  Repositories(AcmeAirSettings settings) {
    this.lean = settings.json() == AcmeAirSettings.Json.LEAN;
  }

  @Produces
  @Singleton
  CustomerRepository customers(MongoCustomers stored) {
    return lean ? stored : new TextCustomers(stored, ParsedJson.FORM);
  }

  @Produces
  @Singleton
  SessionRepository sessions(MongoSessions stored) {
    return lean ? stored : new TextSessions(stored);
  }

  @Produces
  @Singleton
  FlightRepository flights(ServerContext context) {
    return lean ? context.flights() : new TextFlights(context.flights(), ParsedJson.FORM);
  }
}
