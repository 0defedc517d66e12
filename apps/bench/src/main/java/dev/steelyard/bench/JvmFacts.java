// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryManagerMXBean;
import java.util.List;
import java.util.Set;

/**
 * What the settings of this JVM came to, whoever made them: options, the environment, the limits of
 * a container, or the JVM itself.
 *
 * @param name of the VM, such as {@code Eclipse OpenJ9 VM}
 * @param version of the VM
 * @param processors that the JVM may use
 * @param maxHeapBytes largest heap
 * @param collectors names of the collectors in use
 * @param arguments options as given, without those that the server's start script always adds
 */
record JvmFacts(
    String name,
    String version,
    int processors,
    long maxHeapBytes,
    List<String> collectors,
    List<String> arguments) {

  private static final long MIB = 1024 * 1024;

  /** Options of the start script that open JDK modules; 30 of them, the same for every server. */
  private static final Set<String> MODULE_OPTIONS =
      Set.of("--add-opens", "--add-exports", "--add-reads", "--add-modules");

  JvmFacts {
    collectors = List.copyOf(collectors);
    arguments = List.copyOf(arguments);
  }

  /** Asks the JVM. */
  static JvmFacts current() {
    Runtime runtime = Runtime.getRuntime();
    return new JvmFacts(
        System.getProperty("java.vm.name"),
        System.getProperty("java.vm.version"),
        runtime.availableProcessors(),
        runtime.maxMemory(),
        ManagementFactory.getGarbageCollectorMXBeans().stream()
            .map(MemoryManagerMXBean::getName)
            .toList(),
        withoutModuleOptions(ManagementFactory.getRuntimeMXBean().getInputArguments()));
  }

  /** The arguments that tell one server from another; the JVM gives these options as NAME=VALUE. */
  static List<String> withoutModuleOptions(List<String> arguments) {
    return arguments.stream()
        .filter(each -> !MODULE_OPTIONS.contains(each.replaceFirst("=.*", "")))
        .toList();
  }

  /** One line for the log of the server. */
  String line() {
    return "%s %s, %d processor%s, heap up to %d MiB, collectors: %s, JVM arguments: %s"
        .formatted(
            name,
            version,
            processors,
            processors == 1 ? "" : "s",
            maxHeapBytes / MIB,
            String.join(", ", collectors),
            arguments.isEmpty() ? "none" : String.join(" ", arguments))
        // An argument may hold any character, and a line of a log must stay one.
        .replaceAll("\\p{Cntrl}", " ");
  }
}
