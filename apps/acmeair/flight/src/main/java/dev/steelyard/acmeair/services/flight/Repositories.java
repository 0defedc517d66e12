// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.flight;

import dev.steelyard.acmeair.flight.FlightRepository;
import dev.steelyard.acmeair.mongo.ServerContext;
import dev.steelyard.acmeair.original.TextFlights;
import dev.steelyard.acmeair.original.TextForm;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import jakarta.annotation.Priority;
import jakarta.enterprise.inject.Alternative;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** Flights in the place of those of the database: with the original's detours, or without. */
@Alternative
@Priority(1)
@Singleton
public class Repositories {

  @Produces
  @Singleton
  FlightRepository flights(ServerContext context, AcmeAirSettings settings) {
    return settings.json() == AcmeAirSettings.Json.LEAN
        ? context.flights()
        : new TextFlights(context.flights(), TextForm.SERVICES);
  }
}
