// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import static dev.steelyard.loadgen.requests.Validators.validator;
import static io.gatling.javaapi.core.CoreDsl.asLongAs;
import static io.gatling.javaapi.core.CoreDsl.bodyLength;
import static io.gatling.javaapi.core.CoreDsl.bodyString;
import static io.gatling.javaapi.core.CoreDsl.doSwitch;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.onCase;
import static io.gatling.javaapi.http.HttpDsl.ByteArrayBodyPart;
import static io.gatling.javaapi.http.HttpDsl.StringBodyPart;
import static io.gatling.javaapi.http.HttpDsl.header;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;

import dev.steelyard.loadgen.journey.olio.Fetch;
import dev.steelyard.loadgen.journey.olio.Fetch.Kind;
import dev.steelyard.loadgen.journey.olio.OlioJourney;
import dev.steelyard.loadgen.journey.olio.OlioStep;
import dev.steelyard.loadgen.journey.olio.Uploads;
import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.Choice;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.http.BodyPart;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/**
 * Requests of the Olio workload. An operation is a loop: the journey says what is sent next, one
 * request after the other over the user's own connection, until it has no more.
 */
public final class OlioRequests {
  private static final int FOUND = 302;
  private static final int NOT_MODIFIED = 304;

  private static final List<String> ADDRESS =
      List.of("street1", "street2", "city", "state", "zip", "country");
  private static final List<String> PERSON =
      List.of(
          "user_name",
          "password",
          "passwordx",
          "first_name",
          "last_name",
          "email",
          "telephone",
          "summary",
          "timezone");
  private static final List<String> EVENT =
      List.of(
          "title",
          "summary",
          "description",
          "submitter_user_name",
          "telephone",
          "timezone",
          "year",
          "month",
          "day",
          "hour",
          "minute",
          "tags");

  /** Of the log-in alone, as the published driver has it. */
  private static final Map<String, String> EXTENDED =
      Map.of("Accept-Encoding", "gzip", "Accept-Language", "en-us,en;q=0.5");

  private final Uploads uploads;

  /** What a warm browser holds is as old as the run. */
  private final String since =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
          .format(ZonedDateTime.now(ZoneOffset.UTC));

  private OlioRequests(Uploads uploads) {
    this.uploads = uploads;
  }

  /** The requests, by step. */
  public static List<Step> steps(Uploads uploads) {
    OlioRequests requests = new OlioRequests(uploads);
    return OlioStep.ALL.stream()
        .map(step -> new Step(step.operation(), target -> requests.all(step.operation(), target)))
        .toList();
  }

  private ChainBuilder all(String operation, Target target) {
    List<Choice.WithKey> kinds =
        Arrays.stream(Kind.values())
            .map(kind -> onCase(kind).then(exec(request(kind, operation, target))))
            .toList();
    return exec(OlioRequests::begin)
        .exec(
            asLongAs(session -> !session.isFailed() && journey(session).more(), "fetch", false)
                .on(doSwitch(session -> fetch(session).kind()).on(kinds)));
  }

  private static Session begin(Session session) {
    journey(session).begin();
    return session;
  }

  private HttpRequestActionBuilder request(Kind kind, String operation, Target target) {
    Function<Session, String> url = session -> target.baseUrl() + fetch(session).path();
    HttpRequestActionBuilder got = http(operation).get(url);
    HttpRequestActionBuilder posted = http(operation).post(url);
    return switch (kind) {
      case PAGE -> target.prepared(got).check(status().is(200), page());
      case STATIC -> target.prepared(got).check(status().is(200), done());
      case UNCHANGED ->
          target
              .prepared(got.header("If-Modified-Since", since))
              .check(status().is(NOT_MODIFIED), done());
      case IMAGE -> target.prepared(got).check(status().is(200), picture());
      case LOGOUT -> target.prepared(got).check(status().is(FOUND), done());
      case LOGIN ->
          target
              .prepared(
                  withForm(posted)
                      .headers(EXTENDED)
                      .header("Referer", target.baseUrl() + OlioJourney.ROOT + "/"))
              .check(status().is(FOUND), redirection());
      case SEARCH -> target.prepared(withForm(posted)).check(status().is(200), page());
      case PERSON -> target.prepared(withPerson(posted)).check(status().is(200), page());
      case EVENT -> target.prepared(withEvent(posted)).check(status().is(FOUND), redirection());
    };
  }

  private static HttpRequestActionBuilder withForm(HttpRequestActionBuilder request) {
    return request.formParamMap(session -> Map.<String, Object>copyOf(fetch(session).fields()));
  }

  private HttpRequestActionBuilder withPerson(HttpRequestActionBuilder request) {
    return withFields(request, PERSON)
        .bodyPart(jpeg("upload_person_image", "person.jpg", uploads.person()));
  }

  private HttpRequestActionBuilder withEvent(HttpRequestActionBuilder request) {
    return withFields(request, EVENT)
        .bodyPart(jpeg("upload_event_image", "event.jpg", uploads.event()))
        .bodyPart(
            ByteArrayBodyPart("upload_event_literature", uploads.document())
                .fileName("event.pdf")
                .contentType("application/pdf"))
        .bodyPart(StringBodyPart("submit", "Create"));
  }

  /** The texts, which come before the first file: the server makes of them what names the files. */
  private static HttpRequestActionBuilder withFields(
      HttpRequestActionBuilder request, List<String> names) {
    List<String> all = new ArrayList<>(names);
    all.addAll(ADDRESS);
    HttpRequestActionBuilder form = request.asMultipartForm();
    for (String name : all) {
      form = form.bodyPart(StringBodyPart(name, session -> fetch(session).fields().get(name)));
    }
    return form;
  }

  private static BodyPart jpeg(String name, String file, byte[] bytes) {
    return ByteArrayBodyPart(name, bytes).fileName(file).contentType("image/jpeg");
  }

  private static CheckBuilder page() {
    return bodyString()
        .validate("page", validator((body, session) -> journey(session).answered(body)));
  }

  private static CheckBuilder picture() {
    return bodyLength()
        .validate("picture", validator((length, session) -> journey(session).pictured(length)));
  }

  private static CheckBuilder redirection() {
    return header("Location")
        .validate(
            "redirection", validator((location, session) -> journey(session).answered(location)));
  }

  /** Of an answer that nobody reads. */
  private static CheckBuilder done() {
    return status().validate("status", validator((code, session) -> journey(session).answered("")));
  }

  private static Fetch fetch(Session session) {
    return journey(session).fetch();
  }

  private static OlioJourney journey(Session session) {
    return (OlioJourney) CurrentUser.of(session).journey();
  }
}
