// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations ({@code 2s}, {@code 500ms}, {@code 1m}, or seconds), days and paths as JSON. */
public final class Durations {
  private static final Pattern TEXT = Pattern.compile("(\\d+(?:\\.\\d+)?)(ms|s|m|h)");
  private static final Map<String, Double> NANOS =
      Map.of("ms", 1e6, "s", 1e9, "m", 60e9, "h", 3600e9);

  private Durations() {}

  /** For a mapper of JSON. */
  public static SimpleModule module() {
    return new SimpleModule("steelyard")
        .addDeserializer(Duration.class, new DurationReader())
        .addSerializer(Duration.class, new DurationWriter())
        .addDeserializer(LocalDate.class, new DayReader())
        .addSerializer(LocalDate.class, ToStringSerializer.instance)
        .addSerializer(Path.class, ToStringSerializer.instance);
  }

  private static final class DurationReader extends StdDeserializer<Duration> {
    private static final long serialVersionUID = 1L;

    DurationReader() {
      super(Duration.class);
    }

    @Override
    public Duration deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      if (parser.currentToken().isNumeric() && parser.getDoubleValue() >= 0) {
        return Duration.ofNanos(Math.round(parser.getDoubleValue() * 1e9));
      }
      Matcher text = TEXT.matcher(String.valueOf(parser.getText()));
      if (text.matches()) {
        double nanos = Double.parseDouble(text.group(1)) * NANOS.get(text.group(2));
        return Duration.ofNanos(Math.round(nanos));
      }
      return (Duration) context.handleWeirdStringValue(Duration.class, parser.getText(), "");
    }
  }

  private static final class DurationWriter extends StdSerializer<Duration> {
    private static final long serialVersionUID = 1L;

    DurationWriter() {
      super(Duration.class);
    }

    @Override
    public void serialize(Duration value, JsonGenerator json, SerializerProvider provider)
        throws IOException {
      json.writeNumber(value.toNanos() / 1e9);
    }
  }

  private static final class DayReader extends StdDeserializer<LocalDate> {
    private static final long serialVersionUID = 1L;

    DayReader() {
      super(LocalDate.class);
    }

    @Override
    public LocalDate deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      try {
        return LocalDate.parse(parser.getText());
      } catch (DateTimeParseException e) {
        return (LocalDate) context.handleWeirdStringValue(LocalDate.class, parser.getText(), "");
      }
    }
  }
}
