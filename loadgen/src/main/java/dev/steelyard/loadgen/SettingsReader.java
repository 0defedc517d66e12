// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.steelyard.loadgen.Settings.ArrivalGaps;
import dev.steelyard.loadgen.Settings.Model;
import dev.steelyard.loadgen.scenario.Workload;
import dev.steelyard.loadgen.scenario.Workloads;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Reads {@link Settings} from JSON; refuses whatever it does not understand. */
public final class SettingsReader {
  private static final ObjectMapper JSON =
      new ObjectMapper()
          .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private static final List<String> KEYS =
      Arrays.stream(Settings.class.getRecordComponents()).map(c -> c.getName()).toList();

  private static final double MAX_SECONDS = 7 * 24 * 3600;
  private static final double MAX_RATE = 1_000_000;
  private static final int MAX_USERS = 100_000;
  private static final double PERCENT_TOLERANCE = 0.01;

  /** Of the data sets, unless they are made for another day: their dates must not age. */
  private static final LocalDate TODAY = LocalDate.of(2026, 6, 15);

  /** In "output": replaced by the start time, so that every start has a folder of its own. */
  private static final String TIME = "{time}";

  private static final DateTimeFormatter TIME_FORMAT =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final JsonNode root;
  private final Instant start;

  private SettingsReader(JsonNode root, Instant start) {
    this.root = root;
    this.start = start;
  }

  /**
   * Reads and checks a settings file.
   *
   * @param file a JSON file; a key whose value is null counts as absent
   * @param start the time that {@code {time}} in "output" stands for
   * @return the settings with all defaults filled in
   * @throws SettingsException if the file is unreadable, or a key or value is not allowed
   */
  public static Settings read(Path file, Instant start) throws SettingsException {
    String source = "The settings file " + file;
    try {
      return parse(source, Files.readAllBytes(file), start);
    } catch (IOException e) {
      throw new SettingsException(source + " cannot be read: give the path of a JSON file.");
    }
  }

  /**
   * Reads and checks settings that an environment variable holds as JSON text.
   *
   * @param variable its name, for messages
   * @param text its value; null or blank if it is not set
   * @param start the time that {@code {time}} in "output" stands for
   * @return the settings with all defaults filled in
   * @throws SettingsException if there is no text, or a key or value is not allowed
   */
  public static Settings readVariable(String variable, String text, Instant start)
      throws SettingsException {
    if (text == null || text.isBlank()) {
      throw new SettingsException(
          "No settings: give the path of one settings file (JSON), or put its text into the"
              + " environment variable %s.".formatted(variable));
    }
    return parse(
        "The environment variable " + variable, text.getBytes(StandardCharsets.UTF_8), start);
  }

  private static Settings parse(String source, byte[] json, Instant start)
      throws SettingsException {
    JsonNode root;
    try {
      root = JSON.readTree(json);
    } catch (IOException e) {
      String reason = e instanceof JsonProcessingException j ? j.getOriginalMessage() : "no text";
      throw new SettingsException("%s is not valid JSON: %s.".formatted(source, reason));
    }
    if (!root.isObject()) {
      throw new SettingsException(
          "%s must hold one JSON object with the keys %s."
              .formatted(source, String.join(", ", KEYS)));
    }
    return new SettingsReader(root, start).settings();
  }

