// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.deser.std.StdDelegatingDeserializer;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.ser.std.StdDelegatingSerializer;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import com.fasterxml.jackson.databind.util.StdConverter;
import dev.steelyard.loadgen.journey.declared.Action;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Binds JSON to {@link Settings} and other records. What cannot be bound is refused with one
 * sentence that names the setting; null counts as absent.
 */
public final class SettingsReader {
  private static final Pattern DURATION = Pattern.compile("(\\d+(?:\\.\\d+)?)(ms|s|m|h)");
  private static final Map<String, Double> NANOS =
      Map.of("ms", 1e6, "s", 1e9, "m", 60e9, "h", 3600e9);

  private static final StdConverter<JsonNode, Duration> READ_DURATION =
      new StdConverter<>() {
        @Override
        public Duration convert(JsonNode value) {
          Matcher text = DURATION.matcher(value.asText());
          if (value.isTextual() && text.matches()) {
            double nanos = Double.parseDouble(text.group(1)) * NANOS.get(text.group(2));
            return Duration.ofNanos(Math.round(nanos));
          }
          if (value.isNumber() && value.doubleValue() >= 0) {
            return Duration.ofNanos(Math.round(value.doubleValue() * 1e9));
          }
          throw SettingsException.must(
              "", value, "a duration such as \"2s\", \"500ms\", \"1m\" or seconds");
        }
      };

  private static final StdConverter<Duration, Double> WRITE_DURATION =
      new StdConverter<>() {
        @Override
        public Double convert(Duration value) {
          return value.toNanos() / 1e9;
        }
      };

  /** Writes and reads settings. */
  public static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
          .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
          .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
          .defaultSetterInfo(JsonSetter.Value.forContentNulls(Nulls.SKIP))
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(
                  JsonInclude.Include.NON_NULL, JsonInclude.Include.USE_DEFAULTS))
          .addModule(
              new SimpleModule("steelyard")
                  .addDeserializer(Action.class, new Action.Reader())
                  .addDeserializer(Duration.class, new StdDelegatingDeserializer<>(READ_DURATION))
                  .addSerializer(new StdDelegatingSerializer(Duration.class, WRITE_DURATION))
                  .addSerializer(Path.class, ToStringSerializer.instance))
          .build();

  /** In "output": replaced by the start time, so that every start has a folder of its own. */
  private static final String TIME = "{time}";

  private static final DateTimeFormatter TIME_FORMAT =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

  private SettingsReader() {}

  /**
   * Reads and checks a settings file.
   *
   * @param file a JSON file
   * @param start the time that {@code {time}} in "output" stands for
   * @return the settings with all defaults filled in
   * @throws SettingsException if the file is unreadable, or a key or value is not allowed
   */
  public static Settings read(Path file, Instant start) {
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
  public static Settings readVariable(String variable, String text, Instant start) {
    if (text == null || text.isBlank()) {
      throw new SettingsException(
          "No settings: give the path of one settings file (JSON), or put its text into the"
              + " environment variable %s.".formatted(variable));
    }
    return parse(
        "The environment variable " + variable, text.getBytes(StandardCharsets.UTF_8), start);
  }

  private static Settings parse(String source, byte[] json, Instant start) {
    JsonNode root;
    try {
      root = JSON.readTree(json);
    } catch (IOException e) {
      String reason = e instanceof JsonProcessingException j ? j.getOriginalMessage() : "no text";
      throw new SettingsException("%s is not valid JSON: %s.".formatted(source, reason));
    }
    if (!(root instanceof ObjectNode object)) {
      throw new SettingsException(
          "%s must hold one JSON object with the keys %s."
              .formatted(source, String.join(", ", keys(Settings.class))));
    }
    if (object.path("output").isTextual()) {
      String output = object.get("output").textValue();
      object.put("output", output.replace(TIME, TIME_FORMAT.format(start)));
    }
    return bind(object, Settings.class, "");
  }

  /** The settings that all injectors of a run have, without what each has of its own. */
  public static ObjectNode shared(Settings settings) {
    ObjectNode shared = JSON.valueToTree(settings);
    return shared.remove(List.of("injector", "output"));
  }

  /**
   * Binds a JSON tree to a record.
   *
   * @param path of the tree in the settings, for messages
   * @throws SettingsException if a key or value is not allowed
   */
  public static <T> T bind(JsonNode tree, Class<T> type, String path) {
    try {
      return JSON.treeToValue(tree, type);
    } catch (JsonMappingException e) {
      throw refusal(e, tree, path);
    } catch (JsonProcessingException e) {
      throw new SettingsException("The settings cannot be read: " + e.getOriginalMessage());
    }
  }

  private static SettingsException refusal(JsonMappingException e, JsonNode tree, String within) {
    StringBuilder path = new StringBuilder(within);
    JsonNode value = tree;
    for (JsonMappingException.Reference each : e.getPath()) {
      if (each.getFieldName() == null) {
        path.append('[').append(each.getIndex()).append(']');
        value = value.isArray() ? value.path(each.getIndex()) : value;
      } else {
        path.append(path.isEmpty() ? "" : ".").append(each.getFieldName());
        value = value.path(each.getFieldName());
      }
    }
    if (e instanceof UnrecognizedPropertyException unknown) {
      return unknown(path.toString(), unknown.getReferringClass());
    }
    if (e.getCause() instanceof SettingsException own) {
      // A record is made before what it does not know is looked at: a slip of the pen comes first.
      if (e instanceof ValueInstantiationException made && made.getType().isRecordType()) {
        List<String> known = keys(made.getType().getRawClass());
        for (String key : (Iterable<String>) value::fieldNames) {
          if (!known.contains(key)) {
            path.append(path.isEmpty() ? "" : ".").append(key);
            return unknown(path.toString(), made.getType().getRawClass());
          }
        }
      }
      return own.within(path.toString());
    }
    Class<?> target = e instanceof MismatchedInputException m ? m.getTargetType() : null;
    return new SettingsException(
        path.toString(), "is %s: it must be %s".formatted(value, expected(target)));
  }

  private static SettingsException unknown(String path, Class<?> type) {
    return new SettingsException(path, "is unknown: allowed are " + String.join(", ", keys(type)));
  }

  private static List<String> keys(Class<?> type) {
    return Arrays.stream(type.getRecordComponents())
        .map(
            component -> {
              JsonProperty named = component.getAccessor().getAnnotation(JsonProperty.class);
              return named == null ? component.getName() : named.value();
            })
        .toList();
  }

  private static String expected(Class<?> target) {
    if (target == null) {
      return "something else";
    }
    if (target.isEnum()) {
      return Arrays.stream(target.getEnumConstants())
          .map(each -> '"' + each.toString().toLowerCase(Locale.ROOT) + '"')
          .collect(Collectors.joining(", ", "one of ", ""));
    }
    if (Number.class.isAssignableFrom(target) || target.isPrimitive()) {
      boolean whole = target == Integer.class || target == Long.class;
      return whole ? "a whole number" : "a number";
    }
    if (Collection.class.isAssignableFrom(target)) {
      return "a list";
    }
    if (Map.class.isAssignableFrom(target) || target.isRecord()) {
      return "an object";
    }
    return target == Boolean.class ? "true or false" : "a text";
  }
}
