// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import dev.steelyard.loadgen.SettingsException;
import dev.steelyard.loadgen.client.EmptySegments;
import dev.steelyard.loadgen.journey.WrongAnswer;
import dev.steelyard.loadgen.journey.declared.DeclaredJourney;
import dev.steelyard.loadgen.journey.declared.DeclaredJourneys;
import dev.steelyard.loadgen.journey.declared.JourneySpec;
import dev.steelyard.loadgen.journey.declared.Template;
import dev.steelyard.loadgen.journey.declared.Template.Place;
import io.gatling.javaapi.core.Session;
import java.util.Locale;
import java.util.function.Function;

/** Texts of a declared journey as Gatling takes them. */
record DeclaredTexts(DeclaredJourneys journeys) {
  /**
   * A text as Gatling takes it.
   *
   * @param source as it was declared
   * @param constant null if it is not always the same, or if Gatling would read it as an expression
   */
  record Text(String source, String constant, Function<Session, String> function) {
    /** Hands over the constant or, if there is none, the function. */
    <T> T into(Function<String, T> ofConstant, Function<Function<Session, String>, T> ofFunction) {
      return constant != null ? ofConstant.apply(constant) : ofFunction.apply(function);
    }

    String of(Session session) {
      return constant != null ? constant : function.apply(session);
    }
  }

  /** The address of a path at a server. */
  Text url(String baseUrl, String path) {
    if (!JourneySpec.isFollowed(path)) {
      Text url = text(path, Place.URL, baseUrl);
      String constant = url.constant() == null ? null : EmptySegments.named(url.constant());
      return new Text(path, constant, session -> EmptySegments.named(url.of(session)));
    }
    Template template = journeys.template(path, Place.URL);
    return new Text(
        path, null, session -> EmptySegments.named(journey(session).address(template, baseUrl)));
  }

  /** A text whose values are put in as they are. */
  Text text(String text) {
    return text(text, Place.TEXT, "");
  }

  Text text(String text, Place place, String before) {
    Template template = journeys.template(text, place);
    String constant = template.constant();
    if (constant == null) {
      return before.isEmpty()
          ? new Text(text, null, session -> journey(session).text(template))
          : new Text(text, null, session -> before + journey(session).text(template));
    }
    String whole = before + constant;
    boolean expression = constant.contains("#{") || constant.contains("${");
    return new Text(text, expression ? null : whole, session -> whole);
  }

  /**
   * The value of a header, which is one line.
   *
   * @throws SettingsException if it never is
   */
  Text header(String name, String value) {
    Text text = text(value);
    if (text.constant() != null && hasLineEnd(text.constant())) {
      throw new SettingsException("headers." + name, "has a line end: write it in one line");
    }
    return new Text(
        value,
        text.constant(),
        session -> {
          String line = text.of(session);
          if (hasLineEnd(line)) {
            throw new WrongAnswer(
                "the value of the header %s has a line end, and was not sent".formatted(name));
          }
          return line;
        });
  }

  private static boolean hasLineEnd(String text) {
    return text.indexOf('\r') >= 0 || text.indexOf('\n') >= 0;
  }

  /** A body or message: encoded as its type or, without one, its beginning says. */
  Text body(String text, String type) {
    return text(text, place(text, type), "");
  }

  private static Place place(String text, String type) {
    if (type == null) {
      String beginning = text.stripLeading();
      if (beginning.startsWith("<?xml")) {
        return Place.XML;
      }
      return beginning.startsWith("{") || beginning.startsWith("[") ? Place.JSON : Place.TEXT;
    }
    String media = type.toLowerCase(Locale.ROOT).replaceFirst(";.*", "").strip();
    if (media.equals("application/x-www-form-urlencoded")) {
      return Place.FORM;
    }
    if (media.matches("(text|application)/xml|.*\\+xml")) {
      return Place.XML;
    }
    return media.contains("json") ? Place.JSON : Place.TEXT;
  }

  static DeclaredJourney journey(Session session) {
    return (DeclaredJourney) CurrentUser.of(session).journey();
  }
}
