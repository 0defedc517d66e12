// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.population;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * The static files that a browser of the original fetched with each page: libraries, styles and
 * icons of 2008. Ours have the same sizes and hold nothing, except for the two stars: what the
 * application's own pages need is beside them, small, and no part of the load.
 *
 * <p>The build writes them into the application.
 */
public final class Statics {

  /**
   * One file.
   *
   * @param path below the context root
   * @param bytes its size
   */
  public record Resource(String path, int bytes) {}

  /** The files of every page. */
  public static final List<Resource> COMMON =
      joined(
          Stream.of(
              files("css/common", "css", 2072, 10256, 5431, 4087, 7820),
              files(
                  "images/common",
                  "gif",
                  1151,
                  1005,
                  947,
                  295,
                  157,
                  156,
                  157,
                  157,
                  365,
                  1466,
                  1468,
                  3745),
              files("resources/common", "json", 939),
              files(
                  "js/common",
                  "js",
                  23466,
                  1828,
                  4885,
                  32290,
                  9243,
                  42139,
                  55613,
                  29686,
                  30513,
                  68799,
                  11442)));

  /** Besides, those of the home page; the first is one of most pages. */
  public static final List<Resource> HOME = files("js/home", "js", 1109, 31004, 38630, 71748);

  private static final List<Resource> WIDGET = HOME.subList(0, 1);

  private static final List<Resource> EVENT_SCRIPTS =
      files("js/event", "js", 3183, 24697, 14337, 12256, 9241, 2921, 2915);

  /** Besides, those of an event's page. */
  public static final List<Resource> EVENT = event(EVENT_SCRIPTS.subList(5, 7));

  /** Instead, where scripts fetch attendees and comments; 10,106 bytes for the last two scripts. */
  public static final List<Resource> EVENT_JMAKI =
      event(files("js/event-jmaki", "js", 2921, 2915, 2270, 2000));

  /** Besides, those of a page of tagged events. */
  public static final List<Resource> TAG = WIDGET;

  /** Besides, those of a person's page. */
  public static final List<Resource> PERSON = WIDGET;

  /** Besides, those of the forms for persons and events. */
  public static final List<Resource> FORM = joined(Stream.of(files("js/form", "js", 9123), WIDGET));

  private Statics() {}

  private static List<Resource> files(String name, String type, int... sizes) {
    List<Resource> files = new ArrayList<>();
    for (int size : sizes) {
      files.add(new Resource("/%s-%d.%s".formatted(name, files.size() + 1, type), size));
    }
    return List.copyOf(files);
  }

  private static List<Resource> event(List<Resource> lastScripts) {
    return joined(
        Stream.of(
            EVENT_SCRIPTS.subList(0, 1),
            WIDGET,
            // Listed for all pages and, as in the original's driver, once more for this one.
            COMMON.stream().filter(each -> each.bytes() == 32290).toList(),
            EVENT_SCRIPTS.subList(1, 5),
            lastScripts,
            List.of(
                new Resource("/images/star-1.svg", 449), new Resource("/images/star-2.svg", 407))));
  }

  private static List<Resource> joined(Stream<List<Resource>> lists) {
    return lists.flatMap(List::stream).toList();
  }

  /** Each file once. */
  public static List<Resource> all() {
    return Stream.of(COMMON, HOME, EVENT, EVENT_JMAKI, FORM)
        .flatMap(List::stream)
        .distinct()
        .toList();
  }

  /** The content of a file. */
  public static byte[] content(Resource file) {
    String type = file.path().substring(file.path().lastIndexOf('.') + 1);
    Draws draws = Draws.of(file.bytes(), file.path().length(), 0);
    if (type.equals("gif")) {
      byte[] noise = new byte[file.bytes()];
      for (int i = 0; i < noise.length; i++) {
        noise[i] = (byte) draws.below(256);
      }
      return noise;
    }
    String begin =
        switch (type) {
          case "json" -> "{\"filler\": \"";
          case "svg" -> star(file.path().contains("-1"));
          default -> "/* ";
        };
    String end =
        switch (type) {
          case "json" -> "\"}";
          case "svg" -> " --></svg>";
          default -> " */";
        };
    int length = file.bytes() - begin.length() - end.length();
    return (begin + RandomText.words(draws, length, length) + end)
        .getBytes(StandardCharsets.US_ASCII);
  }

  private static String star(boolean on) {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\"><path fill=\""
        + (on ? "#e0a100" : "#d5d9de")
        + "\" d=\"M12 2l3 7 7 .6-5.300 4.700 1.600 7.200L12 17.700 5.700 21.500l1.600-7.200L2 9.600 9 9z\"/><!-- ";
  }

  /**
   * Writes all files below a folder.
   *
   * @param folder one: that of the context root
   */
  public static void main(String[] folder) throws IOException {
    for (Resource file : all()) {
      Path path = Path.of(folder[0] + file.path());
      Files.createDirectories(path.getParent());
      byte[] content = content(file);
      // An unchanged file keeps its date, and the package with it.
      if (!Files.exists(path) || !Arrays.equals(Files.readAllBytes(path), content)) {
        Files.write(path, content);
      }
    }
  }
}
