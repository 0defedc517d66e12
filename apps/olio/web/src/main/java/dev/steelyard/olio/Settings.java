// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import dev.steelyard.bench.settings.Environment;
import dev.steelyard.bench.settings.SettingsException;
import dev.steelyard.olio.population.FileSizes;
import dev.steelyard.olio.population.Scale;
import jakarta.annotation.PostConstruct;
import jakarta.enterprise.context.ApplicationScoped;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
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
   * @throws SettingsException for a text that is no value; says what is
   */
  void read(Map<String, String> environment) {
    Environment given = new Environment(environment);
    scale = new Scale(given.number("OLIO_SCALE", 25, 1, 9_000));
    seed = given.number("OLIO_SEED", 1, 0, Integer.MAX_VALUE);
    Optional<LocalDate> day =
        given.parsed(
            "OLIO_TODAY",
            Optional.of(TODAY),
            "a day such as 2026-06-15, or to system",
            text -> SYSTEM.equals(text) ? Optional.empty() : Optional.of(LocalDate.parse(text)));
    today = day.orElse(null);
    fileSizes = given.choice("OLIO_FILES", FileSizes.FULL);
    hardLinks = given.choice("OLIO_FILES_MODE", FilesMode.COPY) == FilesMode.HARDLINK;
    filestore = Path.of(given.text("OLIO_FILESTORE").orElse("filestore")).toAbsolutePath();
    geocoder = given.text("OLIO_GEOCODER_URL").orElse("http://localhost:9086");
    connectMillis = given.number("OLIO_GEOCODER_CONNECT_TIMEOUT", 2000, 1, 600_000);
    readMillis = given.number("OLIO_GEOCODER_READ_TIMEOUT", 5000, 1, 600_000);
    cache = given.choice("OLIO_CACHE", Cache.LOCAL) == Cache.LOCAL;
    jmaki = given.flag("OLIO_JMAKI", false);
  }

  private enum FilesMode {
    COPY,
    HARDLINK
  }

  private enum Cache {
    LOCAL,
    OFF
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
