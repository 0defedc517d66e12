// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import static dev.steelyard.loadgen.requests.DeclaredTexts.journey;
import static dev.steelyard.loadgen.requests.Validators.validator;
import static io.gatling.javaapi.core.CoreDsl.bodyString;
import static io.gatling.javaapi.core.CoreDsl.css;
import static io.gatling.javaapi.core.CoreDsl.jsonPath;
import static io.gatling.javaapi.core.CoreDsl.regex;
import static io.gatling.javaapi.http.HttpDsl.header;
import static io.gatling.javaapi.http.HttpDsl.status;

import com.fasterxml.jackson.databind.JsonNode;
import dev.steelyard.loadgen.journey.WrongAnswer;
import dev.steelyard.loadgen.journey.declared.DeclaredJourney;
import dev.steelyard.loadgen.journey.declared.JourneySpec;
import dev.steelyard.loadgen.requests.DeclaredTexts.Text;
import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a declared journey demands of answers, and keeps of them, as Gatling's checks. */
record DeclaredChecks(DeclaredTexts texts) {
  List<CheckBuilder> checks(JourneySpec.Check check) {
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
    List<Text> contains = check.contains().stream().map(texts::text).toList();
    List<Text> absent = check.absent().stream().map(texts::text).toList();
    Pattern pattern = check.matches() == null ? null : Pattern.compile(check.matches());
    return bodyString()
        .validate(
            "body",
            (body, session) -> {
              for (Text each : contains) {
                demand(body.contains(each.of(session)), "has not", each.source());
              }
              for (Text each : absent) {
                demand(!body.contains(each.of(session)), "has", each.source());
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
    return found.ofString().is(texts.text(expected.textValue()).function());
  }

  /** Where and how a value is kept. */
  private record Keeper(String name, int slot, Pattern part, boolean optional) {
    /** Keeps a text, a list of them, or null for none. */
    void keep(DeclaredJourney journey, Object found) {
      Object value = found;
      if (part != null && found instanceof String text) {
        value = partOf(text);
      } else if (part != null && found instanceof List<?> list) {
        value = list.stream().map(each -> partOf((String) each)).filter(Objects::nonNull).toList();
      }
      if (value == null && !optional) {
        throw new WrongAnswer("the answer has no " + name);
      }
      journey.save(slot, value);
    }

    private String partOf(String text) {
      Matcher matcher = part.matcher(text);
      if (!matcher.find()) {
        return null;
      }
      return matcher.groupCount() > 0 ? matcher.group(1) : matcher.group();
    }
  }

  /** Keeps a value of an answer. */
  CheckBuilder save(String name, JourneySpec.Save save) {
    Pattern part = save.part() == null ? null : Pattern.compile(save.part());
    Keeper keeper = new Keeper(name, texts.journeys().slot(name), part, save.optional());
    if (save.cookie() != null) {
      return new AnswerNote(
          (response, current) -> {
            String path = response.request().getUri().getPath();
            String value = current.user().cookies().value(save.cookie(), path);
            keeper.keep((DeclaredJourney) current.journey(), value);
          });
    }
    CheckBuilder.MultipleFind<String> found = found(save);
    String label = "value of " + name;
    String which = save.which().asText();
    if (which.equals("first") || save.which().isNumber()) {
      return found
          .find(save.which().asInt(1) - 1)
          .validate(label, validator((value, session) -> keeper.keep(journey(session), value)));
    }
    return found
        .findAll()
        .validate(
            label,
            validator(
                (values, session) ->
                    keeper.keep(
                        journey(session), values == null ? null : chosen(values, which, session))));
  }

  private static Object chosen(List<String> values, String which, Session session) {
    return switch (which) {
      case "all" -> List.copyOf(values);
      case "last" -> values.get(values.size() - 1);
      default -> values.get(CurrentUser.of(session).user().random().nextInt(values.size()));
    };
  }

  private static CheckBuilder.MultipleFind<String> found(JourneySpec.Save save) {
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

  /** Keeps a form for the step that sends it; that one fails if there is none. */
  CheckBuilder keepForm(String selector) {
    int slot = texts.journeys().formSlot(selector);
    return css(session -> selector)
        .ofNode()
        .find(0)
        .validate(
            "form",
            validator(
                (node, session) ->
                    journey(session).save(slot, node == null ? null : PageForm.read(node))));
  }
}
