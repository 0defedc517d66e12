// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.messages;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.logging.Level;
import java.util.logging.Logger;

/** How many messages of each kind were received, and after how many milliseconds. */
@ApplicationScoped
public class MessageStatistics {

  /** What a message asks for. */
  @FunctionalInterface
  public interface Work {
    /** Does it. */
    void on(String command) throws JMSException;
  }

  private static final Logger LOG = Logger.getLogger(MessageStatistics.class.getName());

  /** What messages are counted as: their destination and their command. */
  public static final Set<String> KINDS =
      Set.of("queue neworder", "queue ping", "topic updateQuote", "topic ping");

  private static final int LOGGED_EVERY = 10_000;

  private final Map<String, LongSummaryStatistics> kinds = new TreeMap<>();

  /**
   * Does the work that a message asks for, and counts the message.
   *
   * @param destination {@code queue} or {@code topic}
   * @param work what to do for its command
   */
  public void received(String destination, Message message, Work work) throws JMSException {
    long start = System.nanoTime();
    String command = message.getStringProperty(Messages.COMMAND);
    boolean done = false;
    try {
      work.on(command);
      done = true;
    } finally {
      dev.steelyard.bench.Work.ended(destination + " " + command, start, !done);
    }
    count(destination + " " + command, message);
  }

  private void count(String kind, Message message) throws JMSException {
    long delay = System.currentTimeMillis() - message.getLongProperty(Messages.PUBLISH_TIME);
    synchronized (kinds) {
      LongSummaryStatistics delays =
          kinds.computeIfAbsent(kind, each -> new LongSummaryStatistics());
      delays.accept(delay);
      if (delays.getCount() % LOGGED_EVERY == 0) {
        LOG.log(Level.INFO, "{0}, ms: {1}", new Object[] {kind, delays});
      }
    }
  }

  /** Messages of each kind since the last reset. */
  public Map<String, Long> counts() {
    Map<String, Long> counts = new TreeMap<>();
    synchronized (kinds) {
      kinds.forEach((kind, delays) -> counts.put(kind, delays.getCount()));
    }
    return counts;
  }

  /** Begins anew. */
  public void clear() {
    synchronized (kinds) {
      kinds.clear();
    }
  }
}
