// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith;

import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.booking.BookingRequest;
import dev.steelyard.acmeair.booking.BookingService;
import dev.steelyard.acmeair.json.BookingTexts;
import dev.steelyard.acmeair.json.DateTexts;
import dev.steelyard.acmeair.json.JsonStyle;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import dev.steelyard.acmeair.web.Caller;
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

/** {@code /rest/api/bookings}: 403 for bookings of another than the session's customer. */
@Path("/api/bookings")
@Produces(MediaType.TEXT_PLAIN + ";charset=UTF-8")
@SessionRequired
@Singleton
public final class BookingsResource {

  private final BookingService bookings;
  private final BookingTexts texts;

  @Inject
  public BookingsResource(BookingService bookings, AcmeAirSettings settings) {
    this.bookings = bookings;
    this.texts = new BookingTexts(JsonStyle.WIDE, new DateTexts(settings.zone()));
  }

  /** Books one flight or two; JSON with the ids of the bookings. */
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
      @Context SecurityContext session) {
    BookingRequest request =
        BookingRequest.of(user, toFlight, toSegment, returnFlight, returnSegment, oneWay);
    Caller.own(request.customerId(), session);
    return BookingTexts.made(request, bookings.book(request.withoutSegments()));
  }

  /** The bookings of a customer, a JSON array. */
  @GET
  @Path("/byuser/{user}")
  public String byUser(@PathParam("user") String user, @Context SecurityContext session) {
    return texts.list(bookings.byCustomer(Caller.own(user, session)));
  }

  /** Cancels a booking; an unknown one is none to cancel and no error. */
  @POST
  @Path("/cancelbooking")
  @Consumes(MediaType.APPLICATION_FORM_URLENCODED)
  public String cancel(
      @FormParam("number") String number,
      @FormParam("userid") String user,
      @Context SecurityContext session) {
    String booking = InvalidInputException.required("number", number);
    Caller.own(InvalidInputException.required("userid", user), session);
    bookings.cancel(booking);
    return "booking " + booking + " deleted.";
  }

  /** Whether bookings are there at all. */
  @GET
  @Produces(MediaType.APPLICATION_OCTET_STREAM)
  public String status() {
    return "OK";
  }
}
