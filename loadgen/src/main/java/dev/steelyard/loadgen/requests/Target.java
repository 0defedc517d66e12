// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import static io.gatling.javaapi.core.CoreDsl.bodyString;
import static io.gatling.javaapi.http.HttpDsl.status;

import dev.steelyard.loadgen.client.AnswerHead;
import dev.steelyard.loadgen.client.EmptySegments;
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

  /** Carries what a step declares as Cookie: Gatling would put cookies of its own jar there. */
  public static final String DECLARED_COOKIES = "declared-cookie";

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

  /** The name of a header of a step on its way through Gatling. */
  static String header(String name) {
    return HttpHeaderNames.COOKIE.contentEqualsIgnoreCase(name) ? DECLARED_COOKIES : name;
  }

  /**
   * Puts in the user's cookies and those that the step declares, and only those: Gatling's jar may
   * hold those of another user.
   */
  static Request withCookies(Request request, Session session) {
    HttpHeaders headers = request.getHeaders();
    String declared = headers.get(DECLARED_COOKIES, "");
    headers.remove(DECLARED_COOKIES);
    String path = EmptySegments.restored(request.getUri().getPath());
    String cookies = CurrentUser.of(session).user().cookies().header(path, declared);
    if (cookies != null) {
      headers.set(HttpHeaderNames.COOKIE, cookies);
    } else {
      headers.remove(HttpHeaderNames.COOKIE);
    }
    return request;
  }

  /**
   * The same for a request that opens a stream. No check sees its answer, and Gatling keeps the
   * cookies of some in its own jar: they are taken from the connection, and from an answer of any
   * status, as browsers do (RFC 6265, section 3).
   *
   * @param limit time for all of the answer; null for none
   */
  static Request withCookiesOfStream(Request request, Session session, Duration limit) {
    User user = CurrentUser.of(session).user();
    Uri uri = request.getUri();
    new AnswerHead(headers -> takeCookies(headers, uri, user), limit).ask();
    return withCookies(request, session);
  }

  private static void answered(Response response, CurrentUser current) {
    current.answered();
    takeCookies(response.headers(), response.request().getUri(), current.user());
  }

  private static void takeCookies(HttpHeaders headers, Uri uri, User user) {
    if (headers.contains(HttpHeaderNames.SET_COOKIE)) {
      String path = EmptySegments.restored(uri.getPath());
      headers
          .getAll(HttpHeaderNames.SET_COOKIE)
          .forEach(line -> user.cookies().take(line, uri.getHost(), path));
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
