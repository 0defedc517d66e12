// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.customer;

import java.util.Arrays;

/**
 * A customer.
 *
 * @param id the login name
 * @param password in clear text, as the original keeps it; null where it is not shown
 * @param status such as GOLD
 * @param totalMiles miles in all
 * @param milesThisYear miles of this year
 * @param address where the customer lives
 * @param phoneNumber any text
 * @param phoneNumberType such as BUSINESS
 */
public record Customer(
    String id,
    String password,
    String status,
    int totalMiles,
    int milesThisYear,
    Address address,
    String phoneNumber,
    String phoneNumberType) {

  /**
   * The customer of this number in a data set, where all are alike: {@code uid0@email.com} and so
   * on.
   */
  public static Customer numbered(int number, int totalMiles, int milesThisYear) {
    return new Customer(
        "uid" + number + "@email.com",
        "password",
        "GOLD",
        totalMiles,
        milesThisYear,
        new Address(Arrays.asList("123 Main St.", null), "Anytown", "NC", "USA", "27617"),
        "919-123-4567",
        "BUSINESS");
  }

  /** The same customer under this id. */
  public Customer withId(String other) {
    return new Customer(
        other, password, status, totalMiles, milesThisYear, address, phoneNumber, phoneNumberType);
  }

  /** The same customer with an address that has no empty line. */
  public Customer withoutEmptyLine() {
    return new Customer(
        id,
        password,
        status,
        totalMiles,
        milesThisYear,
        address.withoutEmptyLine(),
        phoneNumber,
        phoneNumberType);
  }
}
