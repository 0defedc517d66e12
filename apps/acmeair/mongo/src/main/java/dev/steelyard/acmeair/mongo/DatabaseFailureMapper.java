// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import com.mongodb.MongoException;
import com.mongodb.MongoNodeIsRecoveringException;
import com.mongodb.MongoNotPrimaryException;
import com.mongodb.MongoServerException;
import dev.steelyard.acmeair.web.FailureLog;
import dev.steelyard.acmeair.web.TextAnswer;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;

/**
 * The database does not answer: 503 and one line. It answers that it will not: 500 and one line,
 * since trying again is no help. Both count as errors, and the causes are told. Not marked as a
 * provider: servers load what is marked, and a service without a database has no driver.
 */
public final class DatabaseFailureMapper implements ExceptionMapper<MongoException> {

  private static final FailureLog FAILURES = new FailureLog("The database failed");

  @Override
  public Response toResponse(MongoException failure) {
    FAILURES.tell(failure);
    return refused(failure)
        ? TextAnswer.of(
            Response.Status.INTERNAL_SERVER_ERROR, "The database refuses what it is asked for.")
        : TextAnswer.of(
            Response.Status.SERVICE_UNAVAILABLE,
            "The database does not answer now: try again later.");
  }

  private static boolean refused(MongoException failure) {
    return failure instanceof MongoServerException
        && !(failure instanceof MongoNotPrimaryException)
        && !(failure instanceof MongoNodeIsRecoveringException);
  }
}
