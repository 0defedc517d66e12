// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.data;

import com.mongodb.client.MongoDatabase;
import dev.steelyard.acmeair.mongo.Collections;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Map;
import org.bson.Document;

/** Empties the bookings, which is all the loading that they need. */
@Singleton
public final class BookingLoader {

  private static final String PART = "bookings";

  private final MongoDatabase database;
  private final AcmeAirSettings settings;
  private final DataSet dataSet;

  /** Loads into this database. */
  @Inject
  public BookingLoader(MongoDatabase database, AcmeAirSettings settings) {
    this.database = database;
    this.settings = settings;
    this.dataSet = new DataSet(database);
  }

  /** Removes all bookings. */
  public synchronized void clear() {
    dataSet.forget(PART);
    database.getCollection(Collections.BOOKING).deleteMany(new Document());
    SecondaryIndex.apply(settings, database, Collections.BOOKING, "customerId");
    dataSet.remember(PART, new ContentHash().text(), Map.of());
  }
}
