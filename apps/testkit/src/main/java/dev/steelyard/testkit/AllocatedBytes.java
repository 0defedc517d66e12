// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import com.sun.management.ThreadMXBean;
import com.sun.tools.attach.VirtualMachine;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;

/**
 * Bytes that the threads of a running JVM have allocated, whoever started it: attached to as jcmd
 * does, no option needed. Not over JMX, which a server may have replaced by its own.
 *
 * <p>The JVM counts what each thread allocates, to the byte, collections or none; a heap's fill
 * level and a GC log know only what lies between two collections. The thread that answers is left
 * out. What a thread allocates between the last question and its own end is lost, so a server has
 * to keep its threads (a pool of fixed size); how many have ended is told as well.
 */
public final class AllocatedBytes {

  static {
    // Milliseconds that the JDK waits for the JVM's answer: its ten seconds pass on a busy machine.
    System.setProperty("sun.tools.attach.attachTimeout", "600000");
  }

  private final VirtualMachine machine;
  private final Path agent = Files.createTempFile("allocated", ".jar");
  private final Path answer = Files.createTempFile("allocated", ".txt");

  /**
   * Attaches to a JVM of this user.
   *
   * @param pid its process id
   * @throws Exception if it cannot be attached to
   */
  public AllocatedBytes(long pid) throws Exception {
    machine = VirtualMachine.attach(Long.toString(pid));
    agent.toFile().deleteOnExit();
    answer.toFile().deleteOnExit();
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Agent-Class", Agent.class.getName());
    String file = Agent.class.getName().replace('.', '/') + ".class";
    try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(agent), manifest);
        InputStream code = Agent.class.getClassLoader().getResourceAsStream(file)) {
      jar.putNextEntry(new ZipEntry(file));
      code.transferTo(jar);
    }
  }

  /**
   * The bytes since the JVM's start.
   *
   * @throws Exception if it does not answer
   */
  public long sum() throws Exception {
    return Long.parseLong(answer().split(" ", 2)[0]);
  }

  /** The bytes, a space, and the threads that have ended since the JVM's start. */
  private String answer() throws Exception {
    machine.loadAgent(agent.toString(), answer.toString());
    return Files.readString(answer);
  }

  /** Runs in the JVM that is asked. */
  public static final class Agent {

    private static final Map<Long, Long> ALLOCATED = new HashMap<>();

    private Agent() {}

    /**
     * Writes the sum.
     *
     * @param answer the file to write to
     */
    public static synchronized void agentmain(String answer) throws IOException {
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      for (ThreadInfo each : threads.getThreadInfo(threads.getAllThreadIds())) {
        if (each != null && !each.getThreadName().equals("Attach Listener")) {
          long bytes = threads.getThreadAllocatedBytes(each.getThreadId());
          ALLOCATED.merge(each.getThreadId(), bytes, Math::max);
        }
      }
      long sum = 0;
      for (long bytes : ALLOCATED.values()) {
        sum += bytes;
      }
      long ended = threads.getTotalStartedThreadCount() - threads.getThreadCount();
      Files.writeString(Path.of(answer), sum + " " + ended);
    }
  }

  /**
   * For each line on standard input one line comes out: for each JVM its bytes, and the threads of
   * it that have ended.
   *
   * @param pids of the JVMs
   */
  public static void main(String[] pids) throws Exception {
    List<AllocatedBytes> machines = new ArrayList<>();
    for (String pid : pids) {
      machines.add(new AllocatedBytes(Long.parseLong(pid)));
    }
    BufferedReader questions =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    while (questions.readLine() != null) {
      StringBuilder answer = new StringBuilder();
      for (AllocatedBytes machine : machines) {
        answer.append(machine.answer()).append(' ');
      }
      System.out.println(answer.toString().strip());
    }
  }
}
