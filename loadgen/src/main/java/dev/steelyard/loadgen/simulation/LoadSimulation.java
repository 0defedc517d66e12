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

import com.sun.management.UnixOperatingSystemMXBean;
import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.Settings.Model;
import dev.steelyard.loadgen.requests.AwaitStep;
import dev.steelyard.loadgen.requests.CurrentUser;
import dev.steelyard.loadgen.requests.Step;
import dev.steelyard.loadgen.requests.Target;
import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.Choice;
import io.gatling.javaapi.core.OpenInjectionStep;
import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpProtocolBuilder;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * The one simulation: offers the load of the settings, whatever the scenario is.
 *
 * <p>In all models a virtual user loops until the run stops; Gatling never injects a user per
 * request. Its closed injection would replace users, and its open injection knows neither the time
 * an arrival was due nor a seed.
 */
public final class LoadSimulation extends Simulation {
  /** Gatling makes the simulation itself, by its class: this hands the run over. */
  private static final AtomicReference<RunLife> NEXT = new AtomicReference<>();

  private static final String USER = CurrentUser.ATTRIBUTE;
  private static final Duration WATCH = Duration.ofMillis(50);
  private static final int FIRST_SLOTS = 64;
  private static final int SLOT_SECONDS = 2;
  private static final int MAX_SLOTS = 20_000;

  /** Files other than connections: jars, recordings, event loops. */
  private static final int SPARE_FILES = 500;

  private final RunLife life = NEXT.get();
  private final Run run = life.run();
  private final Settings settings = run.settings;
  private final WaitingSlots slots = new WaitingSlots();

  /** Of a probe; else null. */
  private final PracticeUser practice;

  /**
   * Builds the scenarios of the run that was handed over.
   *
   * @throws IOException if a probe cannot practise
   */
  public LoadSimulation() throws IOException {
    practice = settings.model() == Model.PROBE ? run.newPracticeUser() : null;
    PopulationBuilder load =
        switch (settings.model()) {
          case CLOSED -> closedLoad(run::newClosedUser, settings.ownUsers());
          case PROBE -> closedLoad(run::newProbeUser, 1);
          case TRY -> closedLoad(run::newTryUser, 1);
          case OPEN -> openLoad();
        };
    setUp(load, watcher()).protocols(protocol());
  }

  /** Sets the run that the next simulation offers. */
  public static void handOver(RunLife life) {
    NEXT.set(life);
  }

  /** Ends the process with an error if the run has failed. */
  @Override
  public void after() {
    if (life.tellFailure()) {
      System.exit(1);
    }
  }

  private PopulationBuilder closedLoad(Supplier<VirtualUser> users, int count) {
    ChainBuilder turn =
        exec(exchange()).exec(session -> user(session).end(session)).exec(untilDue());
    return scenario("users")
        .exec(practice == null ? exec(session -> session) : practised(turn))
        .exec(gate(count))
        .exec(session -> session.set(USER, users.get()))
        // Not Gatling's ramp, which takes whole seconds only.
        .exec(untilDue())
        .exec(session -> countActive(session, 1))
        .exec(asLongAs(session -> user(session).begin(), "turn", false).on(turn))
        .exec(session -> countActive(session, -1))
        .injectOpen(atOnceUsers(count));
  }

  private ChainBuilder practised(ChainBuilder turn) {
    return exec(session -> session.set(USER, practice))
        .exec(asLongAs(session -> user(session).begin(), "practice", false).on(turn));
  }

  private Session countActive(Session session, int change) {
    run.userTime.change(change, run.clock.nanos());
    return session;
  }

  private PopulationBuilder openLoad() {
    ChainBuilder turn =
        exec(untilArrival())
            .exec(
                doIf(session -> user(session).begin())
                    .then(exec(exchange()).exec(session -> user(session).end(session))));
    return scenario("arrivals")
        .exec(gate(FIRST_SLOTS))
        .exec(session -> session.set(USER, run.newOpenUser()))
        .exec(asLongAs(session -> true, "turn", false).on(turn))
        .injectOpen(slots());
  }

