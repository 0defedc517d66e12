// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.population;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The names of time zones that forms offer and users choose from: as many as the original had, and
 * none that is younger than 2018. What a JVM knows depends on its release: a load with the names of
 * one would be refused by servers on another, whose forms would be of another size besides.
 */
public final class Zones {

  /** The names, in order. */
  public static final List<String> NAMES = read();

  private Zones() {}

  private static List<String> read() {
    try (InputStream in = Zones.class.getResourceAsStream("time-zones.txt");
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII))) {
      return lines.lines().filter(line -> !line.startsWith("#")).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
