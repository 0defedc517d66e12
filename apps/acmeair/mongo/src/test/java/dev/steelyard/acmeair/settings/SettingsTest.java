// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.bench.settings.SettingsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SettingsTest {

  @Test
  void nothingNeedsToBeSet() {
    AcmeAirSettings settings = AcmeAirSettings.read(Map.of("ACMEAIR_ZONE", " "));
    assertEquals(Optional.of(LocalDate.of(2026, 6, 15)), settings.fixedToday());
    assertEquals(ZoneId.of("UTC"), settings.zone());
    assertEquals(
        Map.of(
            "today", "2026-06-15",
            "zone", "UTC",
            "seed", "1",
            "indexes", "none",
            "json", "original",
            "caching", "true",
            "executorThreads", "-1"),
        settings.shown());
    MongoSettings mongo = MongoSettings.read(Map.of(), "acmeair");
    assertEquals("localhost:27017/acmeair", mongo.address());
    assertEquals(100, mongo.pool().most());
    assertEquals(Optional.empty(), mongo.credentials());
    assertFalse(mongo.tls());
  }

  @Test
  void everythingCanBeSet() {
    AcmeAirSettings settings =
        AcmeAirSettings.read(
            Map.of(
                "ACMEAIR_TODAY", "system",
                "ACMEAIR_ZONE", "Europe/Berlin",
                "ACMEAIR_SEED", "-7",
                "ACMEAIR_INDEXES", "secondary",
                "ACMEAIR_JSON", "lean",
                "USE_FLIGHT_DATA_RELATED_CACHING", "false",
                "EXECUTOR_THREADS", "16"));
    assertEquals(
        "{caching=false, executorThreads=16, indexes=secondary, json=lean, seed=-7,"
            + " today=system, zone=Europe/Berlin}",
        settings.shown().toString());
    MongoSettings mongo =
        MongoSettings.read(
            Map.of(
                "MONGO_HOST", "db",
                "MONGO_PORT", "27018",
                "MONGO_DBNAME", "other",
                "MONGO_USER", "me",
                "MONGO_PASSWORD", "secret",
                "MONGO_SSLENABLED", "true",
                "MONGO_CONNECTIONSPERHOST", "8",
                "MONGO_MINCONNECTIONSPERHOST", "4"),
            "acmeair");
    assertEquals("db:27018/other", mongo.address());
    assertEquals(
        new MongoSettings.Credentials("me", "secret", "other"), mongo.credentials().orElseThrow());
    assertFalse(mongo.toString().contains("secret"), mongo.toString());
    assertEquals(
        "4..8 connections, idle 0, wait 10000, connect 2000, read 15000, select 3000 ms",
        mongo.pool().toString());
  }

  @Test
  void theNamesOfBothTopologiesAreKnown() {
    assertEquals(
        "localhost:27017/a",
        MongoSettings.read(Map.of("MONGO_DATABASE", "a", "MONGO_DBNAME", "b"), "c").address());
    assertEquals(
        "me",
        MongoSettings.read(Map.of("MONGO_USERNAME", "me", "MONGO_PASSWORD", "x"), "c")
            .credentials()
            .orElseThrow()
            .user());
  }

  @Test
  void aPasswordMayStandInAFileAndTheUserBelongToAnotherDatabase(@TempDir Path folder)
      throws Exception {
    Path file = Files.writeString(folder.resolve("password"), "secret\n");
    Map<String, String> variables =
        Map.of(
            "MONGO_USERNAME", "me",
            "MONGO_PASSWORD_FILE", file.toString(),
            "MONGO_AUTHSOURCE", "admin");
    assertEquals(
        new MongoSettings.Credentials("me", "secret", "admin"),
        MongoSettings.read(variables, "acmeair").credentials().orElseThrow());
    Files.writeString(file, "\n");
    assertTrue(
        assertThrows(SettingsException.class, () -> MongoSettings.read(variables, "acmeair"))
            .getMessage()
            .startsWith("MONGO_PASSWORD_FILE is '" + file));
  }

  @ParameterizedTest
  @CsvSource({
    "ACMEAIR_TODAY, tomorrow",
    "ACMEAIR_TODAY, 2026-02-30",
    "ACMEAIR_ZONE, Mars",
    "ACMEAIR_SEED, one",
    "ACMEAIR_SEED, +5",
    "ACMEAIR_SEED, 9223372036854775808",
    "ACMEAIR_INDEXES, all",
    "USE_FLIGHT_DATA_RELATED_CACHING, yes",
    "EXECUTOR_THREADS, many",
    "EXECUTOR_THREADS, -2",
    "EXECUTOR_THREADS, +5",
    "MONGO_PORT, 0",
    "MONGO_PORT, 65536",
    "MONGO_CONNECTIONSPERHOST, 0",
    "MONGO_MINCONNECTIONSPERHOST, 101",
    "MONGO_SOCKETTIMEOUT, -1",
    "MONGO_PASSWORD, alone",
    "MONGO_PASSWORD_FILE, /no/such/file"
  })
  void whatCannotBeUsedIsNamedInOneSentence(String name, String value) {
    Map<String, String> variables = Map.of(name, value);
    SettingsException refused =
        assertThrows(
            SettingsException.class,
            () -> {
              AcmeAirSettings.read(variables);
              MongoSettings.read(variables, "acmeair");
            });
    String message = refused.getMessage();
    assertTrue(message.contains(name) && message.contains("set "), message);
    assertTrue(message.endsWith(".") && message.indexOf('\n') < 0, message);
  }
}
