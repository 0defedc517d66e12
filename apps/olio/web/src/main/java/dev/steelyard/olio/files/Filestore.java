// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.files;

import dev.steelyard.olio.Settings;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Files by their names, below one folder. */
@ApplicationScoped
public class Filestore {

  private Path folder;

  /** For the container. */
  protected Filestore() {}

  @Inject
  Filestore(Settings settings) {
    this(settings.filestore());
  }

  Filestore(Path folder) {
    this.folder = folder;
  }

  /** Where a file is, or would be. */
  public Path path(StoredName name) {
    return folder.resolve(name.path());
  }

  /** Whether files can be written to it now. */
  public boolean writable() {
    try {
      return Files.isWritable(Files.createDirectories(folder));
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Stores files, or replaces them: each at once, and only when all of them are written. Until then
   * nobody, in whatever JVM, finds anything but what was there before.
   *
   * @throws IOException if one cannot be written; nothing of them is left then, and what they were
   *     to replace is there still
   */
  public void store(Map<StoredName, byte[]> files) throws IOException {
    Map<Path, Path> parts = new LinkedHashMap<>();
    List<Path> added = new ArrayList<>();
    boolean done = false;
    try {
      for (Map.Entry<StoredName, byte[]> file : files.entrySet()) {
        Path path = path(file.getKey());
        Files.createDirectories(path.getParent());
        // In the same folder: within one file system alone a file is moved at once.
        Path part = path.resolveSibling(path.getFileName() + "." + UUID.randomUUID() + ".part");
        parts.put(part, path);
        write(part, file.getValue());
      }
      for (Map.Entry<Path, Path> each : parts.entrySet()) {
        if (!Files.exists(each.getValue())) {
          added.add(each.getValue());
        }
        Files.move(each.getKey(), each.getValue(), StandardCopyOption.ATOMIC_MOVE);
      }
      done = true;
    } finally {
      if (!done) {
        for (Path path : parts.keySet()) {
          Files.deleteIfExists(path);
        }
        for (Path path : added) {
          Files.deleteIfExists(path);
        }
      }
    }
  }

  /** Writes a new file. */
  void write(Path path, byte[] content) throws IOException {
    Files.write(path, content, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  /** Removes a file if it is there and was uploaded; loaded ones stay for the next run. */
  public void remove(String text) throws IOException {
    var name = StoredName.parse(text == null ? "" : text);
    if (name.isPresent() && name.get().uploaded()) {
      Files.deleteIfExists(path(name.get()));
    }
  }
}
