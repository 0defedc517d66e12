// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import com.mongodb.MongoException;
import dev.steelyard.acmeair.web.TextAnswer;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;

/**
 * The database does not answer: 503 and one line. Not marked as a provider: servers load what is
 * marked, and a service without a database has no driver.
 */
public final class DatabaseFailureMapper implements ExceptionMapper<MongoException> {

  @Override
  public Response toResponse(MongoException failure) {
    return TextAnswer.of(
        Response.Status.SERVICE_UNAVAILABLE, "The database does not answer now: try again later.");
  }
}
