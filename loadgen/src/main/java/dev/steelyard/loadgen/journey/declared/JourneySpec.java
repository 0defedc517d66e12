// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import static com.fasterxml.jackson.annotation.JsonFormat.Feature.ACCEPT_SINGLE_VALUE_AS_ARRAY;
import static dev.steelyard.loadgen.SettingsException.filled;
import static dev.steelyard.loadgen.SettingsException.must;
import static dev.steelyard.loadgen.SettingsException.needed;
import static dev.steelyard.loadgen.SettingsException.one;
import static dev.steelyard.loadgen.SettingsException.within;
import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.steelyard.loadgen.SettingsException;
import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.journey.Pause;
import java.time.Duration;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Stream;

/**
 * The declaration of a journey, as it stands in a workload's file.
 *
 * @param variables drawn anew at each visit of each user
 * @param feeders rows of values, of which visits that use them take one
 * @param gzip whether answers are asked for compressed
 * @param visits what a user chooses from
 */
public record JourneySpec(
    Map<String, Variable> variables,
    Map<String, FeederSpec> feeders,
    Boolean gzip,
    Map<String, Visit> visits) {
  /** Fills in and checks. */
  public JourneySpec {
    variables = requireNonNullElse(variables, Map.of());
    feeders = requireNonNullElse(feeders, Map.of());
    gzip = requireNonNullElse(gzip, false);
    filled("visits", needed("visits", visits).keySet());
    if (visits.values().stream().noneMatch(visit -> visit.weight() > 0)) {
      throw new SettingsException("visits", "have no weight: give one of them more than 0");
    }
  }

  /** How long a message or an event is waited for at most; zero without any. */
  public Duration longestWithin() {
    return visits.values().stream()
        .flatMap(visit -> Action.steps(visit.steps()))
        .flatMap(StreamSpec::limits)
        .max(Comparator.naturalOrder())
        .orElse(Duration.ZERO);
  }

  /**
   * One of these.
   *
   * @param random least and greatest of whole numbers
   * @param choose texts
   * @param user the index of the user plus this number
   */
  public record Variable(List<Long> random, List<String> choose, Long user) {
    /** Checks. */
    public Variable {
      one("random, choose, user", random, choose, user);
      if (random != null && (random.size() != 2 || random.get(0) > random.get(1))) {
        throw must("random", random, "the least and the greatest of whole numbers");
      }
      if (choose != null) {
        filled("choose", choose);
      }
    }
  }

  /**
   * What a user does in one go.
   *
   * @param weight how often it is drawn, against the others
   * @param forgetCookies whether the user begins it without cookies
   * @param steps in order
   */
  public record Visit(
      Double weight, @JsonProperty("forget_cookies") Boolean forgetCookies, List<Action> steps) {
    /** Fills in and checks. */
    public Visit {
      weight = within("weight", requireNonNullElse(weight, 1.0), 0, 1e9);
      forgetCookies = requireNonNullElse(forgetCookies, false);
      steps = List.copyOf(filled("steps", steps));
      if (Action.steps(steps).findAny().isEmpty()) {
        throw new SettingsException("steps", "hold no operation: add one");
      }
    }

    /** The operations in the order of the declaration, however often they are played. */
    public List<Operation> flat() {
      return Action.steps(steps).flatMap(Operation::of).toList();
    }

    List<String> texts() {
      return steps.stream().flatMap(Action::texts).toList();
    }
  }

  /**
   * One operation of a visit, or several over one WebSocket.
   *
   * @param operation what it is measured as
   * @param method of the request
   * @param path of the request, with its query; one that begins with a variable is an address as
   *     answers give them, whole or relative to the page before
   * @param headers of the request
   * @param form url-encoded body
   * @param body body as it is
   * @param multipart name to a text, or to a file
   * @param check what must hold of the answer
   * @param save variable to where its value stands in the answer
   * @param parts requests that belong to the page
   * @param partsInTurn whether they are sent one after the other and not side by side
   * @param submit a form of the page before, in place of a path
   * @param websocket in place of a request
   * @param events in place of a request
   * @param pause before the next operation
   * @param optional whether the visit goes on if it fails
   */
  public record Step(
      String operation,
      String method,
      String path,
      Map<String, String> headers,
      Map<String, String> form,
      String body,
      Map<String, JsonNode> multipart,
      Check check,
      Map<String, Save> save,
      List<Part> parts,
      @JsonProperty("parts_in_turn") Boolean partsInTurn,
      Submit submit,
      StreamSpec.WebSocket websocket,
      StreamSpec.Events events,
      Pause pause,
      Boolean optional)
      implements Action {
    /** Fills in and checks. */
    public Step {
      Operation.checkName(operation);
      one("path, submit, websocket, events", path, submit, websocket, events);
      if (path != null) {
        Part.checkPath(path);
      }
      method = requireNonNullElse(method, submit == null ? "GET" : "POST");
      headers = requireNonNullElse(headers, Map.of());
      form = requireNonNullElse(form, Map.of());
      multipart = requireNonNullElse(multipart, Map.of());
      multipart.values().forEach(Field::of);
      check = requireNonNullElse(check, Check.USUAL);
      save = requireNonNullElse(save, Map.of());
      parts = requireNonNullElse(parts, List.of());
      partsInTurn = requireNonNullElse(partsInTurn, false);
      optional = requireNonNullElse(optional, false);
      boolean plain = headers.isEmpty() && save.isEmpty() && check.equals(Check.USUAL);
      int bodies =
          (form.isEmpty() ? 0 : 1) + (body == null ? 0 : 1) + (multipart.isEmpty() ? 0 : 1);
      if (bodies > 1) {
        throw new SettingsException("form", "excludes body and multipart: give one of them");
      }
      if (submit != null && (body != null || !form.isEmpty())) {
        throw new SettingsException("submit", "excludes form and body: give its fields there");
      }
      if (path == null && submit == null && !(plain && bodies == 0 && parts.isEmpty())) {
        throw new SettingsException(
            websocket != null ? "websocket" : "events",
            "stands alone: leave out what belongs to a request");
      }
    }

    /** Whether its answer is a page, or may be. */
    boolean hasPage() {
      return path != null || submit != null;
    }

    /** What is saved from an answer, or from each message. */
    Stream<Map<String, Save>> saves() {
      if (websocket != null) {
        return websocket.exchanges().stream().map(StreamSpec.Exchange::save);
      }
      return Stream.of(events != null ? events.save() : save);
    }

    @Override
    public Stream<Step> steps() {
      return Stream.of(this);
    }

    @Override
    public Stream<String> texts() {
      Stream<String> files =
          multipart.values().stream()
              .map(Field::of)
              .flatMap(field -> Stream.of(field.text(), field.name()));
      Stream<String> json =
          check.json().values().stream().filter(JsonNode::isTextual).map(JsonNode::textValue);
      Stream<String> partTexts =
          parts.stream()
              .flatMap(
                  part -> Stream.concat(Stream.of(part.path()), part.headers().values().stream()));
      return Stream.of(
              Stream.of(requireNonNullElse(path, ""), requireNonNullElse(body, "")),
              StreamSpec.texts(this),
              headers.values().stream(),
              form.values().stream(),
              submit == null ? Stream.<String>empty() : submit.fields().values().stream(),
              check.contains().stream(),
              check.absent().stream(),
              files,
              json,
              partTexts)
          .flatMap(Function.identity());
    }
  }

  /**
   * A form of the page that the step before asked for, with all that stands in it.
   *
   * @param form CSS selector
   * @param fields name to what a user enters in the place of what stands there
   */
  public record Submit(String form, Map<String, String> fields) {
    /** Fills in and checks. */
    public Submit {
      needed("form", form);
      fields = requireNonNullElse(fields, Map.of());
    }
  }

  /**
   * A field of a multipart body: a text, or a file.
   *
   * @param content what is sent, as a text
   * @param base64 what is sent, as bytes
   * @param filename makes it a file; null for a plain field
   * @param type of its content, or null
   */
  public record Field(String content, String base64, String filename, String type) {
    /** Checks. */
    public Field {
      one("content, base64", content, base64);
      try {
        Base64.getDecoder().decode(requireNonNullElse(base64, ""));
      } catch (IllegalArgumentException e) {
        throw must("base64", base64, "base64 in one line");
      }
    }

    /** From a text, or from an object with these members. */
    public static Field of(JsonNode value) {
      return value.isObject()
          ? SettingsReader.bind(value, Field.class, "multipart")
          : new Field(value.isValueNode() ? value.asText() : null, null, null, null);
    }

    String text() {
      return requireNonNullElse(content, "");
    }

    String name() {
      return requireNonNullElse(filename, "");
    }
  }

  /**
   * What must hold of an answer.
   *
   * @param status one of these
   * @param contains texts that the body holds
   * @param absent texts that it does not hold
   * @param matches pattern that is found in it
   * @param json JSONPath to the value that stands there
   */
  public record Check(
      @JsonFormat(with = ACCEPT_SINGLE_VALUE_AS_ARRAY) List<Integer> status,
      @JsonFormat(with = ACCEPT_SINGLE_VALUE_AS_ARRAY) List<String> contains,
      @JsonFormat(with = ACCEPT_SINGLE_VALUE_AS_ARRAY) List<String> absent,
      String matches,
      @JsonSetter(contentNulls = Nulls.SET) Map<String, JsonNode> json) {
    static final Check USUAL = new Check(null, null, null, null, null);

    /** Fills in and checks. */
    public Check {
      status = filled("status", requireNonNullElse(status, List.of(200)));
      status.forEach(each -> within("status", each, 100, 999));
      contains = requireNonNullElse(contains, List.of());
      absent = requireNonNullElse(absent, List.of());
      checkPattern("matches", matches);
      json = requireNonNullElse(json, Map.of());
      json.forEach(
          (path, value) -> {
            if (!value.isValueNode()) {
              throw must("json", value, "a text, a number, true, false or null");
            }
            if (value.isIntegralNumber() && !value.canConvertToLong()) {
              throw must("json", value, "a whole number of 64 bits");
            }
          });
    }
  }

  /**
   * Where a value stands in an answer: one of JSONPath, pattern (its first group, or all of it),
   * header, CSS selector, cookie of the user.
   *
   * @param attribute of the element that the selector finds; null for its text
   * @param which of several: {@code first}, {@code last}, {@code random}, {@code all}, or its
   *     number, from 1
   * @param part pattern of what is kept of it: its first group, or all of it; null for the whole
   * @param optional whether an answer without it is right; it has no value then
   * @param keep whether the user has it in later visits as well
   */
  public record Save(
      String json,
      String regex,
      String header,
      String css,
      String cookie,
      String attribute,
      JsonNode which,
      String part,
      Boolean optional,
      Boolean keep) {
    /** All that {@code which} may be, but for numbers. */
    public static final List<String> WHICH = List.of("first", "last", "random", "all");

    /** Fills in and checks. */
    public Save {
      one("json, regex, header, css, cookie", json, regex, header, css, cookie);
      checkPattern("regex", regex);
      checkPattern("part", part);
      which = requireNonNullElse(which, TextNode.valueOf("first"));
      if (!WHICH.contains(which.asText()) && !(which.isInt() && which.asInt() > 0)) {
        throw must("which", which, "one of %s, or a number from 1".formatted(WHICH));
      }
      if (attribute != null && css == null) {
        throw new SettingsException("attribute", "belongs to css: give that, or leave it out");
      }
      if (cookie != null && !which.asText().equals("first")) {
        throw new SettingsException("which", "has no meaning for a cookie: leave it out");
      }
      optional = requireNonNullElse(optional, false);
      keep = requireNonNullElse(keep, false);
    }
  }

  /**
   * A request that belongs to a page.
   *
   * @param conditional whether to ask for what is newer than what this user got before
   */
  public record Part(String path, Map<String, String> headers, Boolean conditional) {
    /** Fills in and checks. */
    public Part {
      checkPath(path);
      headers = requireNonNullElse(headers, Map.of());
      conditional = requireNonNullElse(conditional, false);
    }

    static void checkPath(String path) {
      if (!needed("path", path).startsWith("/") && !isFollowed(path)) {
        throw must("path", path, "a path that begins with \"/\", or with what an answer gave");
      }
    }
  }

  /** Whether a path is an address that an answer gave. */
  public static boolean isFollowed(String path) {
    return path != null && path.startsWith("${");
  }

  static void checkPattern(String key, String pattern) {
    try {
      Pattern.compile(pattern == null ? "" : pattern);
    } catch (PatternSyntaxException e) {
      throw must(key, pattern, "a regular expression: " + e.getDescription());
    }
  }
}
