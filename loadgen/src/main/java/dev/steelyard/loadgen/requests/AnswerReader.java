// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import io.gatling.http.response.Response;

/** Is shown every answer with its body: the user of a try. */
@FunctionalInterface
public interface AnswerReader {
  /** An answer has arrived, and is not checked yet. */
  void read(Response response);
}
