// SPDX-License-Identifier: Apache-2.0

import com.sun.management.ThreadMXBean;
import com.sun.tools.attach.VirtualMachine;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.management.MBeanServerConnection;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * Bytes that the threads of running JVMs have allocated, whoever started them: arguments are their process ids; for
 * each line on standard input one line with a number for each comes out. Attached to as jcmd does, no option needed.
 *
 * <p>The JVM counts what each thread allocates, to the byte, collections or none; a heap's fill level and a GC log know
 * only what lies between two collections. Threads that answer these questions (RMI, JMX) are left out. What a thread
 * allocates between the last question and its own end is lost: servers keep their threads.
 */
final class AllocatedBytes {

  private final ThreadMXBean threads;
  private final Map<Long, Long> allocated = new HashMap<>();

  private AllocatedBytes(String pid) throws Exception {
    VirtualMachine machine = VirtualMachine.attach(pid);
    String address = machine.startLocalManagementAgent();
    machine.detach();
    MBeanServerConnection beans = JMXConnectorFactory.connect(new JMXServiceURL(address)).getMBeanServerConnection();
    threads = ManagementFactory.newPlatformMXBeanProxy(beans, ManagementFactory.THREAD_MXBEAN_NAME, ThreadMXBean.class);
    threads.setThreadAllocatedMemoryEnabled(true);
  }

  private long sum() {
    ThreadInfo[] infos = threads.getThreadInfo(threads.getAllThreadIds());
    List<Long> counted = new ArrayList<>();
    for (ThreadInfo each : infos) {
      if (each != null && !each.getThreadName().matches("(RMI|JMX) .*")) {
        counted.add(each.getThreadId());
      }
    }
    long[] ids = counted.stream().mapToLong(Long::longValue).toArray();
    long[] bytes = threads.getThreadAllocatedBytes(ids);
    for (int i = 0; i < ids.length; i++) {
      allocated.merge(ids[i], bytes[i], Math::max);
    }
    return allocated.values().stream().mapToLong(Long::longValue).sum();
  }

  public static void main(String[] pids) throws Exception {
    List<AllocatedBytes> machines = new ArrayList<>();
    for (String pid : pids) {
      machines.add(new AllocatedBytes(pid));
    }
    BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    while (questions.readLine() != null) {
      StringBuilder answer = new StringBuilder();
      for (AllocatedBytes machine : machines) {
        answer.append(machine.sum()).append(' ');
      }
      System.out.println(answer.toString().strip());
    }
  }
}