  private Settings settings() throws SettingsException {
    for (String key : (Iterable<String>) root::fieldNames) {
      if (!KEYS.contains(key)) {
        throw new SettingsException(
            "Unknown setting \"%s\": allowed are %s.".formatted(key, String.join(", ", KEYS)));
      }
    }
    Workload workload = workload();
    Model model = choice("model", Model.class, null);
    boolean open = model == Model.OPEN;
    onlyIn(model, Model.CLOSED, "users", "thinkTimeMillis");
    onlyIn(model, Model.OPEN, "rate", "arrivals");
    boolean visits = workload.visitsPerLogin().isPresent();
    if (!visits) {
      refuse(workload, "customers", "today", "visitsPerLogin");
    }
    Integer visitsPerLogin =
        visits ? integer("visitsPerLogin", workload.visitsPerLogin().getAsInt(), 1, 1000) : null;
    int injectors = integer("injectors", 1, 1, 10_000);
    return new Settings(
        workload.name(),
        targets(),
        model,
        open ? 0 : integer("users", null, 1, MAX_USERS),
        open ? number("rate", null, 0.001, MAX_RATE) : 0,
        choice("arrivals", ArrivalGaps.class, ArrivalGaps.EVEN),
        number("rampSeconds", 0.0, 0, MAX_SECONDS),
        number("warmupSeconds", 0.0, 0, MAX_SECONDS),
        number("measureSeconds", null, 0.1, MAX_SECONDS),
        integer("thinkTimeMillis", 0, 0, 3_600_000),
        mix(workload, visitsPerLogin),
        visits ? integer("customers", 200, 1, 10_000_000) : null,
        visits ? today() : null,
        visitsPerLogin,
        seed(),
        integer("injector", 0, 0, injectors - 1),
        injectors,
        integer("requestTimeoutMillis", 10_000, 1, 600_000),
        output());
  }

  private Workload workload() throws SettingsException {
    String name = text("workload");
    return Workloads.find(name)
        .orElseThrow(() -> bad("workload", "one of " + String.join(", ", Workloads.names())));
  }

  private List<String> targets() throws SettingsException {
    String allowed = "a list of base URLs such as \"http://127.0.0.1:9080\"";
    JsonNode node = node("targets");
    if (!node.isArray() || node.isEmpty()) {
      throw bad("targets", allowed);
    }
    List<String> targets = new ArrayList<>();
    for (JsonNode item : node) {
      if (!isBaseUrl(item.asText())) {
        throw bad("targets", allowed);
      }
      targets.add(item.asText().replaceFirst("/+$", ""));
    }
    return List.copyOf(targets);
  }

