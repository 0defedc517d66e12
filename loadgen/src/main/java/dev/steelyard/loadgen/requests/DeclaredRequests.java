// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import static dev.steelyard.loadgen.requests.DeclaredTexts.journey;
import static io.gatling.javaapi.core.CoreDsl.doIf;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.http.HttpDsl.ByteArrayBodyPart;
import static io.gatling.javaapi.http.HttpDsl.StringBodyPart;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;
import static java.util.Objects.requireNonNullElse;

import dev.steelyard.loadgen.SettingsException;
import dev.steelyard.loadgen.client.EmptySegments;
import dev.steelyard.loadgen.journey.WrongAnswer;
import dev.steelyard.loadgen.journey.declared.DeclaredJourney;
import dev.steelyard.loadgen.journey.declared.DeclaredJourneys;
import dev.steelyard.loadgen.journey.declared.JourneySpec;
import dev.steelyard.loadgen.journey.declared.Operation;
import dev.steelyard.loadgen.journey.declared.Template;
import dev.steelyard.loadgen.requests.DeclaredTexts.Text;
import io.gatling.http.response.Response;
import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.CoreDsl;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.http.BodyPart;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The requests of a declared journey: its declaration as Gatling's builders. */
public final class DeclaredRequests {
  private final DeclaredJourneys journeys;
  private final DeclaredTexts texts;
  private final DeclaredChecks checks;
  private final DeclaredStreams streams;

  /** Whether addresses are relative to the pages before: they are noted only then. */
  private final boolean follows;

  private DeclaredRequests(DeclaredJourneys journeys, boolean follows) {
    this.journeys = journeys;
    this.follows = follows;
    texts = new DeclaredTexts(journeys);
    checks = new DeclaredChecks(texts);
    streams = new DeclaredStreams(texts, checks);
  }

  /**
   * The steps of all visits, in order.
   *
   * @throws SettingsException if a text uses a variable that is none
   */
  public static List<Step> of(JourneySpec spec, DeclaredJourneys journeys) {
    List<Operation> all =
        spec.visits().values().stream().flatMap(visit -> visit.flat().stream()).toList();
    boolean follows = all.stream().map(Operation::step).anyMatch(DeclaredRequests::follows);
    DeclaredRequests requests = new DeclaredRequests(journeys, follows);
    List<Step> steps = new ArrayList<>();
    for (Operation operation : all) {
      steps.add(requests.step(operation, journeys.formOf(steps.size())));
    }
    return steps;
  }

  private static boolean follows(JourneySpec.Step step) {
    return step.submit() != null
        || JourneySpec.isFollowed(step.path())
        || step.parts().stream().anyMatch(part -> JourneySpec.isFollowed(part.path()));
  }

  private Step step(Operation operation, String form) {
    // What is wrong shows now, and not when Gatling has started.
    operation.step().texts().forEach(text -> journeys.template(text, Template.Place.TEXT));
    return new Step(operation.name(), target -> exchange(operation, form, target));
  }

  private ChainBuilder exchange(Operation operation, String form, Target target) {
    JourneySpec.Step step = operation.step();
    if (step.websocket() != null) {
      return streams.socket(operation, target);
    }
    return step.events() != null ? streams.events(step, target) : page(step, form, target);
  }

  private ChainBuilder page(JourneySpec.Step step, String form, Target target) {
    List<HttpRequestActionBuilder> parts =
        step.parts().stream().map(part -> part(step.operation(), part, target)).toList();
    HttpRequestActionBuilder main = main(step, form, target);
    if (!step.partsInTurn()) {
      return exec(parts.isEmpty() ? main : main.resources(parts));
    }
    ChainBuilder chain = exec(main);
    for (HttpRequestActionBuilder part : parts) {
      chain = chain.exec(doIf(session -> !session.isFailed()).then(exec(part)));
    }
    return chain;
  }

  private HttpRequestActionBuilder main(JourneySpec.Step step, String form, Target target) {
    Text url =
        step.submit() == null
            ? texts.url(target.baseUrl(), step.path())
            : new Text(step.submit().form(), null, action(step, target.baseUrl()));
    HttpRequestActionBuilder request =
        request(step.operation(), step.method(), url, step.headers());
    if (step.submit() != null) {
      request = withForm(request, step);
    }
    for (var each : step.form().entrySet()) {
      request = withField(request, each.getKey(), texts.text(each.getValue()));
    }
    if (step.body() != null) {
      Text body = texts.body(step.body(), contentType(step.headers()));
      request = request.body(body.into(CoreDsl::StringBody, CoreDsl::StringBody));
    }
    if (!step.multipart().isEmpty()) {
      request = request.asMultipartForm();
      for (var each : step.multipart().entrySet()) {
        request = request.bodyPart(bodyPart(each.getKey(), JourneySpec.Field.of(each.getValue())));
      }
    }
    List<CheckBuilder> all = checks.checks(step.check());
    if (follows) {
      all.add(new AnswerNote(DeclaredRequests::noteAddress));
    }
    if (form != null) {
      all.add(checks.keepForm(form));
    }
    step.save().forEach((name, save) -> all.add(checks.save(name, save)));
    return target.prepared(request).check(all);
  }

