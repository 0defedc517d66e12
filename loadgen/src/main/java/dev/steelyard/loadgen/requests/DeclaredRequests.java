// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import static io.gatling.javaapi.core.CoreDsl.bodyString;
import static io.gatling.javaapi.core.CoreDsl.css;
import static io.gatling.javaapi.core.CoreDsl.doIf;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.jsonPath;
import static io.gatling.javaapi.core.CoreDsl.regex;
import static io.gatling.javaapi.http.HttpDsl.StringBodyPart;
import static io.gatling.javaapi.http.HttpDsl.header;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;
import static io.gatling.javaapi.http.HttpDsl.ws;

import com.fasterxml.jackson.databind.JsonNode;
import dev.steelyard.loadgen.SettingsException;
import dev.steelyard.loadgen.journey.WrongAnswer;
import dev.steelyard.loadgen.journey.declared.DeclaredJourney;
import dev.steelyard.loadgen.journey.declared.DeclaredJourneys;
import dev.steelyard.loadgen.journey.declared.JourneySpec;
import dev.steelyard.loadgen.journey.declared.Template;
import io.gatling.http.response.Response;
import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.CoreDsl;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.http.BodyPart;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import io.gatling.javaapi.http.WsFrameCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The requests of a declared journey: its declaration as Gatling's builders. */
public final class DeclaredRequests {
  /** What the logger of this class says where a WebSocket could not be opened. */
  public static final String NOT_OPENED = "the WebSocket was not opened";

  private static final Logger LOGGER = LoggerFactory.getLogger(DeclaredRequests.class);
  private static final String SOCKET = "socket";

  private final DeclaredJourneys journeys;

  /** Whether addresses are relative to the pages before: they are noted only then. */
  private final boolean follows;

  private DeclaredRequests(DeclaredJourneys journeys, boolean follows) {
    this.journeys = journeys;
    this.follows = follows;
  }

  /**
   * The steps of all visits, in order.
   *
   * @throws SettingsException if a text uses a variable that is none
   */
  public static List<Step> of(JourneySpec spec, DeclaredJourneys journeys) {
    boolean follows =
        spec.visits().values().stream()
            .flatMap(visit -> visit.steps().stream())
            .anyMatch(DeclaredRequests::follows);
    DeclaredRequests requests = new DeclaredRequests(journeys, follows);
    return spec.visits().values().stream()
        .flatMap(visit -> visit.steps().stream())
        .map(requests::step)
        .toList();
  }

  private static boolean follows(JourneySpec.Step step) {
    return JourneySpec.isFollowed(step.path())
        || step.parts().stream().anyMatch(part -> JourneySpec.isFollowed(part.path()));
  }

  private Step step(JourneySpec.Step step) {
    Function<Target, ChainBuilder> exchange =
        step.websocket() != null ? target -> socket(step, target) : target -> page(step, target);
    // What is wrong shows now, and not when Gatling has started.
    texts(step).forEach(journeys::template);
    return new Step(step.operation(), exchange);
  }

  private static Stream<String> texts(JourneySpec.Step step) {
    Stream<String> files =
        step.multipart().values().stream()
            .map(JourneySpec.Field::of)
            .flatMap(field -> Stream.of(field.content(), field.filename()));
    Stream<String> json =
        step.check().json().values().stream().filter(JsonNode::isTextual).map(JsonNode::textValue);
    Stream<String> parts =
        step.parts().stream()
            .flatMap(
                part -> Stream.concat(Stream.of(part.path()), part.headers().values().stream()));
    Stream<String> socket =
        step.websocket() == null
            ? Stream.empty()
            : Stream.of(step.websocket().path(), step.websocket().send());
    return Stream.of(
            Stream.of(step.path(), step.body()),
            step.headers().values().stream(),
            step.form().values().stream(),
            step.check().contains().stream(),
            step.check().absent().stream(),
            files,
            json,
            parts,
            socket)
        .flatMap(Function.identity())
        .filter(Objects::nonNull);
  }

  private ChainBuilder page(JourneySpec.Step step, Target target) {
    List<HttpRequestActionBuilder> parts =
        step.parts().stream().map(part -> part(step.operation(), part, target)).toList();
    HttpRequestActionBuilder main = main(step, target);
    if (!step.partsInTurn()) {
      return exec(parts.isEmpty() ? main : main.resources(parts));
    }
    ChainBuilder chain = exec(main);
    for (HttpRequestActionBuilder part : parts) {
      chain = chain.exec(doIf(session -> !session.isFailed()).then(exec(part)));
    }
    return chain;
  }

