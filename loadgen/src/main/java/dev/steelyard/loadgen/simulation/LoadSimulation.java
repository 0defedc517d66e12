// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import static io.gatling.javaapi.core.CoreDsl.asLongAs;
import static io.gatling.javaapi.core.CoreDsl.atOnceUsers;
import static io.gatling.javaapi.core.CoreDsl.doIf;
import static io.gatling.javaapi.core.CoreDsl.doSwitch;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.onCase;
import static io.gatling.javaapi.core.CoreDsl.pause;
import static io.gatling.javaapi.core.CoreDsl.rampUsers;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.Settings.Model;
import dev.steelyard.loadgen.journey.JourneyHolder;
import dev.steelyard.loadgen.requests.Operation;
import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.Choice;
import io.gatling.javaapi.core.OpenInjectionStep;
import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpProtocolBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The one simulation: offers the load of the settings, whatever the workload is.
 *
 * <p>In both models a virtual user loops until the run stops; Gatling never injects a user per
 * request. Its closed injection would replace users, and its open injection knows neither the time
 * an arrival was due nor a seed.
 */
public final class LoadSimulation extends Simulation {
  /** Gatling makes the simulation itself, by its class: this hands the run over. */
  private static final AtomicReference<RunLife> NEXT = new AtomicReference<>();

  private static final String USER = JourneyHolder.ATTRIBUTE;
  private static final Duration WATCH = Duration.ofMillis(50);
  private static final int FIRST_SLOTS = 64;
  private static final int SLOT_SECONDS = 2;
  private static final int MAX_SLOTS = 20_000;

  private final RunLife life = NEXT.get();
  private final Run run = life.run();
  private final Settings settings = run.settings();

  /** Builds the scenarios of the run that was handed over. */
  public LoadSimulation() {
    boolean closed = settings.model() == Model.CLOSED;
    setUp(closed ? closedLoad() : openLoad(), watcher()).protocols(protocol(closed));
  }

  /** Sets the run that the next simulation offers. */
  public static void handOver(RunLife life) {
    NEXT.set(life);
  }

  /** Ends the process with an error if the recording could not be written. */
  @Override
  public void after() {
    if (life.failure() != null) {
      System.err.printf(
          "The recording could not be written (%s): check the space and the rights of %s.%n",
          life.failure().getMessage(), settings.output());
      System.exit(1);
    }
  }

  private PopulationBuilder closedLoad() {
    ChainBuilder turn =
        exec(request())
            .exec(session -> closed(session).end(session))
            .pause(session -> closed(session).pause());
    return scenario("users")
        .exec(session -> session.set(USER, run.newClosedUser()))
        // Not Gatling's ramp, which takes whole seconds only.
        .pause(session -> closed(session).startDelay())
        .exec(
            session -> {
              run.closedUserJoins();
              return session;
            })
        .exec(asLongAs(session -> closed(session).begin(), "turn", false).on(turn))
        .exec(
            session -> {
              run.closedUserLeaves();
              return session;
            })
        .injectOpen(atOnceUsers(settings.users()));
  }

  private PopulationBuilder openLoad() {
    ChainBuilder turn =
        exec(pause(session -> open(session).untilDue()))
            .exec(
                doIf(session -> open(session).begin())
                    .then(exec(request()).exec(session -> open(session).end(session))));
    return scenario("arrivals")
        .exec(session -> session.set(USER, run.newOpenUser()))
        .exec(asLongAs(session -> open(session).reserve(), "turn", false).on(turn))
        .injectOpen(slots());
  }

  /**
   * Enough slots for arrivals to find one while the servers take up to {@link #SLOT_SECONDS} to
   * answer; more would cost memory, and collections that make arrivals late. They come as arrivals
   * do: many at once would be work that keeps the first arrivals of a cold JVM from starting in
   * time.
   */
  private OpenInjectionStep[] slots() {
    int more = (int) Math.min(MAX_SLOTS, Math.ceil(settings.rate() * SLOT_SECONDS));
    return new OpenInjectionStep[] {atOnceUsers(FIRST_SLOTS), rampUsers(more).during(SLOT_SECONDS)};
  }

  /** Ends the simulation once all is written, also under users that still wait. */
  private PopulationBuilder watcher() {
    return scenario("watcher")
        .exec(asLongAs(session -> !life.finished(), "watch", false).on(pause(WATCH)))
        .stopLoadGenerator("the run is over")
        .injectOpen(atOnceUsers(1));
  }

  /** All requests, made once; the user says which. */
  private ChainBuilder request() {
    List<ChainBuilder> requests = new ArrayList<>();
    Duration timeout = Duration.ofMillis(settings.requestTimeoutMillis());
    for (String target : settings.targets()) {
      for (Operation operation : run.workload().operations()) {
        requests.add(exec(operation.request().apply(target).requestTimeout(timeout)));
      }
    }
    if (requests.size() == 1) {
      return requests.get(0);
    }
    List<Choice.WithKey> choices = new ArrayList<>();
    for (int i = 0; i < requests.size(); i++) {
      choices.add(onCase(i).then(requests.get(i)));
    }
    return doSwitch(session -> session.<VirtualUser>get(USER).request()).on(choices);
  }

  /** A plain client: nothing is cached, followed or fetched that the workload did not ask for. */
  private static HttpProtocolBuilder protocol(boolean closed) {
    HttpProtocolBuilder protocol =
        http.disableCaching()
            .disableFollowRedirect()
            .disableAutoReferer()
            .disableWarmUp()
            .acceptHeader("*/*")
            .userAgentHeader("steelyard");
    // Closed: each user has its own connection. Open: as many connections as there are requests in
    // flight.
    return closed ? protocol : protocol.shareConnections();
  }

  private static ClosedUser closed(Session session) {
    return session.get(USER);
  }

  private static OpenUser open(Session session) {
    return session.get(USER);
  }
}
