// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.olio;

import dev.steelyard.loadgen.journey.olio.Fetch.Kind;
import dev.steelyard.olio.population.Statics;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * The emulated browser's cache. A browser that has been here before ("warm": six in ten) has every
 * static file, and asks each time whether it has changed; a new one fetches each once. Pictures of
 * persons and events are fetched once by both.
 */
final class Browser {
  private static final double WARM = 0.6;

  /** Paths of a home page's static files in the order of requests; so below. */
  static final List<String> HOME = withCommon(Statics.HOME);

  /** Of a page of tagged events. */
  static final List<String> TAG = withCommon(Statics.TAG);

  /** Of a page of an event. */
  static final List<String> EVENT = withCommon(Statics.EVENT);

  /** Of a page of a person. */
  static final List<String> PERSON = withCommon(Statics.PERSON);

  /** Of a form. */
  static final List<String> FORM = withCommon(Statics.FORM);

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
    for (String path : files) {
      if (warm) {
        wanted.add(Fetch.of(Kind.UNCHANGED, path));
      } else if (statics.add(path)) {
        wanted.add(Fetch.of(Kind.STATIC, path));
      }
    }
    return wanted;
  }

  /** Of these pictures, those that it has not fetched. */
  List<String> unknown(Collection<String> paths) {
    return paths.stream().filter(images::add).toList();
  }

  private static List<String> withCommon(List<Statics.Resource> own) {
    return Stream.concat(Statics.COMMON.stream(), own.stream())
        .map(file -> OlioJourney.ROOT + file.path())
        .toList();
  }
}