  private HttpRequestActionBuilder main(JourneySpec.Step step, Target target) {
    HttpRequestActionBuilder request =
        request(step.operation(), step.method(), target.baseUrl(), step.path(), step.headers());
    for (var each : step.form().entrySet()) {
      request = withField(request, each.getKey(), text(each.getValue()));
    }
    if (step.body() != null) {
      request = request.body(text(step.body()).into(CoreDsl::StringBody, CoreDsl::StringBody));
    }
    if (!step.multipart().isEmpty()) {
      request = request.asMultipartForm();
      for (var each : step.multipart().entrySet()) {
        request = request.bodyPart(bodyPart(each.getKey(), JourneySpec.Field.of(each.getValue())));
      }
    }
    List<CheckBuilder> checks = checks(step.check());
    if (follows) {
      checks.add(new AnswerNote(DeclaredRequests::noteAddress));
    }
    step.save().forEach((name, save) -> checks.add(save(name, save)));
    return target.prepared(request).check(checks);
  }

  private HttpRequestActionBuilder part(String operation, JourneySpec.Part part, Target target) {
    HttpRequestActionBuilder request =
        request(operation, "GET", target.baseUrl(), part.path(), part.headers());
    return part.conditional()
        ? target.preparedConditional(request)
        : target.prepared(request).check(status().is(200));
  }

  private static void noteAddress(Response response, CurrentUser user) {
    ((DeclaredJourney) user.journey()).visited(response.request().getUri().toUrl());
  }

  private HttpRequestActionBuilder request(
      String operation, String method, String baseUrl, String path, Map<String, String> headers) {
    HttpRequestActionBuilder request =
        url(baseUrl, path)
            .into(
                constant -> http(operation).httpRequest(method, constant),
                function -> http(operation).httpRequest(method, function));
    for (var each : headers.entrySet()) {
      request = withHeader(request, each.getKey(), text(each.getValue()));
    }
    return request;
  }

  private static HttpRequestActionBuilder withHeader(
      HttpRequestActionBuilder request, String name, Text value) {
    return value.into(
        constant -> request.header(name, constant), function -> request.header(name, function));
  }

  private static HttpRequestActionBuilder withField(
      HttpRequestActionBuilder request, String name, Text value) {
    return value.into(
        constant -> request.formParam(name, constant),
        function -> request.formParam(name, (Function<Session, Object>) function::apply));
  }

  private BodyPart bodyPart(String name, JourneySpec.Field field) {
    BodyPart part =
        text(field.content())
            .into(
                constant -> StringBodyPart(name, constant),
                function -> StringBodyPart(name, function));
    if (field.filename() != null) {
      part = part.fileName(text(field.filename()).function);
    }
    return field.type() == null ? part : part.contentType(field.type());
  }

  private List<CheckBuilder> checks(JourneySpec.Check check) {
    List<CheckBuilder> checks = new ArrayList<>();
    List<Integer> allowed = check.status();
    checks.add(allowed.size() == 1 ? status().is(allowed.get(0)) : status().in(allowed));
    if (check.matches() != null || !check.contains().isEmpty() || !check.absent().isEmpty()) {
      checks.add(body(check));
    }
    check.json().forEach((path, value) -> checks.add(json(path, value)));
    return checks;
  }

  /** All that is asked of the text, in one go. */
  private CheckBuilder body(JourneySpec.Check check) {
    List<Text> contains = check.contains().stream().map(this::text).toList();
    List<Text> absent = check.absent().stream().map(this::text).toList();
    Pattern pattern = check.matches() == null ? null : Pattern.compile(check.matches());
    return bodyString()
        .validate(
            "body",
            (body, session) -> {
              for (Text each : contains) {
                demand(body.contains(each.of(session)), "has not", each.source);
              }
              for (Text each : absent) {
                demand(!body.contains(each.of(session)), "has", each.source);
              }
              if (pattern != null) {
                demand(pattern.matcher(body).find(), "does not match", check.matches());
              }
              return body;
            });
  }

