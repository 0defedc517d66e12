// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What is told of the JVM. */
final class JvmFactsTest {

  @Test
  void optionsThatEveryServerHasAreLeftOut() {
    List<String> given =
        List.of(
            "-javaagent:/opt/wlp/bin/tools/ws-javaagent.jar",
            "-Xmx128m",
            "--add-exports=java.management/com.sun.jmx.remote.security=ALL-UNNAMED",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "-Dname=--add-opens=x");

    assertEquals(
        List.of(
            "-javaagent:/opt/wlp/bin/tools/ws-javaagent.jar", "-Xmx128m", "-Dname=--add-opens=x"),
        JvmFacts.withoutModuleOptions(given));
  }

  @Test
  void factsAreOneLine() {
    JvmFacts facts =
        new JvmFacts(
            "Some VM",
            "17.0.1+1",
            1,
            128L << 20,
            List.of("Copy", "MarkSweepCompact"),
            List.of("-Xmx128m", "-Dtext=two\nlines"));

    assertEquals(
        "Some VM 17.0.1+1, 1 processor, heap up to 128 MiB, collectors: Copy, MarkSweepCompact,"
            + " JVM arguments: -Xmx128m -Dtext=two lines",
        facts.line());
  }

  @Test
  void aPlainJvmHasNoArguments() {
    String line = new JvmFacts("V", "1", 2, 1L << 30, List.of("G1"), List.of()).line();

    assertEquals(
        "V 1, 2 processors, heap up to 1024 MiB, collectors: G1, JVM arguments: none", line);
  }

  @Test
  void theRunningJvmIsAsked() {
    JvmFacts facts = JvmFacts.current();

    assertEquals(Runtime.getRuntime().maxMemory(), facts.maxHeapBytes());
    assertFalse(facts.collectors().isEmpty());
  }
}
