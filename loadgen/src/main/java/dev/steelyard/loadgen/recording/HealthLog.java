// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import dev.steelyard.loadgen.SettingsReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;

/** {@code health.jsonl}: one JSON object per interval. */
final class HealthLog implements Closeable {
  /**
   * One line.
   *
   * @param epochMillis end of the interval
   * @param seconds length of the interval
   * @param requests requests that ended in the interval, errors included
   * @param errors those of them that failed
   * @param activeUsers closed model: users in their loop; open model: arrivals in flight
   * @param cpuSeconds CPU time of this process since its start
   * @param late arrivals of the interval that started too late
   * @param dropped arrivals of the interval that were given up
   * @param gcSeconds collection time of this JVM since its start
   * @param memoryShare largest use of this JVM's memory, of what it may use: 0 to 1
   * @param userSeconds closed model: time of all users in the interval that was latency or pause
   * @param outcomes outcome of the workload to how often the interval had it
   * @param cycles closed model: operation to the cycle times of those that ended; absent without
   */
  record Line(
      long epochMillis,
      double seconds,
      long requests,
      long errors,
      long activeUsers,
      double cpuSeconds,
      long late,
      long dropped,
      double gcSeconds,
      double memoryShare,
      double userSeconds,
      Map<String, Long> outcomes,
      Map<String, Cycles.Cycle> cycles) {}

  private final Path file;
  private final Writer writer;
  private long bytes;

  HealthLog(Path file) throws IOException {
    this.file = file;
    writer = Files.newBufferedWriter(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  void write(Line line) throws IOException {
    String text = SettingsReader.JSON.writeValueAsString(line) + "\n";
    writer.write(text);
    writer.flush();
    bytes += text.getBytes(StandardCharsets.UTF_8).length;
    RunRecord.checkStored(file, bytes);
  }

  @Override
  public void close() throws IOException {
    writer.close();
  }
}
