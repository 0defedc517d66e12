// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import com.sun.management.OperatingSystemMXBean;
import dev.steelyard.loadgen.client.HeldBodies;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** What this injector process itself has used since its start. */
final class ProcessUsage {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");

  private ProcessUsage() {}

  /** Name of the machine's boot; empty where the kernel tells none. */
  static String host() {
    try {
      return Files.readString(BOOT).strip();
    } catch (IOException e) {
      return "";
    }
  }

  /** CPU time of all threads of this process, in seconds. */
  static double cpuSeconds() {
    return SYSTEM.getProcessCpuTime() / 1e9;
  }

  /**
   * The largest of three shares, 0 to 1: of the heap's old generation that its last collection left
   * in use, of the memory outside of the heap that Netty has, and of what bodies may hold.
   */
  static double memoryShare() {
    double outside =
        (double) PlatformDependent.usedDirectMemory() / PlatformDependent.maxDirectMemory();
    return Math.max(Math.max(oldGenerationShare(), outside), HeldBodies.takePeakShare());
  }

  /** Garbage is no use of memory: what counts is what a collection could not free. */
  private static double oldGenerationShare() {
    double share = 0;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      MemoryUsage left = pool.getCollectionUsage();
      boolean old = pool.getName().contains("Old Gen") || pool.getName().contains("Tenured");
      if (old && pool.getType() == MemoryType.HEAP && left != null && left.getMax() > 0) {
        share = Math.max(share, (double) left.getUsed() / left.getMax());
      }
    }
    return share;
  }

  /** CPUs that this process may run on, such as {@code 0-3,8}; empty where nothing tells them. */
  static String cpus() {
    String key = "Cpus_allowed_list:";
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
      return lines
          .filter(line -> line.startsWith(key))
          .map(line -> line.substring(key.length()).strip())
          .findFirst()
          .orElse("");
    } catch (IOException e) {
      return "";
    }
  }

  /** Time that the collectors of this JVM report, in seconds. */
  static double gcSeconds() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
            .mapToLong(GarbageCollectorMXBean::getCollectionTime)
            .sum()
        / 1e3;
  }
}
