// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.client;

import io.netty.handler.codec.http.HttpHeaders;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * The headers of an answer that Gatling shows to nobody, and a limit of time that it does not know.
 * Gatling signs a request and writes it in one go, on one thread: whoever signs it can ask here,
 * and the connection on which it is written does what was asked.
 */
public final class AnswerHead {
  private static final ThreadLocal<Consumer<HttpHeaders>> READER = new ThreadLocal<>();
  private static final ThreadLocal<Duration> LIMIT = new ThreadLocal<>();

  private AnswerHead() {}

  /**
   * Asks for the answer to the request that is being signed.
   *
   * @param reader is given the headers of the final answer, whatever its status, before Gatling
   */
  public static void read(Consumer<HttpHeaders> reader) {
    READER.set(reader);
  }

  /**
   * Limits the answer to the request that is being signed: one that has not ended by then has
   * failed.
   *
   * @param time from the writing of the request to the end of its answer
   */
  public static void limit(Duration time) {
    LIMIT.set(time);
  }

  /** Who has asked for the answer to the request that is being written; null for nobody. */
  static Consumer<HttpHeaders> takeReader() {
    return take(READER);
  }

  /** How long the answer to the request that is being written may take; null for no limit. */
  static Duration takeLimit() {
    return take(LIMIT);
  }

  private static <T> T take(ThreadLocal<T> asked) {
    T taken = asked.get();
    if (taken != null) {
      asked.remove();
    }
    return taken;
  }
}
