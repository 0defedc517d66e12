// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.population;

/**
 * The kinds of files that persons and events have, with the folder of each and the sizes of the
 * files that are loaded and uploaded.
 */
public enum FileKind {
  PERSON('p', "", "persons", 1050, 1124, 671_520, 12_000),
  PERSON_THUMBNAIL('p', "t", "personThumbs", 105, 112, 5_758, 5_758),
  EVENT('e', "", "events", 1690, 1268, 669_128, 16_000),
  EVENT_THUMBNAIL('e', "t", "eventThumbs", 100, 75, 5_895, 5_895),
  LITERATURE('e', "l", "eventLits", 0, 0, 129_617, 4_000);

  /** A picture of the small profile has a fifth of the width and height. */
  private static final int SMALLER = 5;

  private final char letter;
  private final String suffix;
  private final String folder;
  private final int width;
  private final int height;
  private final int bytes;
  private final int smallBytes;

  FileKind(
      char letter, String suffix, String folder, int width, int height, int bytes, int smallBytes) {
    this.letter = letter;
    this.suffix = suffix;
    this.folder = folder;
    this.width = width;
    this.height = height;
    this.bytes = bytes;
    this.smallBytes = smallBytes;
  }

  /** The first letter of the names of loaded files. */
  public char letter() {
    return letter;
  }

  /** What stands between number and dot in the names of loaded files. */
  public String suffix() {
    return suffix;
  }

  /** The folder below that of all files. */
  public String folder() {
    return folder;
  }

  /** Whether it is a picture, and not a document. */
  public boolean picture() {
    return width > 0;
  }

  /** Pixels across. */
  public int width(FileSizes sizes) {
    return smaller(sizes) ? width / SMALLER : width;
  }

  /** Pixels down. */
  public int height(FileSizes sizes) {
    return smaller(sizes) ? height / SMALLER : height;
  }

  /** Thumbnails are as they are: what a page loads of them is part of the rules of a run. */
  private boolean smaller(FileSizes sizes) {
    return sizes == FileSizes.SMALL && smallBytes != bytes;
  }

  /** Bytes of each file. */
  public int bytes(FileSizes sizes) {
    return sizes == FileSizes.SMALL ? smallBytes : bytes;
  }

  /** The name of the file that is loaded for a person or an event. */
  public String loadedName(int id) {
    return letter + Integer.toString(id) + suffix + (picture() ? ".jpg" : ".pdf");
  }

  /** The content of every file of this kind that is loaded, and of what is uploaded. */
  public byte[] content(FileSizes sizes) {
    return picture()
        ? Pictures.jpeg(width(sizes), height(sizes), bytes(sizes), letter)
        : Documents.pdf(bytes(sizes), sizes == FileSizes.SMALL ? 1 : 26);
  }
}
