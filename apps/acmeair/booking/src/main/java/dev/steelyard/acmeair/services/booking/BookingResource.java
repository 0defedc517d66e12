// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.booking;

import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.booking.BookingRequest;
import dev.steelyard.acmeair.booking.BookingService;
import dev.steelyard.acmeair.json.BookingTexts;
import dev.steelyard.acmeair.json.DateTexts;
import dev.steelyard.acmeair.json.JsonStyle;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import dev.steelyard.acmeair.web.Caller;
import jakarta.annotation.security.RolesAllowed;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.SecurityContext;
import java.util.List;

/** A customer's own bookings. Somebody else's are refused with 403. */
@Path("/")
@Produces(MediaType.TEXT_PLAIN)
@RolesAllowed(BookingApplication.USER)
@Singleton
public final class BookingResource {

  private final BookingService bookings;
  private final Rewards rewards;
  private final BookingTexts texts;

  @Inject
  public BookingResource(BookingService bookings, Rewards rewards, AcmeAirSettings settings) {
    this.bookings = bookings;
    this.rewards = rewards;
    this.texts = new BookingTexts(JsonStyle.RELAXED, new DateTexts(settings.zone()));
  }

  /** Books one flight or two; the miles follow without the reply waiting for them. */
  @POST
  @Path("/bookflights")
  @Consumes(MediaType.APPLICATION_FORM_URLENCODED)
  public String book(
      @FormParam("userid") String user,
      @FormParam("toFlightId") String toFlight,
      @FormParam("toFlightSegId") String toSegment,
      @FormParam("retFlightId") String returnFlight,
      @FormParam("retFlightSegId") String returnSegment,
      @FormParam("oneWayFlight") String oneWay,
      @Context SecurityContext caller) {
    Caller.own(InvalidInputException.required("userid", user), caller);
    BookingRequest request =
        BookingRequest.of(user, toFlight, toSegment, returnFlight, returnSegment, oneWay);
    List<String> ids = bookings.book(request);
    request
        .legs()
        .forEach(leg -> rewards.settle(user, leg.segmentId().orElseThrow(), Rewards.Sign.ADD));
    return BookingTexts.made(request, ids);
  }

  /** The customer's bookings, a JSON array. */
  @GET
  @Path("/byuser/{user}")
  public String list(@PathParam("user") String user, @Context SecurityContext caller) {
    return texts.list(bookings.byCustomer(Caller.own(user, caller)));
  }

  /** Cancels a booking, or none if there is none (any more); the miles follow. */
  @POST
  @Path("/cancelbooking")
  @Consumes(MediaType.APPLICATION_FORM_URLENCODED)
  public String cancel(
      @FormParam("number") String number,
      @FormParam("userid") String user,
      @Context SecurityContext caller) {
    Caller.own(InvalidInputException.required("userid", user), caller);
    bookings
        .cancelOwn(user, InvalidInputException.required("number", number))
        .ifPresent(segment -> rewards.settle(user, segment, Rewards.Sign.TAKE_BACK));
    return "booking " + number + " deleted.";
  }
}
