// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.client;

import io.netty.handler.codec.http.HttpHeaders;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * The headers of an answer that Gatling shows to nobody, and a limit of time that it does not know.
 * Gatling signs a request and writes it in one go, on one thread: whoever signs it can ask here,
 * and the connection on which it is written does what was asked.
 *
 * @param reader is given the headers of the final answer, whatever its status, before Gatling
 * @param limit from the writing of the request to the end of its answer: one that has not ended by
 *     then has failed; null for none
 */
public record AnswerHead(Consumer<HttpHeaders> reader, Duration limit) {
  private static final AnswerHead NOT_ASKED = new AnswerHead(null, null);
  private static final ThreadLocal<AnswerHead> ASKED = new ThreadLocal<>();

  /** Asks this of the answer to the request that is being signed. */
  public void ask() {
    ASKED.set(this);
  }

  /** What was asked of the answer to the request that is being written; both null for nothing. */
  static AnswerHead take() {
    AnswerHead asked = ASKED.get();
    if (asked == null) {
      return NOT_ASKED;
    }
    ASKED.remove();
    return asked;
  }
}
