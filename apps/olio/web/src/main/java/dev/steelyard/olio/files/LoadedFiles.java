// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.files;

import dev.steelyard.olio.Settings;
import dev.steelyard.olio.population.FileKind;
import dev.steelyard.olio.population.FileSizes;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The files of loaded rows: all of one kind have the same content. A filestore that holds them
 * already is kept; what was uploaded is removed from it.
 */
@ApplicationScoped
public class LoadedFiles {

  private static final int THREADS = 16;
  private static final int FILES_AT_ONCE = 500;
  private static final String MARKER = "loaded.txt";

  /**
   * The folder of the millions 0: rows below a million are loaded, those from ten on are not.
   * Persons who are loaded may upload another picture.
   */
  private static final String LOADED = "000";

  private Path folder;
  private int persons;
  private int events;
  private FileSizes sizes;
  private boolean hardLinks;

  /** For the container. */
  protected LoadedFiles() {}

  @Inject
  LoadedFiles(Settings settings) {
    this(
        settings.filestore(),
        settings.scale().persons(),
        settings.scale().events(),
        settings.fileSizes(),
        settings.hardLinks());
  }

  LoadedFiles(Path folder, int persons, int events, FileSizes sizes, boolean hardLinks) {
    this.folder = folder;
    this.persons = persons;
    this.events = events;
    this.sizes = sizes;
    this.hardLinks = hardLinks;
  }

  /**
   * Makes the filestore what it is after a load.
   *
   * @param progress is told lines for people
   */
  public synchronized void run(Consumer<String> progress) {
    String wanted =
        "persons %d, events %d, %s, %s\n"
            .formatted(persons, events, sizes, hardLinks ? "hard links" : "copies");
    Path marker = folder.resolve(MARKER);
    try {
      Files.createDirectories(folder);
      if (Files.exists(marker) && Files.readString(marker).equals(wanted)) {
        progress.accept("Filestore: removing uploads");
        removeUploads();
      } else {
        Files.deleteIfExists(marker);
        for (FileKind kind : FileKind.values()) {
          delete(folder.resolve(kind.folder()));
        }
        for (FileKind kind : FileKind.values()) {
          write(kind, progress);
        }
        Files.writeString(marker, wanted);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void removeUploads() throws IOException {
    for (FileKind kind : FileKind.values()) {
      for (Path thousand : children(folder.resolve(kind.folder()))) {
        for (Path million : children(thousand)) {
          if (!million.getFileName().toString().equals(LOADED)) {
            delete(million);
          } else {
            removeUploads(million);
          }
        }
      }
    }
  }

  /** Pictures of loaded rows, too, and what a server that ended had not written to its end. */
  private static void removeUploads(Path loaded) throws IOException {
    for (Path file : children(loaded)) {
      if (StoredName.parse(file.getFileName().toString())
          .filter(name -> !name.uploaded())
          .isEmpty()) {
        Files.delete(file);
      }
    }
  }

  private static List<Path> children(Path folder) throws IOException {
    try (Stream<Path> children = Files.list(folder)) {
      return children.toList();
    }
  }

  private static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> paths = Files.walk(folder)) {
        for (Path path : (Iterable<Path>) paths.sorted(Comparator.reverseOrder())::iterator) {
          Files.delete(path);
        }
      }
    }
  }

  private void write(FileKind kind, Consumer<String> progress) throws IOException {
    int files = kind.letter() == 'p' ? persons : events;
    progress.accept("Filestore: %d files in %s".formatted(files, kind.folder()));
    byte[] content = kind.content(sizes);
    Path first = path(kind, 1);
    Files.createDirectories(first.getParent());
    Files.write(first, content);
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int from = 2; from <= files; from += FILES_AT_ONCE) {
        int begin = from;
        int end = Math.min(files, from + FILES_AT_ONCE - 1);
        running.add(
            threads.submit(
                () -> {
                  for (int id = begin; id <= end; id++) {
                    write(path(kind, id), first, content);
                  }
                  return null;
                }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    } catch (ExecutionException e) {
      throw new IOException("The filestore cannot be filled: " + e.getCause().getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("The load was interrupted", e);
    } finally {
      threads.shutdownNow();
    }
  }

  private void write(Path path, Path first, byte[] content) throws IOException {
    Files.createDirectories(path.getParent());
    if (hardLinks) {
      Files.createLink(path, first);
    } else {
      Files.write(path, content);
    }
  }

  private Path path(FileKind kind, int id) {
    String extension = kind.picture() ? "jpg" : "pdf";
    return folder.resolve(new StoredName(kind, id, false, extension).path());
  }
}
