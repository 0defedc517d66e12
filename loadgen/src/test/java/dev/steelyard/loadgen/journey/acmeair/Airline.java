// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.acmeair;

import dev.steelyard.loadgen.journey.User;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Journeys and what answers them, without a wire: flights as the workload's rules give them. */
final class Airline {
  static final String CUSTOMER_JSON =
      "{\"_id\":\"%s\",\"status\":\"GOLD\",\"total_miles\":7,\"address\":{\"streetAddress1\":\"%d Main"
          + " St.\",\"streetAddress2\":null,\"postalCode\":\"%d\"},\"password\":null}";

  private static final String ONE_FLIGHT = "{\"_id\":\"f1\",\"flightSegmentId\":\"AA1\"}";
  private static final List<String> DAYS_WITH_FLIGHTS =
      List.of("Jun 15", "Jun 16", "Jun 17", "Jun 18", "Jun 19");

  final List<AcmeairStep> steps = new ArrayList<>();
  final Map<AcmeairStep, Integer> counts = new EnumMap<>(AcmeairStep.class);
  final int[] outcomes = new int[AcmeairJourneys.OUTCOMES.size()];
  final AcmeairJourneys journeys;
  final AcmeairJourney[] users;

  private final List<AcmeairStep> indexes;
  private final Map<String, List<String>> bookings = new HashMap<>();
  private int bookingNumber;

  Airline(Plan plan, int users) {
    indexes = AcmeairStep.all(plan.logsOut());
    journeys = new AcmeairJourneys(plan, 0, outcome -> outcomes[outcome]++);
    this.users =
        IntStream.range(0, users)
            .mapToObj(i -> journeys.start(new User(11, i)))
            .toArray(AcmeairJourney[]::new);
  }

  /** The next step of a user, chosen but not answered. */
  AcmeairStep begin(AcmeairJourney user) {
    AcmeairStep step = indexes.get(user.next());
    steps.add(step);
    counts.merge(step, 1, Integer::sum);
    return step;
  }

  /** One request of a user, answered as it should be. */
  AcmeairStep turn(AcmeairJourney user) {
    AcmeairStep step = begin(user);
    user.answer(answer(step, user));
    user.ended(false);
    return step;
  }

  /** Requests of the first user, answered as they should be. */
  void turns(int count) {
    for (int i = 0; i < count; i++) {
      turn(users[0]);
    }
  }

  /** Requests until the next one is of that step. */
  AcmeairStep beginNext(AcmeairStep wanted) {
    AcmeairStep step = begin(users[0]);
    while (step != wanted) {
      users[0].answer(answer(step, users[0]));
      users[0].ended(false);
      step = begin(users[0]);
    }
    return step;
  }

  int count(AcmeairStep step) {
    return counts.getOrDefault(step, 0);
  }

  List<String> bookings(String customer) {
    return bookings.computeIfAbsent(customer, unseen -> new ArrayList<>());
  }

  String answer(AcmeairStep step, AcmeairJourney user) {
    return switch (step) {
      case LOGIN -> "logged in";
      case VIEW_PROFILE -> CUSTOMER_JSON.formatted(user.customer(), 123, 27617);
      case UPDATE_CUSTOMER -> user.update();
      case QUERY_FLIGHT -> query(finds(user.search()) ? ONE_FLIGHT : "");
      case BOOK_FLIGHT -> {
        bookings(user.customer()).add("b" + bookingNumber++);
        yield "{\"oneWay\":true,\"departBookingId\":\"b\"}";
      }
      case LIST_BOOKINGS -> list(user.customer(), bookings(user.customer()));
      case CANCEL_BOOKING -> {
        bookings(user.customer()).remove(user.cancellation());
        yield "booking " + user.cancellation() + " deleted.";
      }
      case LOGOUT -> "logged out";
    };
  }

  static String query(String... legs) {
    return List.of(legs).stream()
        .map("{\"flightsOptions\":[%s]}"::formatted)
        .collect(Collectors.joining(",", "{\"tripFlights\":[", "]}"));
  }

  static String list(String customer, List<String> ids) {
    return ids.stream()
        .map(id -> "{\"_id\":\"%s\",\"customerId\":\"%s\"}".formatted(id, customer))
        .collect(Collectors.joining(",", "[", "]"));
  }

  private static boolean finds(AcmeairJourneys.Search search) {
    String day = search.fromDate().substring(4, 10);
    return DAYS_WITH_FLIGHTS.contains(day)
        && !search.from().equals(search.to())
        && !List.of("BOM", "DEL").contains(search.from());
  }
}
