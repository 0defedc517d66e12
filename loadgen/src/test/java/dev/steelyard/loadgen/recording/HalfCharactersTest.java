// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import com.fasterxml.jackson.databind.JsonNode;
import dev.steelyard.loadgen.Settings.Model;
import dev.steelyard.loadgen.SettingsReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Answers may hold half of a surrogate pair, as the escape of JSON has it: no file is lost by it.
 */
class HalfCharactersTest {
  private static final String HALF = "\ud83d";

  @TempDir Path folder;

  @Test
  void messagesAreCutBetweenCharacters() {
    String smiley = HALF + "\ude00";
    String whole = "x".repeat(299);
    ErrorMessages messages = new ErrorMessages();
    Logger logger = new LoggerContext().getLogger(HalfCharactersTest.class);
    for (String text : List.of(whole + smiley, "x".repeat(298) + smiley + "y")) {
      messages.append(
          new LoggingEvent(
              "", logger, Level.ERROR, "{} failed: {}", null, new Object[] {"a", text}));
    }
    List<String> kept = messages.counted().stream().map(ErrorMessages.Counted::message).toList();
    assertEquals(List.of(whole, "x".repeat(298) + smiley), kept);
  }

  @Test
  void filesAreWrittenWithWhatCanBe() throws IOException {
    Summary.Achieved achieved = new Summary.Achieved(0, 0, 0, Map.of());
    List<ErrorMessages.Counted> messages = List.of(new ErrorMessages.Counted("a", HALF, 1));
    Path file = folder.resolve("summary.json");
    SummaryTextTest.summary(Model.CLOSED, Map.of(), Map.of(), achieved, messages).writeTo(file);
    JsonNode read = SettingsReader.JSON.readTree(file.toFile());
    assertEquals("?", read.at("/errorMessages/0/message").asText());
    new Trace(folder).add(new Trace.Operation("a", 1, true, HALF, Map.of("b", HALF), List.of()));
    assertTrue(Files.readString(folder.resolve("trace.jsonl")).contains("\"message\":\"?\""));
  }
}
