// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import com.typesafe.scalalogging.Logger;
import io.gatling.core.action.Action;
import io.gatling.core.session.Session;
import io.gatling.core.structure.ScenarioContext;
import io.gatling.javaapi.core.ActionBuilder;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * A step of a scenario that goes on when it is told to. Gatling's own pause takes whole
 * milliseconds, which would be seen in every latency that counts from an intended start; and it
 * cannot wait for an event.
 *
 * @param moment decides when
 */
public record AwaitStep(Moment moment) implements ActionBuilder {
  /** Decides when a user goes on. */
  @FunctionalInterface
  public interface Moment {
    /**
     * Has the user go on, now or later.
     *
     * @param session of the user
     * @param next to be given the session with which the user goes on, once, by any thread
     */
    void await(Session session, Consumer<Session> next);
  }

  @Override
  public io.gatling.core.action.builder.ActionBuilder asScala() {
    return new Builder(moment);
  }

  private record Builder(Moment moment) implements io.gatling.core.action.builder.ActionBuilder {
    @Override
    public Action build(ScenarioContext context, Action next) {
      return new Waiting(moment, next);
    }
  }

  private record Waiting(Moment moment, Action next) implements Action {
    private static final Logger LOGGER = Logger.apply(LoggerFactory.getLogger(AwaitStep.class));

    @Override
    public String name() {
      return "go-on";
    }

    @Override
    public void execute(Session session) {
      moment.await(session, next::$bang);
    }

    @Override
    public Logger logger() {
      return LOGGER;
    }

    @Override
    public void com$typesafe$scalalogging$StrictLogging$_setter_$logger_$eq(Logger unused) {
      // Scala would set its field here.
    }
  }
}
