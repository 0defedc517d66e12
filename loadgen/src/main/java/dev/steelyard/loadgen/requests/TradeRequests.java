// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import static dev.steelyard.loadgen.requests.Validators.validator;
import static io.gatling.javaapi.core.CoreDsl.bodyString;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;

import dev.steelyard.loadgen.journey.daytrader.TradeJourney;
import dev.steelyard.loadgen.journey.daytrader.TradeStep;
import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Requests of the DayTrader workload. Every answer must have the status 200, and a body that its
 * journey understands; nothing is redirected.
 */
public final class TradeRequests {
  private static final String ROOT = "/daytrader";
  private static final String UPDATE = "{\"action\":\"update\"}";

  /** What the server pushes by itself, and no reply. */
  private static final String PUSHED = "{\"change1_stock\"";

  /** As a browser has them; the plan sends their like with every request. */
  private static final Map<String, String> HEADERS =
      Map.of(
          "User-Agent", "Mozilla/5.0 (compatible; Steelyard)",
          "Accept", "image/gif, image/x-xbitmap, image/jpeg, image/pjpeg, */*",
          "Accept-Language", "en-us");

  private TradeRequests() {}

  /**
   * The requests, by step.
   *
   * @param kept how long a user keeps its WebSocket
   */
  public static List<Step> steps(Duration kept) {
    return TradeStep.ALL.stream()
        .map(step -> new Step(step.operation(), exchange(step, kept)))
        .toList();
  }

  private static Function<Target, ChainBuilder> exchange(TradeStep step, Duration kept) {
    if (step == TradeStep.MARKET_SUMMARY) {
      return target -> {
        KeptSockets sockets =
            new KeptSockets(target, ROOT + step.path(), kept, text -> !text.startsWith(PUSHED));
        return exec(
            sockets.exchange(
                step.operation(),
                UPDATE,
                (user, reply) -> ((TradeJourney) user.journey()).answer(reply)));
      };
    }
    return target -> exec(target.prepared(request(step, target.baseUrl() + ROOT)));
  }

  private static HttpRequestActionBuilder request(TradeStep step, String root) {
    String url = root + step.path();
    HttpRequestActionBuilder request =
        step.post()
            ? http(step.operation()).post(url).formParamSeq(session -> journey(session).fields())
            : http(step.operation()).get(url).queryParamSeq(session -> journey(session).fields());
    if (step == TradeStep.FACES_LOGOUT) {
      // A user whose session was lost is sent to the page that answers a log-out.
      request = request.disableFollowRedirect();
    }
    return request
        .headers(HEADERS)
        .check(
            status().is(200),
            bodyString()
                .validate("body", validator((body, session) -> journey(session).answer(body))));
  }

  private static TradeJourney journey(Session session) {
    return (TradeJourney) CurrentUser.of(session).journey();
  }
}
