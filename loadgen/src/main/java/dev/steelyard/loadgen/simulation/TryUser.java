// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.client.EmptySegments;
import dev.steelyard.loadgen.journey.declared.DeclaredJourney;
import dev.steelyard.loadgen.recording.Trace;
import dev.steelyard.loadgen.requests.AnswerReader;
import dev.steelyard.loadgen.requests.Target;
import io.gatling.http.client.Request;
import io.gatling.http.response.Response;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The one user of a try: makes each visit once, tells all that it sees, and ends the run. */
final class TryUser extends VirtualUser implements AnswerReader {
  private static final double NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Trace trace;
  private final List<Trace.Exchange> exchanges = new ArrayList<>();
  private Map<String, Object> known = Map.of();

  /**
   * @param activeUser whose operations it starts
   * @param due when it begins
   */
  TryUser(Run run, ActiveUser activeUser, long due) {
    super(run, due);
    this.activeUser = activeUser;
    trace = new Trace(run.settings.output());
    declared().playOnce();
  }

  private DeclaredJourney declared() {
    return (DeclaredJourney) activeUser.journey();
  }

  @Override
  boolean begins() {
    choose();
    if (!chosen()) {
      run.control.stop(Control.Ending.ANSWERED, run.clock.nanos());
      return false;
    }
    known = declared().saved();
    exchanges.clear();
    return admitted();
  }

  @Override
  public void read(Response response) {
    Request request = response.request();
    exchanges.add(
        new Trace.Exchange(
            request.getMethod().name(),
            EmptySegments.restored(request.getUri().toUrl()),
            map(request.getHeaders()),
            request.getBody() == null ? null : String.valueOf(request.getBody()),
            response.status().code(),
            map(response.headers()),
            response.body().string()));
  }

  private static Map<String, String> map(HttpHeaders headers) {
    Map<String, String> map = new LinkedHashMap<>();
    headers.forEach(
        header ->
            map.merge(
                header.getKey().replace(Target.DECLARED_COOKIES, "cookie"),
                header.getValue(),
                (a, b) -> a + "\n" + b));
    return map;
  }

  @Override
  void ended(boolean failed, long answeredAt, long now) {
    Map<String, Object> saved = new LinkedHashMap<>(declared().saved());
    saved.entrySet().removeIf(each -> each.getValue().equals(known.get(each.getKey())));
    trace.add(
        new Trace.Operation(
            run.scenario.operations().get(operation()),
            (answeredAt - due) / NANOS,
            failed,
            failed ? run.lastError() : null,
            saved,
            List.copyOf(exchanges)));
    record(failed, answeredAt);
    due = now;
  }
}