  /** Lets users in when the run opens; with that many there, all is initialised. */
  private AwaitStep gate(int users) {
    return new AwaitStep(
        (session, next) -> {
          run.whenOpen(() -> next.accept(session));
          if (run.waiting() >= users) {
            life.initialised();
          }
        });
  }

  private AwaitStep untilArrival() {
    return new AwaitStep(
        (session, next) -> {
          OpenUser slot = (OpenUser) session.attributes().apply(USER);
          slots.await(session.eventLoop(), slot, () -> next.accept(session));
        });
  }

  private static AwaitStep untilDue() {
    return new AwaitStep(
        (session, next) -> {
          VirtualUser user = (VirtualUser) session.attributes().apply(USER);
          long nanos = user.untilDue();
          if (nanos > 0) {
            var unused =
                session
                    .eventLoop()
                    .schedule(() -> next.accept(session), nanos, TimeUnit.NANOSECONDS);
          } else {
            // Not at once: a request inside the answer of the one before costs a tenth more CPU.
            session.eventLoop().execute(() -> next.accept(session));
          }
        });
  }

  /**
   * Enough slots for arrivals to find one while the servers take up to {@link #SLOT_SECONDS} to
   * answer; more would cost memory, and collections that make arrivals late. They come as arrivals
   * do: many at once would be work that keeps the first arrivals of a cold JVM from starting in
   * time. Never more than the process may have connections: an arrival without one would be an
   * error that no server has made.
   */
  private OpenInjectionStep[] slots() {
    double rate = settings.rate() / settings.injectors();
    int most = (int) Math.max(FIRST_SLOTS, Math.min(MAX_SLOTS, mostOpenFiles() - SPARE_FILES));
    int more = (int) Math.min(most, Math.ceil(rate * SLOT_SECONDS));
    return new OpenInjectionStep[] {atOnceUsers(FIRST_SLOTS), rampUsers(more).during(SLOT_SECONDS)};
  }

  private static long mostOpenFiles() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
        ? system.getMaxFileDescriptorCount()
        : MAX_SLOTS;
  }

  /** Ends the simulation once all is written, also under users that still wait. */
  private PopulationBuilder watcher() {
    return scenario("watcher")
        .exec(asLongAs(session -> !life.finished(), "watch", false).on(pause(WATCH)))
        .stopLoadGenerator("the run is over")
        .injectOpen(atOnceUsers(1));
  }

  /** What can be sent, made once; the user says which. */
  private ChainBuilder exchange() {
    List<ChainBuilder> exchanges = new ArrayList<>();
    Duration timeout = Duration.ofMillis(settings.requestTimeoutMillis());
    List<String> urls = new ArrayList<>(settings.targets());
    if (practice != null) {
      urls.add(practice.url());
    }
    for (String url : urls) {
      Target target = new Target(url, timeout, settings.model() == Model.TRY);
      for (Step step : run.scenario.steps()) {
        exchanges.add(step.exchange().apply(target));
      }
    }
    if (exchanges.size() == 1) {
      return exchanges.get(0);
    }
    List<Choice.WithKey> choices = new ArrayList<>();
    for (int i = 0; i < exchanges.size(); i++) {
      choices.add(onCase(i).then(exchanges.get(i)));
    }
    return doSwitch(session -> user(session).exchange()).on(choices);
  }

  /** A plain client: nothing is cached, followed or fetched that the scenario did not ask for. */
  private HttpProtocolBuilder protocol() {
    HttpProtocolBuilder protocol =
        http.disableCaching()
            .disableFollowRedirect()
            .disableAutoReferer()
            .disableWarmUp()
            .acceptHeader("*/*")
            .userAgentHeader("steelyard");
    if (settings.journey() != null && settings.journey().gzip()) {
      protocol = protocol.acceptEncodingHeader("gzip");
    }
    // Closed: each user has its own connections. Open: as many as there are requests in flight.
    return settings.model() == Model.OPEN ? protocol.shareConnections() : protocol;
  }

  private static VirtualUser user(Session session) {
    return session.get(USER);
  }
}
