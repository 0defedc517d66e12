// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

final class AirportsTest {

  private static final List<Segment> SEGMENTS = Airports.segments();

  @Test
  void thereAreTheOriginalsAirportsAndSegments() {
    assertEquals(31, Airports.all().size());
    assertEquals(394, SEGMENTS.size());
    assertEquals("AA0", SEGMENTS.get(0).id());
    assertEquals("AMS", SEGMENTS.get(0).from());
    assertEquals("BOM", SEGMENTS.get(0).to());
    assertEquals("AA393", SEGMENTS.get(393).id());
    assertEquals("NRT", SEGMENTS.get(393).from());
    assertEquals("IKA", SEGMENTS.get(393).to());
  }

  @Test
  void nothingLeavesTheTwoIndianAirports() {
    Set<String> origins = SEGMENTS.stream().map(Segment::from).collect(Collectors.toSet());
    assertEquals(29, origins.size());
    assertFalse(origins.contains("BOM") || origins.contains("DEL"));
  }

  @Test
  void distancesAreThoseOfGeography() {
    IntSummaryStatistics miles = SEGMENTS.stream().mapToInt(Segment::miles).summaryStatistics();
    assertTrue(miles.getMin() > 100 && miles.getMin() < 300, miles.toString());
    // Half the way around the earth is the most that there can be.
    assertTrue(miles.getMax() > 10_000 && miles.getMax() < 12_451, miles.toString());
    assertTrue(miles.getAverage() > 3_500 && miles.getAverage() < 5_500, miles.toString());

    Map<String, Integer> byPair = new HashMap<>();
    SEGMENTS.forEach(segment -> byPair.put(segment.from() + segment.to(), segment.miles()));
    // As published for these routes, to one in a hundred.
    assertClose(3_451, byPair.get("LHRJFK"));
    assertClose(10_573, byPair.get("LHRSYD"));
    assertClose(3_300, byPair.get("SINNRT"));
    assertClose(4_792, byPair.get("GIGJFK"));
    byPair.forEach(
        (pair, distance) -> {
          Integer back = byPair.get(pair.substring(3) + pair.substring(0, 3));
          assertTrue(back == null || back.equals(distance), pair);
        });
  }

  private static void assertClose(int wanted, int miles) {
    assertTrue(Math.abs(miles - wanted) * 100 < wanted, miles + " instead of " + wanted);
  }
}