  private static boolean isBaseUrl(String text) {
    try {
      URI uri = URI.create(text);
      return Set.of("http", "https").contains(String.valueOf(uri.getScheme()))
          && uri.getHost() != null
          && uri.getRawQuery() == null
          && uri.getRawFragment() == null
          // "#{" and "${" would be read as Gatling expressions.
          && text.indexOf('{') < 0;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private Map<String, Double> mix(Workload workload, Integer visitsPerLogin)
      throws SettingsException {
    JsonNode node = node("mix");
    if (visitsPerLogin == null) {
      return node.isMissingNode() ? workload.mix(0) : drawnMix(workload, node);
    }
    Map<String, Double> mix = workload.mix(visitsPerLogin);
    // What an injector printed must be readable again, and it prints the mix.
    if (!node.isMissingNode() && !node.equals(JSON.valueToTree(mix))) {
      throw new SettingsException(
          ("Setting \"mix\" does not belong to the workload %s, whose users decide each operation by"
                  + " what was answered before: leave it out.")
              .formatted(workload.name()));
    }
    return mix;
  }

  private Map<String, Double> drawnMix(Workload workload, JsonNode node) throws SettingsException {
    List<String> operations = workload.operationNames();
    String allowed =
        "an object that gives a percentage to some of %s, with the sum 100"
            .formatted(String.join(", ", operations));
    Map<String, Double> mix = new LinkedHashMap<>();
    double sum = 0;
    for (Map.Entry<String, JsonNode> share : node.properties()) {
      double percent = share.getValue().isNumber() ? share.getValue().asDouble() : -1;
      if (!operations.contains(share.getKey()) || percent < 0) {
        throw bad("mix", allowed);
      }
      mix.put(share.getKey(), percent);
      sum += percent;
    }
    if (Math.abs(sum - 100) > PERCENT_TOLERANCE) {
      throw bad("mix", allowed);
    }
    return mix;
  }

  private LocalDate today() throws SettingsException {
    JsonNode node = node("today");
    if (node.isMissingNode()) {
      return TODAY;
    }
    try {
      return LocalDate.parse(node.asText());
    } catch (DateTimeParseException e) {
      throw bad("today", "a date such as \"%s\"".formatted(TODAY));
    }
  }

  private Path output() throws SettingsException {
    Path path = Path.of(text("output").replace(TIME, TIME_FORMAT.format(start)));
    if (!path.isAbsolute()) {
      throw bad("output", "an absolute path of a folder");
    }
    return path;
  }

  private long seed() throws SettingsException {
    JsonNode node = node("seed");
    if (node.isMissingNode()) {
      return 1;
    }
    if (!node.isIntegralNumber() || !node.canConvertToLong()) {
      throw bad("seed", "a whole number of 64 bits");
    }
    return node.asLong();
  }

  private JsonNode node(String key) {
    JsonNode node = root.path(key);
    return node.isNull() ? MissingNode.getInstance() : node;
  }

  private void onlyIn(Model actual, Model needed, String... keys) throws SettingsException {
    for (String key : keys) {
      JsonNode node = node(key);
      boolean absent = node.isMissingNode() || (node.isNumber() && node.asDouble() == 0);
      if (actual != needed && !absent) {
        throw new SettingsException(
            "Setting \"%s\" belongs to the %s model: leave it out, or set \"model\" to \"%s\"."
                .formatted(key, lower(needed), lower(needed)));
      }
    }
  }

  private void refuse(Workload workload, String... keys) throws SettingsException {
    for (String key : keys) {
      if (!node(key).isMissingNode()) {
        throw new SettingsException(
            "Setting \"%s\" does not belong to the workload %s: leave it out."
                .formatted(key, workload.name()));
      }
    }
  }

  private String text(String key) throws SettingsException {
    JsonNode node = required(key);
    if (!node.isTextual() || node.asText().isEmpty()) {
      throw bad(key, "a text");
    }
    return node.asText();
  }

  private <E extends Enum<E>> E choice(String key, Class<E> type, E fallback)
      throws SettingsException {
    if (fallback != null && node(key).isMissingNode()) {
      return fallback;
    }
    String value = required(key).asText();
    List<String> names = new ArrayList<>();
    for (E constant : type.getEnumConstants()) {
      if (lower(constant).equals(value)) {
        return constant;
      }
      names.add('"' + lower(constant) + '"');
    }
    throw bad(key, "one of " + String.join(", ", names));
  }

  private int integer(String key, Integer fallback, int min, int max) throws SettingsException {
    if (fallback != null && node(key).isMissingNode()) {
      return fallback;
    }
    JsonNode node = required(key);
    if (!node.isIntegralNumber() || !node.canConvertToInt() || outside(node, min, max)) {
      throw bad(key, "a whole number from %d to %d".formatted(min, max));
    }
    return node.asInt();
  }

  private double number(String key, Double fallback, double min, double max)
      throws SettingsException {
    if (fallback != null && node(key).isMissingNode()) {
      return fallback;
    }
    JsonNode node = required(key);
    if (!node.isNumber() || outside(node, min, max)) {
      throw bad(key, "a number from %s to %s".formatted(plain(min), plain(max)));
    }
    return node.asDouble();
  }

  private static boolean outside(JsonNode node, double min, double max) {
    return !(node.asDouble() >= min && node.asDouble() <= max);
  }

  private JsonNode required(String key) throws SettingsException {
    JsonNode node = node(key);
    if (node.isMissingNode()) {
      throw new SettingsException("Setting \"%s\" is missing: add it.".formatted(key));
    }
    return node;
  }

  private SettingsException bad(String key, String allowed) {
    JsonNode value = root.path(key);
    return new SettingsException(
        "Setting \"%s\" is %s: it must be %s."
            .formatted(key, value.isMissingNode() ? "missing" : value.toString(), allowed));
  }

  private static String plain(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
