// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import static dev.steelyard.loadgen.requests.Validators.validator;
import static io.gatling.javaapi.core.CoreDsl.StringBody;
import static io.gatling.javaapi.core.CoreDsl.bodyString;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.http.HttpDsl.header;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;

import dev.steelyard.loadgen.journey.WrongAnswer;
import dev.steelyard.loadgen.journey.acmeair.AcmeairJourney;
import dev.steelyard.loadgen.journey.acmeair.AcmeairStep;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.util.List;
import java.util.function.Function;

/**
 * Requests of the AcmeAir workload, in both topologies. Every answer must have the status 200 and a
 * body that its journey understands.
 */
public final class AcmeairRequests {
  private final Routes routes;

  private AcmeairRequests(Routes routes) {
    this.routes = routes;
  }

  /**
   * What differs between the topologies.
   *
   * @param sessionCookie cookie that a login must set
   */
  private record Routes(
      String login, String customer, String flights, String bookings, String sessionCookie) {}

  /** The requests of the monolith, by step. */
  public static List<Step> monolith() {
    Routes routes =
        new Routes(
            "/rest/api/login",
            "/rest/api/customer",
            "/rest/api/flights",
            "/rest/api/bookings",
            "acmeair_sessionid");
    return new AcmeairRequests(routes).steps(true);
  }

  /** The requests of the microservices, by step. */
  public static List<Step> microservices() {
    Routes routes = new Routes("/auth/login", "/customer", "/flight", "/booking", "Bearer");
    return new AcmeairRequests(routes).steps(false);
  }

  private List<Step> steps(boolean logsOut) {
    return AcmeairStep.all(logsOut).stream()
        .map(
            step ->
                new Step(
                    step.operation(),
                    target -> exec(withChecks(target.prepared(request(step, target.baseUrl()))))))
        .toList();
  }

  private HttpRequestActionBuilder request(AcmeairStep step, String baseUrl) {
    return switch (step) {
      case LOGIN -> login(step.operation(), baseUrl + routes.login());
      case VIEW_PROFILE -> http(step.operation()).get(ofCustomer(baseUrl + byId()));
      case UPDATE_CUSTOMER -> update(step.operation(), ofCustomer(baseUrl + byId()));
      case QUERY_FLIGHT -> query(step.operation(), baseUrl + routes.flights() + "/queryflights");
      case BOOK_FLIGHT -> book(step.operation(), baseUrl + routes.bookings() + "/bookflights");
      case LIST_BOOKINGS ->
          http(step.operation()).get(ofCustomer(baseUrl + routes.bookings() + "/byuser/"));
      case CANCEL_BOOKING ->
          http(step.operation())
              .post(baseUrl + routes.bookings() + "/cancelbooking")
              .formParam("number", session -> journey(session).cancellation())
              .formParam("userid", session -> journey(session).customer());
      case LOGOUT ->
          http(step.operation())
              .get(baseUrl + routes.login() + "/logout")
              .queryParam("login", session -> journey(session).customer());
    };
  }

  private String byId() {
    return routes.customer() + "/byid/";
  }

  private HttpRequestActionBuilder login(String name, String url) {
    return http(name)
        .post(url)
        .formParam("login", session -> journey(session).customer())
        .formParam("password", AcmeairJourney.PASSWORD)
        .check(
            header(HttpHeaderNames.SET_COOKIE)
                .findAll()
                .validate(
                    "session cookie", validator((cookies, session) -> checkSession(cookies))));
  }

  private void checkSession(List<String> cookies) {
    String start = routes.sessionCookie() + "=";
    if (cookies == null
        || cookies.stream().noneMatch(each -> each.startsWith(start) && !emptyAt(each, start))) {
      throw new WrongAnswer("the answer sets no cookie " + routes.sessionCookie());
    }
  }

  private static boolean emptyAt(String cookie, String start) {
    return cookie.length() == start.length() || cookie.charAt(start.length()) == ';';
  }

  /** With the headers of the web page, as the JMeter plans have them. */
  private static HttpRequestActionBuilder update(String name, Function<Session, String> url) {
    return http(name)
        .post(url)
        .header("Content-Type", "application/json; charset=UTF-8")
        .header("Cache-Control", "no-cache")
        .header("Pragma", "no-cache")
        .header("Accept-Encoding", "gzip, deflate")
        .header("X-Requested-With", "XMLHttpRequest")
        .body(StringBody(session -> journey(session).update()));
  }

  private static HttpRequestActionBuilder query(String name, String url) {
    return http(name)
        .post(url)
        .formParam("fromAirport", session -> journey(session).search().from())
        .formParam("toAirport", session -> journey(session).search().to())
        .formParam("fromDate", session -> journey(session).search().fromDate())
        .formParam("returnDate", session -> journey(session).search().returnDate())
        .formParam("oneWay", "false");
  }

  private static HttpRequestActionBuilder book(String name, String url) {
    return http(name)
        .post(url)
        .formParam("userid", session -> journey(session).customer())
        .formParam("toFlightId", session -> journey(session).trip().there().id())
        .formParam("toFlightSegId", session -> journey(session).trip().there().segmentId())
        .formParam("retFlightId", session -> journey(session).trip().back().id())
        .formParam("retFlightSegId", session -> journey(session).trip().back().segmentId())
        .formParam("oneWayFlight", session -> journey(session).trip().oneWay());
  }

  private static Function<Session, String> ofCustomer(String url) {
    return session -> url + journey(session).customer();
  }

  private static HttpRequestActionBuilder withChecks(HttpRequestActionBuilder request) {
    return request.check(
        status().is(200),
        bodyString().validate("body", validator((body, session) -> journey(session).answer(body))));
  }

  private static AcmeairJourney journey(Session session) {
    return (AcmeairJourney) CurrentUser.of(session).journey();
  }
}
