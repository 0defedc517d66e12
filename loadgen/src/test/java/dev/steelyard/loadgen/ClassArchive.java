// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.steelyard.testkit.Folders;
import dev.steelyard.testkit.Waiting;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * The classes of an injector as the JVM's own archive, made once for all injectors of a test run:
 * reading and verifying Gatling is more than half of what a start costs.
 */
final class ClassArchive {
  /** Options of a JVM that runs an injector, class path included. */
  static final List<String> OPTIONS = make();

  private ClassArchive() {}

  private static List<String> make() {
    try {
      Path folder = Files.createTempDirectory("injector-classes");
      Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder), "class-archive"));
      List<String> classPath =
          List.of(System.getProperty("java.class.path").split(File.pathSeparator, -1));
      // An archive holds classes of JARs alone, and their class path has to come first.
      List<String> jars = new ArrayList<>();
      List<String> folders = new ArrayList<>();
      for (String entry : classPath) {
        if (entry.endsWith(".jar")) {
          jars.add(entry);
        } else if (entry.endsWith("test-classes")) {
          folders.add(entry);
        } else if (Files.isDirectory(Path.of(entry))) {
          jars.add(packed(Path.of(entry), folder.resolve("classes" + jars.size() + ".jar")));
        }
      }
      Path archive = folder.resolve("classes.jsa");
      write(archive, String.join(File.pathSeparator, jars), folder);
      jars.addAll(folders);
      List<String> options = new ArrayList<>();
      if (Files.exists(archive)) {
        options.add("-XX:SharedArchiveFile=" + archive);
      }
      options.addAll(List.of("-cp", String.join(File.pathSeparator, jars)));
      return List.copyOf(options);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** A JVM that cannot write archives leaves none, and injectors start without one. */
  private static void write(Path archive, String classPath, Path folder)
      throws IOException, InterruptedException {
    try (PingServer server = new PingServer(PingServer.PONG)) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      settings.put("model", "probe").remove("users");
      Path file = folder.resolve("settings.json");
      Files.writeString(file, settings.toString());
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(Injector.OPTIONS);
      command.add("-XX:ArchiveClassesAtExit=" + archive);
      command.add("-Djava.io.tmpdir=" + folder);
      command.addAll(List.of("-cp", classPath, Main.class.getName(), file.toString()));
      File log = folder.resolve("log.txt").toFile();
      Process process =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log).start();
      int exit = Waiting.awaitEnd(process);
      if (exit != 0) {
        throw new IllegalStateException(Files.readString(log.toPath()));
      }
    }
  }

  private static String packed(Path classes, Path jar) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(classes)) {
      files = all.filter(Files::isRegularFile).toList();
    }
    try (OutputStream bytes = Files.newOutputStream(jar);
        ZipOutputStream entries = new ZipOutputStream(bytes)) {
      for (Path file : files) {
        String name = classes.relativize(file).toString();
        entries.putNextEntry(new ZipEntry(name.replace(File.separatorChar, '/')));
        Files.copy(file, entries);
      }
    }
    return jar.toString();
  }

  private static void delete(Path folder) {
    try {
      Folders.delete(folder);
    } catch (IOException e) {
      System.err.println("Not deleted: " + folder + " " + Arrays.toString(e.getStackTrace()));
    }
  }
}
