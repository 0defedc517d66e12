// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.population;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class FilesTest {

  @ParameterizedTest
  @EnumSource(FileSizes.class)
  void filesAreWhatTheySayAndAsLarge(FileSizes sizes) throws IOException {
    for (FileKind kind : FileKind.values()) {
      byte[] content = kind.content(sizes);
      assertEquals(kind.bytes(sizes), content.length, kind.name());
      if (kind.picture()) {
        BufferedImage picture = ImageIO.read(new ByteArrayInputStream(content));
        assertEquals(kind.width(sizes), picture.getWidth());
        assertEquals(kind.height(sizes), picture.getHeight());
      } else {
        String text = new String(content, StandardCharsets.US_ASCII);
        assertTrue(text.startsWith("%PDF-1.4\n") && text.endsWith("%%EOF\n"));
        // The table of objects is where the file says, and so is the first object.
        int table = Integer.parseInt(text.replaceAll("(?s).*startxref\n(\\d+)\n.*", "$1"));
        assertTrue(text.startsWith("xref\n", table));
        int first =
            Integer.parseInt(text.substring(text.indexOf(" 65535 f \n", table)).substring(10, 20));
        assertTrue(text.startsWith("1 0 obj\n", first));
      }
    }
  }

  @Test
  void pagesHaveTheFilesOfTheOriginal() {
    assertEquals(29, Statics.COMMON.size());
    assertEquals(351_578, bytes(Statics.COMMON));
    assertEquals(4, Statics.HOME.size());
    assertEquals(142_491, bytes(Statics.HOME));
    assertEquals(11, Statics.EVENT.size());
    assertEquals(71_515 + 32_290, bytes(Statics.EVENT));
    assertEquals(13, Statics.EVENT_JMAKI.size());
    assertEquals(bytes(Statics.EVENT) - 5_836 + 10_106, bytes(Statics.EVENT_JMAKI));
    assertEquals(1_109, bytes(Statics.TAG));
    assertEquals(1_109, bytes(Statics.PERSON));
    assertEquals(10_232, bytes(Statics.FORM));
    Set<String> paths = new HashSet<>();
    for (Statics.Resource each : Statics.all()) {
      assertTrue(paths.add(each.path()), each.path());
      assertEquals(each.bytes(), Statics.content(each).length, each.path());
    }
  }

  private static int bytes(List<Statics.Resource> files) {
    return files.stream().mapToInt(Statics.Resource::bytes).sum();
  }
}
