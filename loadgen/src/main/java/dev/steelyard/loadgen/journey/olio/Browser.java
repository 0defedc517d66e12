// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.olio;

import dev.steelyard.loadgen.journey.olio.Fetch.Kind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The emulated browser's cache. A browser that has been here before ("warm": six in ten) has every
 * static file, and asks each time whether it has changed; a new one fetches each once. Pictures of
 * persons and events are fetched once by both.
 */
final class Browser {
  private static final double WARM = 0.6;

  /** Static files of a home page, below the context root, in the order of requests; so below. */
  static final List<String> HOME = listed(numbered("js/home-%d.js", 4));

  /** Of a page of tagged events. */
  static final List<String> TAG = listed(List.of("js/home-1.js"));

  /** Of a page of an event. */
  static final List<String> EVENT =
      listed(
          List.of(
              "js/event-1.js",
              "js/home-1.js",
              "js/common-4.js",
              "js/event-2.js",
              "js/event-3.js",
              "js/event-4.js",
              "js/event-5.js",
              "js/event-6.js",
              "js/event-7.js",
              "images/star-1.svg",
              "images/star-2.svg"));

  /** Of a page of a person. */
  static final List<String> PERSON = TAG;

  /** Of a form. */
  static final List<String> FORM = listed(List.of("js/form-1.js", "js/home-1.js"));

  private final SplittableRandom random;
  private final Set<String> statics = new HashSet<>();
  private final Set<String> images = new HashSet<>();
  private boolean warm;

  Browser(SplittableRandom random) {
    this.random = random;
    restart();
  }

  /** Forgets everything, as after a log-out. */
  void restart() {
    statics.clear();
    images.clear();
    warm = random.nextDouble() < WARM;
  }

  /** What it asks for of the static files of a page. */
  List<Fetch> statics(List<String> files) {
    List<Fetch> wanted = new ArrayList<>();
    for (String name : files) {
      String path = OlioJourney.ROOT + "/" + name;
      if (warm) {
        wanted.add(Fetch.of(Kind.UNCHANGED, path));
      } else if (statics.add(name)) {
        wanted.add(Fetch.of(Kind.STATIC, path));
      }
    }
    return wanted;
  }

  /** Of these pictures, those that it has not fetched. */
  List<String> unknown(Collection<String> paths) {
    return paths.stream().filter(images::add).toList();
  }

  private static List<String> listed(List<String> own) {
    return Stream.of(
            numbered("css/common-%d.css", 5),
            numbered("images/common-%d.gif", 12),
            List.of("resources/common-1.json"),
            numbered("js/common-%d.js", 11),
            own)
        .flatMap(List::stream)
        .toList();
  }

  private static List<String> numbered(String name, int count) {
    return IntStream.rangeClosed(1, count).mapToObj(name::formatted).toList();
  }
}
