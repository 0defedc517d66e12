// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.files;

import dev.steelyard.olio.Settings;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

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
   * Stores a file, or replaces it.
   *
   * @throws IOException if it cannot be written; nothing of it is left then
   */
  public void store(StoredName name, byte[] content) throws IOException {
    Path path = path(name);
    Files.createDirectories(path.getParent());
    boolean done = false;
    try (OutputStream out = Files.newOutputStream(path)) {
      out.write(content);
      done = true;
    } finally {
      if (!done) {
        Files.deleteIfExists(path);
      }
    }
  }

  /** Removes a file if it is there and was uploaded; loaded ones stay for the next run. */
  public void remove(String text) throws IOException {
    var name = StoredName.parse(text == null ? "" : text);
    if (name.isPresent() && name.get().uploaded()) {
      Files.deleteIfExists(path(name.get()));
    }
  }
}
