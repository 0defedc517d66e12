// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import static io.gatling.javaapi.core.CoreDsl.bodyString;
import static io.gatling.javaapi.http.HttpDsl.status;

import dev.steelyard.loadgen.journey.User;
import dev.steelyard.loadgen.journey.Validators;
import dev.steelyard.loadgen.journey.Validators.Validator;
import dev.steelyard.loadgen.journey.WrongAnswer;
import io.gatling.http.client.Request;
import io.gatling.http.client.uri.Uri;
import io.gatling.http.response.Response;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.time.Duration;

/**
 * A server that requests go to, and what all requests have in common: the user's cookies, a limit
 * of time, and the note of the moment at which the answer was complete.
 *
 * @param baseUrl without a trailing slash
 * @param timeout limit for the answer
 * @param isRead whether the user is shown all answers with their bodies, see {@link AnswerReader}
 */
public record Target(String baseUrl, Duration timeout, boolean isRead) {
  private static final int NOT_MODIFIED = 304;

  /** A request that is ready to be sent. */
  public HttpRequestActionBuilder prepared(HttpRequestActionBuilder request) {
    HttpRequestActionBuilder prepared =
        request
            .requestTimeout(timeout)
            .sign(Target::withCookies)
            .check(new AnswerNote(Target::answered));
    return isRead ? read(prepared) : prepared;
  }

  /** The check of the body has Gatling keep it. */
  private static HttpRequestActionBuilder read(HttpRequestActionBuilder request) {
    return request.check(
        new AnswerNote((response, user) -> ((AnswerReader) user).read(response)),
        bodyString().saveAs("body"));
  }

  /**
   * A GET that asks for what is newer than what the user got before, if it did: the status is 200,
   * or 304 if it was asked so.
   */
  public HttpRequestActionBuilder preparedConditional(HttpRequestActionBuilder request) {
    HttpRequestActionBuilder prepared = isRead ? read(request) : request;
    return prepared
        .requestTimeout(timeout)
        .sign((sent, session) -> withCondition(withCookies(sent, session), session))
        .check(
            new AnswerNote(
                (response, current) -> {
                  answered(response, current);
                  keepValidator(response, current.user().validators());
                }),
            status().in(200, NOT_MODIFIED));
  }

  /** Puts in the user's cookies, and only those: Gatling's jar may hold those of another user. */
  static Request withCookies(Request request, Session session) {
    String cookies = CurrentUser.of(session).user().cookies().header(request.getUri().getPath());
    HttpHeaders headers = request.getHeaders();
    if (cookies != null) {
      headers.set(HttpHeaderNames.COOKIE, cookies);
    } else {
      headers.remove(HttpHeaderNames.COOKIE);
    }
    return request;
  }

  private static void answered(Response response, CurrentUser current) {
    current.answered();
    HttpHeaders headers = response.headers();
    if (headers.contains(HttpHeaderNames.SET_COOKIE)) {
      User user = current.user();
      Uri uri = response.request().getUri();
      headers
          .getAll(HttpHeaderNames.SET_COOKIE)
          .forEach(line -> user.cookies().take(line, uri.getHost(), uri.getPath()));
    }
  }

  private static Request withCondition(Request request, Session session) {
    Validator known = CurrentUser.of(session).user().validators().of(request.getUri().toUrl());
    if (known != null && known.etag() != null) {
      request.getHeaders().set(HttpHeaderNames.IF_NONE_MATCH, known.etag());
    }
    if (known != null && known.lastModified() != null) {
      request.getHeaders().set(HttpHeaderNames.IF_MODIFIED_SINCE, known.lastModified());
    }
    return request;
  }

  private static void keepValidator(Response response, Validators validators) {
    String url = response.request().getUri().toUrl();
    int status = response.status().code();
    if (status == NOT_MODIFIED && validators.of(url) == null) {
      throw new WrongAnswer("status 304, but nothing was known of the page");
    }
    if (status == 200) {
      validators.keep(
          url,
          response.headers().get(HttpHeaderNames.ETAG),
          response.headers().get(HttpHeaderNames.LAST_MODIFIED));
    }
  }
}
