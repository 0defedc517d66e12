// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.acmeair;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.steelyard.loadgen.journey.WrongAnswer;

/**
 * A customer as View Profile tells it.
 *
 * @param members all of its members: an update sends every one of them back
 * @param house number in the street
 * @param street the first line of the address after the number
 * @param postalCode postal code
 */
record Profile(ObjectNode members, int house, String street, int postalCode) {
  private static final String ADDRESS = "address";
  private static final String STREET = "streetAddress1";
  private static final String POSTAL_CODE = "postalCode";
  private static final int LAST_POSTAL_CODE = 99_999;
  private static final int FIRST_POSTAL_CODE = 10_000;

  static Profile of(ObjectNode members) {
    String line = members.path(ADDRESS).path(STREET).asText();
    int blank = line.indexOf(' ');
    try {
      return new Profile(
          members,
          Integer.parseInt(line.substring(0, Math.max(0, blank))),
          line.substring(blank + 1),
          Integer.parseInt(members.path(ADDRESS).path(POSTAL_CODE).asText()));
    } catch (NumberFormatException e) {
      throw new WrongAnswer("the customer has no house number or no numeric postal code");
    }
  }

  /**
   * The customer after it moved one house on.
   *
   * @param password what the customer proves itself with
   */
  Profile moved(String password) {
    int code = postalCode < LAST_POSTAL_CODE ? postalCode + 1 : FIRST_POSTAL_CODE;
    ObjectNode copy = members.deepCopy();
    copy.put("password", password)
        .withObject("/" + ADDRESS)
        .put(STREET, (house + 1) + " " + street)
        .put(POSTAL_CODE, Integer.toString(code));
    return new Profile(copy, house + 1, street, code);
  }

  /**
   * Whether the reply to this profile's update may be what is stored then: the street stays, but
   * the house may be that of another user of the same customer, who wrote in between.
   */
  boolean isStoredAs(Profile reply) {
    return reply.street.equals(street);
  }

  /**
   * Whether that is an older house: of another user who had read the profile before and wrote late,
   * or of a server that stores nothing.
   */
  boolean isOvertakenBy(Profile reply) {
    return reply.house < house;
  }
}
