// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import jakarta.json.JsonValue;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * The settings with which this JVM really runs, as its management beans tell them: asked by name,
 * because each JVM has beans that the other one has not.
 */
final class VmSettings {

  private static final MBeanServer BEANS = ManagementFactory.getPlatformMBeanServer();

  private VmSettings() {}

  /**
   * HotSpot: final values of all options that are not as by default, as {@code jcmd PID VM.flags}
   * prints them. Null where the JVM has no such command.
   */
  static JsonValue flags() {
    try {
      Object printed =
          BEANS.invoke(
              new ObjectName("com.sun.management:type=DiagnosticCommand"),
              "vmFlags",
              new Object[] {new String[0]},
              new String[] {String[].class.getName()});
      return Json.createValue(String.valueOf(printed).strip());
    } catch (JMException without) {
      return JsonValue.NULL;
    }
  }

  /**
   * What the memory bean says beside what is in use: OpenJ9's has the policy, the GC threads and
   * the limits of the heap.
   */
  static JsonObjectBuilder memory() {
    JsonObjectBuilder told = Json.createObjectBuilder();
    try {
      ObjectName memory = new ObjectName(ManagementFactory.MEMORY_MXBEAN_NAME);
      for (MBeanAttributeInfo each : BEANS.getMBeanInfo(memory).getAttributes()) {
        switch (each.getType()) {
          case "int", "long", "java.lang.String" ->
              told.add(each.getName(), String.valueOf(attribute(memory, each.getName())));
          default -> {}
        }
      }
    } catch (JMException without) {
      return told;
    }
    return told;
  }

  /** Bytes that each memory pool has now. */
  static JsonObjectBuilder pools() {
    JsonObjectBuilder told = Json.createObjectBuilder();
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      MemoryUsage usage = pool.getUsage();
      if (usage != null) {
        told.add(pool.getName(), usage.getCommitted());
      }
    }
    return told;
  }

  /** One attribute; a bean may have some that this JVM does not support. */
  private static Object attribute(ObjectName bean, String name) {
    try {
      return BEANS.getAttribute(bean, name);
    } catch (JMException | RuntimeException unsupported) {
      return "";
    }
  }
}
