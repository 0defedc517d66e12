// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.client;

import io.netty.handler.codec.http.HttpHeaders;
import java.util.function.Consumer;

/**
 * The headers of an answer that Gatling shows to nobody. Gatling signs a request and writes it in
 * one go, on one thread: whoever signs it can ask here, and the connection on which it is written
 * shows its answer.
 */
public final class AnswerHead {
  private static final ThreadLocal<Consumer<HttpHeaders>> READER = new ThreadLocal<>();

  private AnswerHead() {}

  /**
   * Asks for the answer to the request that is being signed.
   *
   * @param reader is given the headers of the final answer, whatever its status, before Gatling
   */
  public static void read(Consumer<HttpHeaders> reader) {
    READER.set(reader);
  }

  /** Who has asked for the answer to the request that is being written; null for nobody. */
  static Consumer<HttpHeaders> takeReader() {
    Consumer<HttpHeaders> reader = READER.get();
    if (reader != null) {
      READER.remove();
    }
    return reader;
  }
}
