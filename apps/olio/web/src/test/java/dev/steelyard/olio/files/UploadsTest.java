// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.steelyard.olio.Refused;
import dev.steelyard.olio.population.FileKind;
import dev.steelyard.olio.population.FileSizes;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

final class UploadsTest {

  @Test
  void thumbnailsShowThePictureInTheirSize() throws IOException {
    BufferedImage picture = new BufferedImage(400, 200, BufferedImage.TYPE_INT_RGB);
    for (int x = 200; x < 400; x++) {
      for (int y = 0; y < 200; y++) {
        picture.setRGB(x, y, 0xFFFFFF);
      }
    }
    ByteArrayOutputStream jpeg = new ByteArrayOutputStream();
    ImageIO.write(picture, "jpeg", jpeg);
    BufferedImage thumbnail =
        ImageIO.read(new ByteArrayInputStream(Uploads.thumbnail(jpeg.toByteArray())));
    assertEquals(133, thumbnail.getWidth());
    assertEquals(100, thumbnail.getHeight());
    assertEquals(0, thumbnail.getRGB(20, 50) & 0xFF, 16);
    assertEquals(255, thumbnail.getRGB(110, 50) & 0xFF, 16);
  }

  @Test
  void whatIsNoJpegPictureIsRefused() throws IOException {
    byte[] whole = FileKind.EVENT.content(FileSizes.SMALL);
    ByteArrayOutputStream png = new ByteArrayOutputStream();
    ImageIO.write(new BufferedImage(4, 4, BufferedImage.TYPE_INT_RGB), "png", png);
    for (byte[] bad :
        new byte[][] {
          {},
          "not a picture".getBytes(StandardCharsets.US_ASCII),
          png.toByteArray(),
          Arrays.copyOf(whole, 20),
          enormous(whole)
        }) {
      Refused refused = assertThrows(Refused.class, () -> Uploads.thumbnail(bad));
      assertEquals(400, refused.status());
    }
  }

  /** A file of some kB that says that its picture has four billion pixels. */
  private static byte[] enormous(byte[] jpeg) {
    byte[] changed = jpeg.clone();
    for (int i = 0; i < changed.length - 9; i++) {
      if ((changed[i] & 255) == 0xFF && (changed[i + 1] & 255) == 0xC0) {
        Arrays.fill(changed, i + 5, i + 9, (byte) 0xFF);
        return changed;
      }
    }
    throw new IllegalArgumentException("It has no frame");
  }

  @Test
  void documentsAreOfFourKinds() {
    assertEquals("pdf", Uploads.documentExtension("a.b.PDF"));
    assertEquals("docx", Uploads.documentExtension("x.docx"));
    for (String bad : new String[] {"a.html", "pdf.", "", "../x.pdf/y"}) {
      assertThrows(Refused.class, () -> Uploads.documentExtension(bad), bad);
    }
  }
}
