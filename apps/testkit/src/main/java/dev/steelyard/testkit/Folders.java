// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** What tests do with folders. */
public final class Folders {

  private Folders() {}

  /**
   * Unpacks an application's package into a folder.
   *
   * @param archive a zip file that holds {@code wlp}
   * @return the folder {@code wlp}, which servers only read
   */
  public static Path unpack(Path archive, Path folder) throws IOException {
    try (FileSystem zip = FileSystems.newFileSystem(archive);
        Stream<Path> paths = Files.walk(zip.getPath("/wlp"))) {
      for (Path path : (Iterable<Path>) paths::iterator) {
        Path target = folder.resolve(path.toString().substring(1).replace('/', File.separatorChar));
        if (Files.isDirectory(path)) {
          Files.createDirectories(target);
        } else {
          Files.copy(path, target);
        }
      }
    }
    return folder.resolve("wlp");
  }

  /** Deletes a folder with all that is in it. */
  public static void delete(Path folder) throws IOException {
    try (Stream<Path> paths = Files.walk(folder)) {
      for (Path path : (Iterable<Path>) paths.sorted(Comparator.reverseOrder())::iterator) {
        Files.deleteIfExists(path);
      }
    }
  }
}