  private static void demand(boolean right, String otherwise, String what) {
    if (!right) {
      throw new WrongAnswer("the body %s \"%s\"".formatted(otherwise, what));
    }
  }

  private CheckBuilder json(String path, JsonNode expected) {
    var found = jsonPath(session -> path);
    if (expected.isNull()) {
      return found.ofString().isNull();
    }
    if (expected.isBoolean()) {
      return found.ofBoolean().is(expected.booleanValue());
    }
    if (expected.isIntegralNumber()) {
      return found.ofLong().is(expected.longValue());
    }
    if (expected.isNumber()) {
      return found.ofDouble().is(expected.doubleValue());
    }
    return found.ofString().is(text(expected.textValue()).function);
  }

  private CheckBuilder save(String name, JourneySpec.Save save) {
    int slot = journeys.slot(name);
    return found(save)
        .validate(
            "value of " + name,
            (value, session) -> {
              if (value == null && !save.optional()) {
                throw new WrongAnswer("the answer has no " + name);
              }
              journey(session).save(slot, value);
              return value;
            });
  }

  private static CheckBuilder.Find<String> found(JourneySpec.Save save) {
    if (save.json() != null) {
      return jsonPath(session -> save.json()).ofString();
    }
    if (save.regex() != null) {
      return regex(session -> save.regex());
    }
    if (save.header() != null) {
      return header(save.header());
    }
    return save.attribute() == null
        ? css(session -> save.css())
        : css(session -> save.css(), save.attribute());
  }

  private ChainBuilder socket(JourneySpec.Step step, Target target) {
    JourneySpec.WebSocket socket = step.websocket();
    String operation = step.operation();
    Text url = text(target.baseUrl().replaceFirst("^http", "ws") + socket.path());
    WsFrameCheck awaited =
        ws.checkTextMessage(operation)
            .matching(regex(session -> socket.expect()))
            .check(
                regex(session -> socket.expect())
                    .validate(
                        "the message awaited",
                        (value, session) -> {
                          CurrentUser.of(session).answered();
                          return value;
                        }));
    var connect = ws(operation, SOCKET).connect(url.function).sign(Target::withCookies);
    ChainBuilder open =
        exec(socket.send() == null ? connect.await(socket.within()).on(awaited) : connect)
            .exec(session -> opened(session, operation));
    if (socket.send() != null) {
      Function<Session, String> message = text(socket.send()).function;
      var send = ws(operation, SOCKET).sendText(message).await(socket.within()).on(awaited);
      open = open.exec(doIf(session -> !session.isFailed()).then(exec(send)));
    }
    return open.exec(
            doIf(session -> session.contains(SOCKET)).then(exec(ws(operation, SOCKET).close())))
        // One that could not be opened is still there.
        .exec(session -> session.contains(SOCKET) ? session.remove(SOCKET) : session);
  }

  /** Gatling names no operation when it tells its logger why a socket could not be opened. */
  private static Session opened(Session session, String operation) {
    if (session.isFailed()) {
      LOGGER.error("Request '{}' failed: {}", operation, NOT_OPENED);
    }
    return session;
  }

  /**
   * A text as Gatling takes it.
   *
   * @param source as it was declared
   * @param constant null if it is not always the same, or if Gatling would read it as an expression
   */
  private record Text(String source, String constant, Function<Session, String> function) {
    /** Hands over the constant or, if there is none, the function. */
    <T> T into(Function<String, T> ofConstant, Function<Function<Session, String>, T> ofFunction) {
      return constant != null ? ofConstant.apply(constant) : ofFunction.apply(function);
    }

    String of(Session session) {
      return constant != null ? constant : function.apply(session);
    }
  }

  private Text url(String baseUrl, String path) {
    if (!JourneySpec.isFollowed(path)) {
      return text(baseUrl + path);
    }
    Template template = journeys.template(path);
    return new Text(path, null, session -> journey(session).address(template, baseUrl));
  }

  private Text text(String text) {
    Template template = journeys.template(text);
    String constant = template.constant();
    if (constant == null) {
      return new Text(text, null, session -> journey(session).text(template));
    }
    boolean expression = constant.contains("#{") || constant.contains("${");
    return new Text(text, expression ? null : constant, session -> constant);
  }

  private static DeclaredJourney journey(Session session) {
    return (DeclaredJourney) CurrentUser.of(session).journey();
  }
}
