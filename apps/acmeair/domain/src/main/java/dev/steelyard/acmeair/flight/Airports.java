// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The airports and the segments between them. Which there are, and in which order, is the
 * original's: from each of 29 airports to each of 14. Distances are great circles between the
 * airports, from their coordinates.
 */
public final class Airports {

  /**
   * An airport.
   *
   * @param code IATA code
   * @param name city and, where it has several airports, which of them
   * @param latitude degrees north
   * @param longitude degrees east
   */
  public record Airport(String code, String name, double latitude, double longitude) {}

  private static final double EARTH_RADIUS_MILES = 3_958.8;

  private static final List<String> DESTINATIONS =
      List.of(
          "BOM", "DEL", "FRA", "HKG", "LHR", "YUL", "SVO", "JFK", "CDG", "FCO", "SIN", "SYD", "IKA",
          "NRT");

  private static final List<String> ORIGINS =
      List.of(
          "AMS", "AKL", "BKK", "BRU", "CAI", "DXB", "FRA", "GVA", "HKG", "IST", "KHI", "KWI", "LOS",
          "LHR", "MNL", "MEX", "YUL", "SVO", "NBO", "JFK", "CDG", "PRG", "GIG", "FCO", "SIN", "ARN",
          "SYD", "IKA", "NRT");

  private static final Map<String, Airport> ALL =
      byCode(
          new Airport("BOM", "Mumbai", 19.089, 72.868),
          new Airport("DEL", "Delhi", 28.566, 77.103),
          new Airport("FRA", "Frankfurt", 50.033, 8.571),
          new Airport("HKG", "Hong Kong", 22.309, 113.915),
          new Airport("LHR", "London Heathrow", 51.471, -0.462),
          new Airport("YUL", "Montreal", 45.471, -73.741),
          new Airport("SVO", "Moscow Sheremetyevo", 55.973, 37.415),
          new Airport("JFK", "New York John F. Kennedy", 40.640, -73.779),
          new Airport("CDG", "Paris Charles de Gaulle", 49.013, 2.550),
          new Airport("FCO", "Rome Fiumicino", 41.804, 12.251),
          new Airport("SIN", "Singapore", 1.350, 103.994),
          new Airport("SYD", "Sydney", -33.946, 151.177),
          new Airport("IKA", "Tehran Imam Khomeini", 35.416, 51.152),
          new Airport("NRT", "Tokyo Narita", 35.765, 140.386),
          new Airport("AMS", "Amsterdam", 52.309, 4.764),
          new Airport("AKL", "Auckland", -37.008, 174.792),
          new Airport("BKK", "Bangkok", 13.681, 100.747),
          new Airport("BRU", "Brussels", 50.901, 4.484),
          new Airport("CAI", "Cairo", 30.122, 31.406),
          new Airport("DXB", "Dubai", 25.253, 55.364),
          new Airport("GVA", "Geneva", 46.238, 6.109),
          new Airport("IST", "Istanbul", 41.262, 28.742),
          new Airport("KHI", "Karachi", 24.907, 67.161),
          new Airport("KWI", "Kuwait", 29.227, 47.969),
          new Airport("LOS", "Lagos", 6.577, 3.321),
          new Airport("MNL", "Manila", 14.509, 121.020),
          new Airport("MEX", "Mexico City", 19.436, -99.072),
          new Airport("NBO", "Nairobi", -1.319, 36.928),
          new Airport("PRG", "Prague", 50.101, 14.260),
          new Airport("GIG", "Rio de Janeiro", -22.809, -43.244),
          new Airport("ARN", "Stockholm Arlanda", 59.652, 17.919));

  private Airports() {}

  private static Map<String, Airport> byCode(Airport... airports) {
    Map<String, Airport> byCode = new LinkedHashMap<>();
    for (Airport airport : airports) {
      byCode.put(airport.code(), airport);
    }
    return byCode;
  }

  /** All airports. */
  public static List<Airport> all() {
    return List.copyOf(ALL.values());
  }

  /** All segments, {@code AA0} and so on: origin by origin, and none from an airport to itself. */
  public static List<Segment> segments() {
    List<Segment> segments = new ArrayList<>();
    for (String from : ORIGINS) {
      for (String to : DESTINATIONS) {
        if (!from.equals(to)) {
          int miles = miles(ALL.get(from), ALL.get(to));
          segments.add(new Segment("AA" + segments.size(), from, to, miles));
        }
      }
    }
    return segments;
  }

  /** The great circle by the haversine formula. StrictMath: the same miles on each platform. */
  private static int miles(Airport a, Airport b) {
    double latitudes = StrictMath.sin(StrictMath.toRadians(b.latitude() - a.latitude()) / 2);
    double longitudes = StrictMath.sin(StrictMath.toRadians(b.longitude() - a.longitude()) / 2);
    double chord =
        latitudes * latitudes
            + StrictMath.cos(StrictMath.toRadians(a.latitude()))
                * StrictMath.cos(StrictMath.toRadians(b.latitude()))
                * longitudes
                * longitudes;
    return (int) StrictMath.round(2 * EARTH_RADIUS_MILES * StrictMath.asin(StrictMath.sqrt(chord)));
  }
}
