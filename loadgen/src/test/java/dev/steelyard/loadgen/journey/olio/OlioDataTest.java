// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.olio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

class OlioDataTest {
  @Test
  void namesAreOneToOneAndHaveTheSheetsLengths() {
    Set<String> names = new HashSet<>();
    int[] lengths = new int[12];
    int count = 200_000;
    for (int id = 1; id <= count; id++) {
      String name = OlioData.name(id);
      assertTrue(name.matches("[a-z][0-9a-z]{6}[a-z]{0,4}"), name);
      assertTrue(names.add(name), name);
      lengths[name.length()]++;
    }
    double[] percent = {13, 17, 25, 24, 21};
    for (int i = 0; i < percent.length; i++) {
      assertEquals(percent[i], 100.0 * lengths[7 + i] / count, 0.5, "length " + (7 + i));
    }
  }

  /** Section 2.3 of the sheet. */
  @Test
  void numbersOfPersonsAndTagsAreTheSheets() {
    int[][] rows = {{1, 2500, 622}, {25, 2500, 622}, {100, 10_000, 2311}, {1000, 100_000, 5000}};
    for (int[] row : rows) {
      assertEquals(row[1], OlioData.persons(row[0]));
      assertEquals(row[2], OlioData.tags(row[0]));
    }
  }

  @Test
  void uploadsAreWhatTheyAreCalled() throws IOException {
    Uploads uploads = Uploads.drawn();
    assertPicture(uploads.person(), 1050, 1124, 671_520);
    assertPicture(uploads.event(), 1690, 1268, 669_128);
    String document = new String(uploads.document(), StandardCharsets.US_ASCII);
    assertEquals(129_617, document.length());
    assertTrue(document.startsWith("%PDF-1.4\n") && document.endsWith("%%EOF\n"));
  }

  private static void assertPicture(byte[] bytes, int width, int height, int size)
      throws IOException {
    assertEquals(size, bytes.length);
    BufferedImage read = ImageIO.read(new ByteArrayInputStream(bytes));
    assertEquals(width, read.getWidth());
    assertEquals(height, read.getHeight());
    int comments = 0;
    for (int i = bytes.length - 3; i > 0 && bytes[i] == ' '; i--) {
      comments++;
    }
    assertTrue(comments < 0.1 * size, "much of it is no picture: " + comments);
  }
}
