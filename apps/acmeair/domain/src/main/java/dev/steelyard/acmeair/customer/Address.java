// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.customer;

import java.util.Collections;
import java.util.List;

/**
 * A postal address.
 *
 * @param street one line or two, of which the second may be null: kept, and empty
 * @param city city
 * @param stateProvince state or province
 * @param country country
 * @param postalCode postal code
 */
public record Address(
    List<String> street, String city, String stateProvince, String country, String postalCode) {

  /** The same address without a second line that is empty. */
  Address withoutEmptyLine() {
    return street.size() < 2 || street.get(1) != null
        ? this
        : new Address(
            Collections.singletonList(street.get(0)), city, stateProvince, country, postalCode);
  }
}