  private static String contentType(Map<String, String> headers) {
    return headers.entrySet().stream()
        .filter(each -> each.getKey().equalsIgnoreCase("Content-Type"))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElse(null);
  }

  /** Where the form leads to. */
  private Function<Session, String> action(JourneySpec.Step step, String baseUrl) {
    int slot = journeys.formSlot(step.submit().form());
    return session -> {
      DeclaredJourney journey = journey(session);
      if (!(journey.saved(slot) instanceof PageForm form)) {
        throw new WrongAnswer("the page before has no form " + step.submit().form());
      }
      if (!form.method().equalsIgnoreCase(step.method())) {
        throw new WrongAnswer(
            "the form %s is sent by %s: give the step this method"
                .formatted(step.submit().form(), form.method()));
      }
      String address = EmptySegments.named(journey.address(form.action(), baseUrl));
      // What a form asks for takes the place of the query that stands in its action.
      return step.method().equals("GET") ? address.replaceFirst("\\?.*", "") : address;
    };
  }

  /** Adds the fields of a form, encoded as it says; a step with files makes it multipart. */
  private HttpRequestActionBuilder withForm(
      HttpRequestActionBuilder request, JourneySpec.Step step) {
    int slot = journeys.formSlot(step.submit().form());
    Map<String, Text> fields = new LinkedHashMap<>();
    step.submit().fields().forEach((name, value) -> fields.put(name, texts.text(value)));
    Function<Session, List<Map.Entry<String, String>>> entries =
        session -> {
          Map<String, String> entered = new LinkedHashMap<>();
          fields.forEach((name, value) -> entered.put(name, value.of(session)));
          return ((PageForm) journey(session).saved(slot)).filledIn(entered);
        };
    if (step.method().equals("GET")) {
      return request.queryParamSeq(session -> parameters(entries.apply(session)));
    }
    if (!step.multipart().isEmpty()) {
      return request.formParamSeq(session -> parameters(entries.apply(session)));
    }
    Function<Session, Enctype> enctype =
        session -> ((PageForm) journey(session).saved(slot)).enctype();
    HttpRequestActionBuilder sent =
        request.body(
            CoreDsl.StringBody(session -> enctype.apply(session).encode(entries.apply(session))));
    return contentType(step.headers()) != null
        ? sent
        : sent.header("Content-Type", session -> enctype.apply(session).contentType());
  }

  private static List<Map.Entry<String, Object>> parameters(
      List<Map.Entry<String, String>> entries) {
    return entries.stream()
        .map(each -> Map.<String, Object>entry(each.getKey(), each.getValue()))
        .toList();
  }

  private HttpRequestActionBuilder part(String operation, JourneySpec.Part part, Target target) {
    HttpRequestActionBuilder request =
        request(operation, "GET", texts.url(target.baseUrl(), part.path()), part.headers());
    return part.conditional()
        ? target.preparedConditional(request)
        : target.prepared(request).check(status().is(200));
  }

  private static void noteAddress(Response response, CurrentUser user) {
    String url = EmptySegments.restored(response.request().getUri().toUrl());
    ((DeclaredJourney) user.journey()).visited(url);
  }

  private HttpRequestActionBuilder request(
      String operation, String method, Text url, Map<String, String> headers) {
    HttpRequestActionBuilder request =
        url.into(
            constant -> http(operation).httpRequest(method, constant),
            function -> http(operation).httpRequest(method, function));
    for (var each : headers.entrySet()) {
      request = withHeader(request, each.getKey(), texts.header(each.getKey(), each.getValue()));
    }
    return request;
  }

  private static HttpRequestActionBuilder withHeader(
      HttpRequestActionBuilder request, String name, Text value) {
    return value.into(
        constant -> request.header(Target.header(name), constant),
        function -> request.header(Target.header(name), function));
  }

  private static HttpRequestActionBuilder withField(
      HttpRequestActionBuilder request, String name, Text value) {
    return value.into(
        constant -> request.formParam(name, constant),
        function -> request.formParam(name, (Function<Session, Object>) function::apply));
  }

  private BodyPart bodyPart(String name, JourneySpec.Field field) {
    BodyPart part =
        field.base64() != null
            ? ByteArrayBodyPart(name, Base64.getDecoder().decode(field.base64()))
            : texts
                .body(field.content(), requireNonNullElse(field.type(), "text/plain"))
                .into(
                    constant -> StringBodyPart(name, constant),
                    function -> StringBodyPart(name, function));
    if (field.filename() != null) {
      part = part.fileName(texts.header("Content-Disposition", field.filename()).function());
    }
    return field.type() == null ? part : part.contentType(field.type());
  }
}
