// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.sockets;

import dev.steelyard.daytrader7.MarketSummary;
import dev.steelyard.daytrader7.PriceChange;
import dev.steelyard.daytrader7.entities.Quote;
import jakarta.json.JsonObjectBuilder;
import jakarta.json.spi.JsonProvider;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;

/** What is told of the market, as JSON: the keys and their order are the driver's. */
final class SummaryJson {

  /** {@code Json} looks a provider up at each call, among all the services of the class path. */
  static final JsonProvider JSON = JsonProvider.provider();

  private SummaryJson() {}

  /** The summary, and then the changes. */
  static String reply(MarketSummary summary, List<PriceChange> changes) {
    JsonObjectBuilder json = JSON.createObjectBuilder();
    addQuotes(json, "gainer", summary.topGainers());
    addQuotes(json, "loser", summary.topLosers());
    json.add("tsia", summary.tsia());
    json.add("volume", summary.volume());
    json.add("date", LocalDate.ofInstant(summary.date(), ZoneId.systemDefault()).toString());
    addChanges(json, changes);
    return json.build().toString();
  }

  /** The changes alone. */
  static String push(List<PriceChange> changes) {
    JsonObjectBuilder json = JSON.createObjectBuilder();
    addChanges(json, changes);
    return json.build().toString();
  }

  private static void addQuotes(JsonObjectBuilder json, String kind, List<Quote> quotes) {
    int number = 1;
    for (Quote quote : quotes) {
      String name = kind + number++;
      json.add(name + "_stock", quote.getSymbol());
      json.add(name + "_price", "$" + quote.getPrice());
      json.add(name + "_change", quote.getChange());
    }
  }

  private static void addChanges(JsonObjectBuilder json, List<PriceChange> changes) {
    int number = 1;
    for (PriceChange change : changes) {
      String name = "change" + number++;
      json.add(name + "_stock", change.symbol());
      json.add(name + "_price", "$" + change.price());
      json.add(name + "_change", change.price().subtract(change.oldPrice()).toString());
    }
  }
}
