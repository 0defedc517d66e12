// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.olio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.olio.population.Scale;
import dev.steelyard.olio.population.Zones;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

class OlioDataTest {
  /** Whatever the injector runs on, servers on Java 17 have to know what it sends. */
  @Test
  void timeZonesOfFormsAreTheFixedOnes() {
    SplittableRandom random = new SplittableRandom(1);
    Set<String> drawn = new HashSet<>();
    LocalDate today = LocalDate.of(2026, 6, 15);
    for (int i = 0; i < 20_000; i++) {
      drawn.add(OlioData.person(random, 1).get("timezone"));
      drawn.add(OlioData.event(random, today, new Scale(25), "x").get("timezone"));
    }
    assertEquals(Set.copyOf(Zones.NAMES), drawn);
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
    ByteBuffer file = ByteBuffer.wrap(bytes);
    int comments = 0;
    // Segments follow the first marker, each with its length, until the scan begins.
    for (int at = 2; (bytes[at + 1] & 0xff) != 0xda; ) {
      int length = Short.toUnsignedInt(file.getShort(at + 2));
      if ((bytes[at + 1] & 0xff) == 0xfe) {
        comments += length;
      }
      at += 2 + length;
    }
    assertTrue(comments < 0.1 * size, "much of it is no picture: " + comments);
  }
}
