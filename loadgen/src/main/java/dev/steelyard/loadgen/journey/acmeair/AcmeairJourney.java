// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.acmeair;

import dev.steelyard.loadgen.journey.Journey;
import dev.steelyard.loadgen.journey.WrongAnswer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The journey of one user: log in as some customer, make visits, log out if there is a logout, and
 * again. A visit is: in every fourth, look at the profile and update it; five searches; a booking
 * if the last search that was understood found a flight; the list of bookings; in every fourth,
 * cancel all of them but two.
 *
 * <p>After an error the journey goes on as far as it can: a failed login starts over, with another
 * customer; a profile that was not read is not updated; a search that failed leaves what was known;
 * a list that failed gives nothing to cancel; every other step is simply over.
 *
 * <p>Between {@link #next} and {@link #ended}, the requests take what they send from here, and give
 * what was answered to {@link #answer}.
 */
public final class AcmeairJourney implements Journey {
  /** Of all customers. */
  public static final String PASSWORD = "password";

  private final AcmeairJourneys shared;
  private final SplittableRandom random;

  private AcmeairStep step = AcmeairStep.LOGIN;
  private String customer;
  private int visits;
  private int searches;
  private AcmeairJourneys.Search search;
  private Trip trip = Trip.NONE;
  private Profile profile;
  private final Deque<String> cancellations = new ArrayDeque<>();

  // What the answer to the request in flight said; it counts only if nothing was wrong with it.
  private Trip.Found found;
  private boolean overtaken;
  private List<String> bookings = List.of();

  AcmeairJourney(AcmeairJourneys shared, SplittableRandom random) {
    this.shared = shared;
    this.random = random;
  }

  @Override
  public int next() {
    switch (step) {
      case LOGIN -> customer = shared.drawCustomer(random);
      case QUERY_FLIGHT -> search = shared.nextSearch(random);
      case UPDATE_CUSTOMER -> profile = profile.moved(PASSWORD);
      default -> {}
    }
    return shared.indexOf(step);
  }

  /** Login name of the customer. */
  public String customer() {
    return customer;
  }

  /** The search to send. */
  public AcmeairJourneys.Search search() {
    return search;
  }

  /** The trip to book. */
  public Trip trip() {
    return trip;
  }

  /** The customer to write back, as JSON. */
  public String update() {
    return profile.members().toString();
  }

  /** The booking to cancel. */
  public String cancellation() {
    return cancellations.getFirst();
  }

  /**
   * Reads the body of an answer.
   *
   * @throws WrongAnswer if it is not what it has to be
   */
  public void answer(String body) {
    switch (step) {
      case LOGIN -> Answers.text(body, "logged in", "the body is not \"logged in\"");
      case VIEW_PROFILE -> profile = Answers.profile(body, customer);
      case UPDATE_CUSTOMER -> {
        Profile stored = Answers.profile(body, customer);
        if (!profile.isStoredAs(stored)) {
          throw new WrongAnswer("the customer has another street");
        }
        overtaken = profile.isOvertakenBy(stored);
      }
      case QUERY_FLIGHT -> found = Answers.found(body);
      case BOOK_FLIGHT -> Answers.booked(body, trip.isOneWay());
      case LIST_BOOKINGS -> bookings = Answers.bookings(body, customer);
      case CANCEL_BOOKING ->
          Answers.text(
              body,
              "booking " + cancellation() + " deleted.",
              "the body is not \"booking <id> deleted.\"");
      case LOGOUT -> Answers.text(body, "logged out", "the body is not \"logged out\"");
    }
  }

  @Override
  public void ended(boolean failed) {
    step =
        switch (step) {
          case LOGIN -> failed ? AcmeairStep.LOGIN : firstVisit();
          case VIEW_PROFILE -> failed ? AcmeairStep.QUERY_FLIGHT : AcmeairStep.UPDATE_CUSTOMER;
          case UPDATE_CUSTOMER -> afterUpdate(failed);
          case QUERY_FLIGHT -> afterSearch(failed);
          case BOOK_FLIGHT -> AcmeairStep.LIST_BOOKINGS;
          case LIST_BOOKINGS -> afterList(failed);
          case CANCEL_BOOKING -> afterCancellation();
          case LOGOUT -> AcmeairStep.LOGIN;
        };
  }

  private AcmeairStep firstVisit() {
    visits = 0;
    return visit();
  }

  private AcmeairStep visit() {
    searches = 0;
    trip = Trip.NONE;
    return shared.profileTurn() ? AcmeairStep.VIEW_PROFILE : AcmeairStep.QUERY_FLIGHT;
  }

  private AcmeairStep afterUpdate(boolean failed) {
    if (!failed && overtaken) {
      shared.count(AcmeairJourneys.UPDATE_OVERTAKEN);
    }
    return AcmeairStep.QUERY_FLIGHT;
  }

  private AcmeairStep afterSearch(boolean failed) {
    if (!failed) {
      shared.count(found);
      trip = trip.after(found);
    }
    searches++;
    if (searches < Plan.QUERIES) {
      return AcmeairStep.QUERY_FLIGHT;
    }
    return trip.available() ? AcmeairStep.BOOK_FLIGHT : AcmeairStep.LIST_BOOKINGS;
  }

  private AcmeairStep afterList(boolean failed) {
    // Asked in any case: the turn counts visits, not lists that could be read.
    boolean cancels = shared.cancelTurn() && !failed;
    if (cancels && bookings.size() > Plan.KEPT_BOOKINGS) {
      cancellations.addAll(bookings.subList(0, bookings.size() - Plan.KEPT_BOOKINGS));
      return AcmeairStep.CANCEL_BOOKING;
    }
    return afterVisit();
  }

  private AcmeairStep afterCancellation() {
    cancellations.removeFirst();
    return cancellations.isEmpty() ? afterVisit() : AcmeairStep.CANCEL_BOOKING;
  }

  private AcmeairStep afterVisit() {
    visits++;
    if (visits < shared.plan.visitsPerLogin()) {
      return visit();
    }
    return shared.plan.logsOut() ? AcmeairStep.LOGOUT : AcmeairStep.LOGIN;
  }
}
