// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.json;

import jakarta.json.Json;
import jakarta.json.JsonBuilderFactory;
import jakarta.json.JsonReaderFactory;
import java.util.Map;

/**
 * What makes readers and builders of JSON, made once: the static methods of {@link Json} look for a
 * provider at each call, which costs more than what they are called for.
 */
public final class Factories {

  public static final JsonReaderFactory READERS = Json.createReaderFactory(Map.of());
  public static final JsonBuilderFactory BUILDERS = Json.createBuilderFactory(Map.of());

  private Factories() {}
}
