// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/** What this injector process itself has used since its start. */
final class ProcessUsage {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private ProcessUsage() {}

  /** CPU time of all threads of this process, in seconds. */
  static double cpuSeconds() {
    return SYSTEM.getProcessCpuTime() / 1e9;
  }

  /** Time that the collectors of this JVM report, in seconds. */
  static double gcSeconds() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
            .mapToLong(GarbageCollectorMXBean::getCollectionTime)
            .sum()
        / 1e3;
  }
}
