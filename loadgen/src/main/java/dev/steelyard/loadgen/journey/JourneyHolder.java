// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

/** Where a request finds the journey that it belongs to: an attribute of Gatling's session. */
public interface JourneyHolder {
  /** Name of the attribute. */
  String ATTRIBUTE = "user";

  /** The journey whose request is in flight. */
  Journey journey();
}
