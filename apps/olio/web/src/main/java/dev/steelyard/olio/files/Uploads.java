// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.files;

import dev.steelyard.olio.Refused;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.stream.ImageInputStream;
import javax.imageio.stream.ImageOutputStream;
import javax.imageio.stream.MemoryCacheImageInputStream;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/** What is uploaded: pictures, of which thumbnails are made, and documents. */
public final class Uploads {

  private static final int THUMBNAIL_WIDTH = 133;
  private static final int THUMBNAIL_HEIGHT = 100;

  /** More would not fit into the memory of a server that has many users. */
  private static final long MOST_PIXELS = 25_000_000;

  private static final List<String> DOCUMENTS = List.of("pdf", "doc", "docx", "txt");

  private Uploads() {}

  /**
   * The thumbnail of a JPEG picture: the nearest pixels, whatever the picture's proportions.
   *
   * @throws Refused if it is no JPEG picture, or a huge one
   */
  public static byte[] thumbnail(byte[] picture) {
    BufferedImage small =
        new BufferedImage(THUMBNAIL_WIDTH, THUMBNAIL_HEIGHT, BufferedImage.TYPE_INT_RGB);
    Graphics2D canvas = small.createGraphics();
    canvas.setRenderingHint(
        RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_NEAREST_NEIGHBOR);
    canvas.drawImage(decoded(picture), 0, 0, THUMBNAIL_WIDTH, THUMBNAIL_HEIGHT, null);
    canvas.dispose();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    // In memory: ImageIO's own stream keeps a file in the temporary folder, for these few
    // kilobytes.
    try (ImageOutputStream memory = new MemoryCacheImageOutputStream(out)) {
      ImageIO.write(small, "jpeg", memory);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return out.toByteArray();
  }

  private static BufferedImage decoded(byte[] picture) {
    Iterator<ImageReader> readers = ImageIO.getImageReadersByFormatName("jpeg");
    ImageReader reader = readers.next();
    try (ImageInputStream in = new MemoryCacheImageInputStream(new ByteArrayInputStream(picture))) {
      reader.setInput(in);
      if ((long) reader.getWidth(0) * reader.getHeight(0) > MOST_PIXELS) {
        throw Refused.badInput("A picture may have 25 million pixels.");
      }
      return reader.read(0);
    } catch (IOException | IllegalArgumentException | IndexOutOfBoundsException e) {
      throw Refused.badInput("The picture is not a JPEG picture.");
    } finally {
      reader.dispose();
    }
  }

  /**
   * The extension of a document's name.
   *
   * @throws Refused if documents of that kind are not taken
   */
  public static String documentExtension(String fileName) {
    String name = fileName.toLowerCase(Locale.ROOT);
    String extension = name.substring(name.lastIndexOf('.') + 1);
    if (!DOCUMENTS.contains(extension)) {
      throw Refused.badInput("A document is a PDF, Word or text file.");
    }
    return extension;
  }
}
