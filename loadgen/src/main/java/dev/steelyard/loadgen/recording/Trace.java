// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import dev.steelyard.loadgen.SettingsReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;

/** What the user of a try did, operation by operation, as lines of JSON that people are shown. */
public final class Trace {
  private final Path file;

  /**
   * One request and its answer.
   *
   * @param body of the answer, as text
   */
  public record Exchange(
      String method,
      String url,
      @JsonProperty("request_headers") Map<String, String> requestHeaders,
      @JsonProperty("request_body") String requestBody,
      int status,
      Map<String, String> headers,
      String body) {}

  /**
   * One operation.
   *
   * @param millis from its start to its answer
   * @param message why it failed, or null
   * @param saved what was kept of its answers, by variable
   * @param exchanges in the order in which answers came
   */
  public record Operation(
      String operation,
      double millis,
      boolean failed,
      String message,
      Map<String, Object> saved,
      List<Exchange> exchanges) {}

  /**
   * @param folder of the run, which holds none yet
   */
  public Trace(Path folder) {
    file = folder.resolve("trace.jsonl");
  }

  /** Adds an operation that has ended. */
  public void add(Operation operation) {
    try {
      String line = SettingsReader.JSON.writeValueAsString(operation) + "\n";
      // An answer may hold half of a surrogate pair, for which writeString fails.
      byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
      Files.write(file, bytes, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
