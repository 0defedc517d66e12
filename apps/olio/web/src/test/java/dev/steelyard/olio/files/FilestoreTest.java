// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.files;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.olio.population.FileKind;
import dev.steelyard.olio.population.FileSizes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class FilestoreTest {

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "p12345.jpg, persons/345/000/p12345.jpg",
    "p7t.jpg, personThumbs/007/000/p7t.jpg",
    "E10000001.jpg, events/001/010/E10000001.jpg",
    "E10000001T.jpg, eventThumbs/001/010/E10000001T.jpg",
    "e3l.pdf, eventLits/003/000/e3l.pdf",
    "E10000002L.txt, eventLits/002/010/E10000002L.txt",
  })
  void namesTellWhereFilesAre(String name, String path) {
    StoredName found = StoredName.parse(name).orElseThrow();
    assertEquals(name, found.text());
    assertEquals(path, found.path());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", ".", "..", "../p1.jpg", "p1.jpg/..", "p1.jpg/../../x", "..%2fp1.jpg", "/etc/passwd",
            "p0.jpg", "p01.jpg",
        "p1l.pdf", "e1l.jpg", "e1.pdf", "p1T.jpg", "E1t.jpg", "x1.jpg", "p.jpg", "p1.html",
            "p1.jpg\u0000", "p1.jpg\n",
        "p99999999999.jpg", "loaded.txt",
      })
  void nothingElseIsAName(String text) {
    assertTrue(StoredName.parse(text).isEmpty());
  }

  @Test
  void whatIsStoredIsThereAndWhatIsLoadedIsNeverRemoved() throws IOException {
    Filestore filestore = new Filestore(folder.resolve("new"));
    assertTrue(filestore.writable());
    StoredName upload = StoredName.upload(FileKind.EVENT, 10_000_001, "jpg");
    filestore.store(Map.of(upload, new byte[] {1, 2}));
    filestore.store(Map.of(upload, new byte[] {3}));
    assertArrayEquals(new byte[] {3}, Files.readAllBytes(filestore.path(upload)));
    filestore.remove(upload.text());
    filestore.remove(null);
    assertFalse(Files.exists(filestore.path(upload)));
    StoredName loaded = StoredName.parse("e1.jpg").orElseThrow();
    filestore.store(Map.of(loaded, new byte[] {1}));
    filestore.remove("e1.jpg");
    assertTrue(Files.exists(filestore.path(loaded)));
  }

  /** A filestore on which there is room for so many bytes. */
  private static final class Small extends Filestore {

    private int room;

    Small(Path folder, int room) {
      super(folder);
      this.room = room;
    }

    @Override
    void write(Path path, byte[] content) throws IOException {
      super.write(path, Arrays.copyOf(content, Math.min(room, content.length)));
      room -= content.length;
      if (room < 0) {
        throw new IOException("No space left on device");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 150, 250})
  void aFullFilestoreKeepsWhatWasToBeReplacedAndNothingElse(int room) throws IOException {
    StoredName image = StoredName.upload(FileKind.EVENT, 10_000_001, "jpg");
    StoredName thumbnail = StoredName.upload(FileKind.EVENT_THUMBNAIL, 10_000_001, "jpg");
    StoredName document = StoredName.upload(FileKind.LITERATURE, 10_000_001, "pdf");
    Filestore filestore = new Filestore(folder);
    filestore.store(Map.of(image, new byte[] {1}, thumbnail, new byte[] {2}));
    Map<StoredName, byte[]> changed = new LinkedHashMap<>();
    for (StoredName each : List.of(image, thumbnail, document)) {
      changed.put(each, new byte[100]);
    }
    List<Path> before = files(folder);
    Filestore small = new Small(folder, room);
    IOException refused = assertThrows(IOException.class, () -> small.store(changed));
    assertTrue(refused.getMessage().contains("No space left"), refused.getMessage());
    assertArrayEquals(new byte[] {1}, Files.readAllBytes(filestore.path(image)));
    assertArrayEquals(new byte[] {2}, Files.readAllBytes(filestore.path(thumbnail)));
    assertEquals(before, files(folder));
    filestore.store(changed);
    assertArrayEquals(new byte[100], Files.readAllBytes(filestore.path(image)));
    assertEquals(before.size() + 1, files(folder).size());
  }

  @Test
  void ofFilesThatCannotAllBeMovedToTheirPlacesNoneIsAdded() throws IOException {
    StoredName image = StoredName.upload(FileKind.PERSON, 10_000_001, "jpg");
    StoredName thumbnail = StoredName.upload(FileKind.PERSON_THUMBNAIL, 10_000_001, "jpg");
    Filestore filestore = new Filestore(folder);
    Files.createDirectories(filestore.path(thumbnail));
    Map<StoredName, byte[]> files = new LinkedHashMap<>();
    files.put(image, new byte[1]);
    files.put(thumbnail, new byte[1]);
    assertThrows(IOException.class, () -> filestore.store(files));
    assertEquals(List.of(), files(folder));
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> paths = Files.walk(folder)) {
      return paths.filter(Files::isRegularFile).map(folder::relativize).sorted().toList();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aLoadMakesAllFilesAndAnotherOneRemovesUploads(boolean hardLinks) throws IOException {
    LoadedFiles loaded = new LoadedFiles(folder, 40, 30, FileSizes.SMALL, hardLinks);
    loaded.run(progress -> {});
    List<Path> before = files(folder);
    // The marker is one more.
    assertEquals(2 * 40 + 3 * 30 + 1, before.size());
    for (FileKind kind : FileKind.values()) {
      Path first = folder.resolve(StoredName.parse(kind.loadedName(1)).orElseThrow().path());
      Path last = folder.resolve(StoredName.parse(kind.loadedName(30)).orElseThrow().path());
      assertEquals(kind.bytes(FileSizes.SMALL), Files.size(first));
      assertEquals(-1, Files.mismatch(first, last));
      assertEquals(hardLinks, Files.isSameFile(first, last));
    }
    Filestore filestore = new Filestore(folder);
    StoredName ofLoaded = StoredName.upload(FileKind.PERSON, 5, "jpg");
    filestore.store(
        Map.of(
            StoredName.upload(FileKind.PERSON, 10_000_050, "jpg"),
            new byte[9],
            StoredName.upload(FileKind.LITERATURE, 10_000_051, "doc"),
            new byte[9],
            ofLoaded,
            new byte[9]));
    assertTrue(filestore.path(ofLoaded).endsWith("persons/005/000/P5.jpg"));
    Files.createFile(filestore.path(ofLoaded).resolveSibling("P5.jpg.x.part"));
    loaded.run(progress -> {});
    assertEquals(before, files(folder));
    // Other sizes are another filestore.
    Files.writeString(folder.resolve("loaded.txt"), "something else");
    Files.delete(folder.resolve(StoredName.parse("e30.jpg").orElseThrow().path()));
    loaded.run(progress -> {});
    assertEquals(before, files(folder));
  }
}
