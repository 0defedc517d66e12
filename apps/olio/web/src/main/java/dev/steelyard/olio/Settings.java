// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import dev.steelyard.olio.population.FileSizes;
import dev.steelyard.olio.population.Scale;
import jakarta.annotation.PostConstruct;
import jakarta.enterprise.context.ApplicationScoped;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The settings of this JVM, from environment variables. A value that cannot be used ends the
 * application with a sentence.
 */
@ApplicationScoped
public class Settings {

  /** The day on which the calendar stands still unless told otherwise. */
  public static final LocalDate TODAY = LocalDate.of(2026, 6, 15);

  private static final String SYSTEM = "system";

  private Scale scale;
  private int seed;
  private LocalDate today;
  private FileSizes fileSizes;
  private boolean hardLinks;
  private Path filestore;
  private String geocoder;
  private int connectMillis;
  private int readMillis;
  private boolean cache;
  private boolean jmaki;

  @PostConstruct
  void begin() {
    read(System.getenv());
  }

  /**
   * Reads the variables.
   *
   * @throws IllegalArgumentException for a text that is no value; says what is
   */
  void read(Map<String, String> environment) {
    Variables given = new Variables(environment);
    scale = new Scale(given.number("OLIO_SCALE", 25, 1, 9_000));
    seed = given.number("OLIO_SEED", 1, 0, Integer.MAX_VALUE);
    String day = given.text("OLIO_TODAY", TODAY.toString());
    try {
      today = day.equals(SYSTEM) ? null : LocalDate.parse(day);
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          "OLIO_TODAY is '" + day + "': set it to a day such as 2026-06-15, or to system.", e);
    }
    fileSizes =
        FileSizes.valueOf(
            given.choice("OLIO_FILES", "full", List.of("full", "small")).toUpperCase(Locale.ROOT));
    hardLinks =
        given.choice("OLIO_FILES_MODE", "copy", List.of("copy", "hardlink")).equals("hardlink");
    filestore = Path.of(given.text("OLIO_FILESTORE", "filestore")).toAbsolutePath();
    geocoder = given.text("OLIO_GEOCODER_URL", "http://localhost:9086");
    connectMillis = given.number("OLIO_GEOCODER_CONNECT_TIMEOUT", 2000, 1, 600_000);
    readMillis = given.number("OLIO_GEOCODER_READ_TIMEOUT", 5000, 1, 600_000);
    cache = given.choice("OLIO_CACHE", "local", List.of("local", "off")).equals("local");
    jmaki = given.choice("OLIO_JMAKI", "false", List.of("true", "false")).equals("true");
  }

  private record Variables(Map<String, String> environment) {

    String text(String name, String otherwise) {
      String given = environment.getOrDefault(name, "").strip();
      return given.isEmpty() ? otherwise : given;
    }

    int number(String name, int otherwise, int least, int most) {
      String given = text(name, Integer.toString(otherwise));
      boolean digits = given.matches("[0-9]{1,10}");
      long number = digits ? Long.parseLong(given) : -1;
      if (number < least || number > most) {
        throw new IllegalArgumentException(
            "%s is '%s': set it to a whole number from %d to %d."
                .formatted(name, given, least, most));
      }
      return (int) number;
    }

    String choice(String name, String otherwise, List<String> choices) {
      String given = text(name, otherwise);
      if (!choices.contains(given)) {
        throw new IllegalArgumentException(
            "%s is '%s': set it to %s.".formatted(name, given, String.join(" or ", choices)));
      }
      return given;
    }
  }

  /** All settings, name by text. */
  public Map<String, String> shown() {
    Map<String, String> shown = new TreeMap<>();
    shown.put("scale", Integer.toString(scale.users()));
    shown.put("seed", Integer.toString(seed));
    shown.put("today", today == null ? SYSTEM : today.toString());
    shown.put("files", fileSizes.name().toLowerCase(Locale.ROOT));
    shown.put("filesMode", hardLinks ? "hardlink" : "copy");
    shown.put("filestore", filestore.toString());
    shown.put("geocoder", geocoder);
    shown.put("geocoderConnectTimeout", Integer.toString(connectMillis));
    shown.put("geocoderReadTimeout", Integer.toString(readMillis));
    shown.put("cache", cache ? "local" : "off");
    shown.put("jmaki", Boolean.toString(jmaki));
    // As in the original: Persistence keeps the entities that this JVM has read.
    shown.put("entityCache", "shared");
    return shown;
  }

  /** How many rows are loaded. */
  public Scale scale() {
    return scale;
  }

  /** What the data set is made from. */
  public int seed() {
    return seed;
  }

  /** The day of the calendar. */
  public LocalDate today() {
    return today == null ? LocalDate.now(ZoneOffset.UTC) : today;
  }

  /** Now by the calendar, in UTC: the first moment of its day where it stands still. */
  public LocalDateTime now() {
    return today == null ? LocalDateTime.now(ZoneOffset.UTC) : today.atStartOfDay();
  }

  /** How large loaded files are. */
  public FileSizes fileSizes() {
    return fileSizes;
  }

  /** Whether all loaded files of a kind are one, which takes no room and no reading. */
  public boolean hardLinks() {
    return hardLinks;
  }

  /** The folder of all files. */
  public Path filestore() {
    return filestore;
  }

  /** The address of the geocoder, without the path. */
  public String geocoder() {
    return geocoder;
  }

  /** Milliseconds that a connection to the geocoder may take. */
  public int connectMillis() {
    return connectMillis;
  }

  /** Milliseconds that an answer of the geocoder may take. */
  public int readMillis() {
    return readMillis;
  }

  /** Whether the list of the home page and the cloud of tags are kept. */
  public boolean cache() {
    return cache;
  }

  /** Whether the page of an event leaves attendees and comments to scripts. */
  public boolean jmaki() {
    return jmaki;
  }
}
