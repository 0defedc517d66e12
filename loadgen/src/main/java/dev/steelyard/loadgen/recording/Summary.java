// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.SettingsReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * {@code summary.json}: the whole run of one injector. Written whole or not at all.
 *
 * @param settings the settings as resolved
 * @param endedBy "time", "stop file" or "signal"
 * @param times when what happened
 * @param operations per operation
 * @param firstAnswers operation to when its first right answer had arrived, in milliseconds since
 *     the epoch; one without is absent
 * @param outcomes outcome of the workload to how often it was met
 * @param achieved load as it came out
 * @param injector what the injector itself used
 * @param arrivals late and dropped arrivals; zeros in the closed model
 * @param abandonedRequests requests in flight when the run was cut off; they are in no count
 * @param refused attempts of a probe at servers that did not answer yet; they are in no count
 * @param errorMessages the first distinct messages of failed requests
 * @param jvm the JVM of the injector
 */
public record Summary(
    Settings settings,
    String endedBy,
    Times times,
    Map<String, Operation> operations,
    Map<String, Double> firstAnswers,
    Map<String, Long> outcomes,
    Achieved achieved,
    Injector injector,
    Arrivals arrivals,
    long abandonedRequests,
    long refused,
    List<ErrorMessages.Counted> errorMessages,
    Jvm jvm) {

  /** Milliseconds since the epoch; null where it did not come to that. */
  @JsonInclude
  public record Times(
      long jvmStartEpochMillis,
      Long firstRequestEpochMillis,
      Long rampEndEpochMillis,
      Long loadEndEpochMillis,
      Long lastRequestEpochMillis) {}

  /**
   * One operation.
   *
   * @param requests those that ended, errors included
   * @param errors those of them that failed
   * @param unanswered requests whose connection ended before an answer began, which are errors: a
   *     server may have served them or not
   * @param abandoned operations in flight when the run was cut off; they are in no other count
   * @param late arrivals that started too late
   * @param latencyMillis of those that succeeded; null if none did
   */
  @JsonInclude
  public record Operation(
      long requests,
      long errors,
      long unanswered,
      long abandoned,
      long late,
      Latency latencyMillis) {
    /** Requests that were no errors. */
    long successes() {
      return requests - errors;
    }
  }

  /** Latencies in milliseconds. */
  public record Latency(
      double min, double mean, double max, double p50, double p90, double p99, double p999) {
    static Latency of(Histogram nanos) {
      if (nanos.getTotalCount() == 0) {
        return null;
      }
      return new Latency(
          nanos.getMinValue() / 1e6,
          nanos.getMean() / 1e6,
          nanos.getMaxValue() / 1e6,
          nanos.getValueAtPercentile(50) / 1e6,
          nanos.getValueAtPercentile(90) / 1e6,
          nanos.getValueAtPercentile(99) / 1e6,
          nanos.getValueAtPercentile(99.9) / 1e6);
    }
  }

  /**
   * Load after the ramp.
   *
   * @param seconds from the end of the ramp to the end of the load: what is waited for afterwards
   *     is no time in which requests were due
   * @param requests requests that started in that time and ended, errors included
   * @param requestsPerSecond their rate
   * @param mixPercent operation to its share of all requests of the run
   */
  public record Achieved(
      double seconds, long requests, double requestsPerSecond, Map<String, Double> mixPercent) {}

  /**
   * CPU and memory of the injector.
   *
   * @param cpuSeconds since the start of its JVM
   * @param cpuSecondsUnderLoad from the first request to the end of the last
   * @param availableProcessors processors that it may use
   * @param cpuShareUnderLoad CPU under load over (time under load x processors), 0 to 1
   * @param gcSeconds collection time since the start of its JVM
   * @param memoryShare largest use of its memory, of what it may use: 0 to 1
   * @param host name of its machine's boot, the same in all containers there
   * @param cpus those that it may run on there, as the kernel lists them; fewer processors may be
   *     available to a container
   */
  public record Injector(
      double cpuSeconds,
      double cpuSecondsUnderLoad,
      int availableProcessors,
      double cpuShareUnderLoad,
      double gcSeconds,
      double memoryShare,
      String host,
      String cpus) {}

  /**
   * Arrivals that started more than the threshold after their time, and arrivals that never
   * started.
   */
  public record Arrivals(long late, long dropped, long lateThresholdMillis) {}

  /** The JVM of the injector. */
  public record Jvm(String name, String vendor, String version, String java) {
    static Jvm current() {
      return new Jvm(
          System.getProperty("java.vm.name"),
          System.getProperty("java.vm.vendor"),
          System.getProperty("java.vm.version"),
          System.getProperty("java.version"));
    }
  }

  void writeTo(Path file) throws IOException {
    Path temporary = file.resolveSibling(file.getFileName() + ".tmp");
    String text = SettingsReader.JSON.writerWithDefaultPrettyPrinter().writeValueAsString(this);
    // A message may hold half of a surrogate pair, for which writeString fails.
    Files.write(temporary, (text + "\n").getBytes(StandardCharsets.UTF_8));
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
  }
}
