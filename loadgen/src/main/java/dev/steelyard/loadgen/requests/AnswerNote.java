// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import io.gatling.commons.validation.Failure;
import io.gatling.commons.validation.Validation;
import io.gatling.core.check.Check;
import io.gatling.core.check.CheckMaterializer;
import io.gatling.core.check.CheckResult;
import io.gatling.core.session.Session;
import io.gatling.http.check.status.HttpStatusCheckType;
import io.gatling.http.response.Response;
import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.http.internal.HttpCheckType;
import java.util.Map;
import java.util.function.BiConsumer;
import scala.Function1;
import scala.Function2;

/**
 * Reads an answer when its last byte has arrived, before the checks that are added after it. As a
 * check of the status it needs no body: a response transformer would have Gatling keep all of them.
 *
 * @param reader is given the answer, and throws if it is wrong
 */
record AnswerNote(BiConsumer<Response, CurrentUser> reader) implements CheckBuilder {
  @Override
  public io.gatling.core.check.CheckBuilder<?, ?> asScala() {
    return new Builder(reader);
  }

  @Override
  public CheckType type() {
    return HttpCheckType.Status;
  }

  private record Builder(BiConsumer<Response, CurrentUser> reader)
      implements io.gatling.core.check.CheckBuilder<HttpStatusCheckType, Response> {
    @Override
    public <C extends Check<R>, R> C build(
        CheckMaterializer<HttpStatusCheckType, C, R, Response> materializer) {
      return materializer.materialize(preparer -> new Note<>(reader));
    }
  }

  private record Note<R>(BiConsumer<Response, CurrentUser> reader) implements Check<R> {
    @Override
    public Validation<CheckResult> check(R answer, Session session, Map<Object, Object> prepared) {
      try {
        CurrentUser user = (CurrentUser) session.attributes().apply(CurrentUser.ATTRIBUTE);
        reader.accept((Response) answer, user);
        return CheckResult.NoopCheckResultSuccess();
      } catch (RuntimeException e) {
        return failed(e.getClass().getSimpleName() + ": " + e.getMessage());
      }
    }

    /** Scala's failure is one of any type; Java cannot say so. */
    @SuppressWarnings("unchecked")
    private static Validation<CheckResult> failed(String message) {
      return (Validation<CheckResult>) (Validation<?>) new Failure(message);
    }

    @Override
    public Check<R> checkIf(Function1<Session, Validation<Object>> condition) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Check<R> checkIf(Function2<R, Session, Validation<Object>> condition) {
      throw new UnsupportedOperationException();
    }
  }
}
