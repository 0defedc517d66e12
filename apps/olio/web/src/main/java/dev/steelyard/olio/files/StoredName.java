// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.files;

import dev.steelyard.olio.population.FileKind;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A file's name: {@code p12.jpg}, {@code e12t.jpg}, {@code E10000001L.pdf}. It tells the kind, the
 * number of the row, and by capitals whether the file was uploaded. Nothing else is a name, so that
 * no name leads out of the filestore.
 *
 * @param kind of the file
 * @param id of the person or the event
 * @param uploaded and not loaded
 * @param extension such as {@code jpg}
 */
public record StoredName(FileKind kind, int id, boolean uploaded, String extension) {

  private static final Pattern NAME =
      Pattern.compile("([pPeE])([1-9][0-9]{0,8})([tTlL]?)\\.(jpg|pdf|doc|docx|txt)");

  /** The name of a file that is uploaded. */
  public static StoredName upload(FileKind kind, int id, String extension) {
    return new StoredName(kind, id, true, extension);
  }

  /** What a text names, if it is a name. */
  public static Optional<StoredName> parse(String text) {
    Matcher name = NAME.matcher(text);
    if (!name.matches()) {
      return Optional.empty();
    }
    char letter = name.group(1).charAt(0);
    boolean uploaded = Character.isUpperCase(letter);
    String suffix = name.group(3);
    for (FileKind kind : FileKind.values()) {
      StoredName found =
          new StoredName(kind, Integer.parseInt(name.group(2)), uploaded, name.group(4));
      boolean kindOf =
          kind.letter() == Character.toLowerCase(letter)
              && kind.suffix().equals(suffix.toLowerCase(Locale.ROOT));
      if (kindOf && kind.picture() == found.extension().equals("jpg")) {
        return found.text().equals(text) ? Optional.of(found) : Optional.empty();
      }
    }
    return Optional.empty();
  }

  /** The name. */
  public String text() {
    String name = kind.letter() + Integer.toString(id) + kind.suffix();
    return (uploaded ? name.toUpperCase(Locale.ROOT) : name) + "." + extension;
  }

  /** The path below the filestore's folder: no folder becomes large. */
  public String path() {
    return "%s/%03d/%03d/%s".formatted(kind.folder(), id % 1000, id / 1_000_000 % 1000, text());
  }

  /** The media type. */
  public String type() {
    return switch (extension) {
      case "jpg" -> "image/jpeg";
      case "pdf" -> "application/pdf";
      case "txt" -> "text/plain;charset=UTF-8";
      default -> "application/msword";
    };
  }
}
