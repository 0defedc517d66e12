// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import dev.steelyard.loadgen.journey.Journey;
import dev.steelyard.loadgen.journey.User;
import io.gatling.javaapi.core.Session;

/** The user whose requests are in flight, as the requests see it. */
public interface CurrentUser {
  /** Name of the session's attribute that holds it. */
  String ATTRIBUTE = "user";

  /** The user that a session acts for. */
  static CurrentUser of(Session session) {
    return session.get(ATTRIBUTE);
  }

  /** What it does. */
  Journey journey();

  /** What it is. */
  User user();

  /** Notes that the last byte of an answer has arrived, now. */
  void answered();
}
