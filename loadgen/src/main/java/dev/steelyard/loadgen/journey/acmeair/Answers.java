// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.acmeair;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.steelyard.loadgen.journey.WrongAnswer;
import java.util.ArrayList;
import java.util.List;

/** Reads the bodies of answers; a body that is not what it has to be is a {@link WrongAnswer}. */
final class Answers {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String ID = "_id";

  private Answers() {}

  /** The body is this text. */
  static void text(String body, String expected, String otherwise) {
    if (!body.equals(expected)) {
      throw new WrongAnswer(otherwise);
    }
  }

  /** A customer. */
  static Profile profile(String body, String customer) {
    if (json(body) instanceof ObjectNode members && isText(members.get(ID), customer)) {
      return Profile.of(members);
    }
    throw new WrongAnswer("the body is not the customer asked for");
  }

  /** The last flight offered for each leg. */
  static Trip.Found found(String body) {
    JsonNode legs = json(body).path("tripFlights");
    if (!legs.isArray() || legs.isEmpty() || legs.size() > 2) {
      throw new WrongAnswer("the body is not a flight query's reply with one or two legs");
    }
    boolean secondLeg = legs.size() > 1;
    return new Trip.Found(
        lastOption(legs.get(0)), secondLeg ? lastOption(legs.get(1)) : null, secondLeg);
  }

  private static Trip.Flight lastOption(JsonNode leg) {
    JsonNode options = leg.path("flightsOptions");
    if (!options.isArray()) {
      throw new WrongAnswer("a leg of the flight query's reply has no array flightsOptions");
    }
    if (options.isEmpty()) {
      return null;
    }
    JsonNode option = options.get(options.size() - 1);
    JsonNode id = option.path(ID);
    JsonNode segment = option.path("flightSegmentId");
    if (!id.isTextual() || !segment.isTextual()) {
      throw new WrongAnswer("a flight has no text _id or flightSegmentId");
    }
    return new Trip.Flight(id.textValue(), segment.textValue());
  }

  /** The reply to a booking. */
  static void booked(String body, boolean oneWay) {
    JsonNode reply = json(body);
    if (!hasText(reply, "departBookingId")) {
      throw new WrongAnswer("the body has no text departBookingId");
    }
    if (!oneWay && !hasText(reply, "returnBookingId")) {
      throw new WrongAnswer("the body has no text returnBookingId");
    }
  }

  /** Ids of a customer's bookings, in order. */
  static List<String> bookings(String body, String customer) {
    if (!(json(body) instanceof ArrayNode entries)) {
      throw new WrongAnswer("the body is not an array of bookings");
    }
    List<String> ids = new ArrayList<>(entries.size());
    for (JsonNode entry : entries) {
      if (!hasText(entry, ID)) {
        throw new WrongAnswer("a booking has no text _id");
      }
      if (!isText(entry.get("customerId"), customer)) {
        throw new WrongAnswer("a booking is not the customer's");
      }
      ids.add(entry.get(ID).textValue());
    }
    return ids;
  }

  private static boolean hasText(JsonNode node, String member) {
    return !node.path(member).asText("").isEmpty() && node.path(member).isTextual();
  }

  private static boolean isText(JsonNode node, String text) {
    return node != null && node.isTextual() && node.textValue().equals(text);
  }

  private static JsonNode json(String body) {
    try {
      return JSON.readTree(body);
    } catch (JsonProcessingException e) {
      throw new WrongAnswer("the body is not JSON");
    }
  }
}
