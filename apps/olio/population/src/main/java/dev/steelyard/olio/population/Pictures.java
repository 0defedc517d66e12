// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.population;

import java.awt.Color;
import java.awt.GradientPaint;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.ImageOutputStream;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/**
 * Pictures that are drawn: hills under a sky, with the grain of a photograph, since that is what
 * the decoder and the encoder of a JPEG file work on.
 */
public final class Pictures {

  private static final int STEPS = 9;
  private static final int MARKER_BYTES = 4;
  private static final int LONGEST_SEGMENT = 65_000;

  private Pictures() {}

  /**
   * A baseline JPEG picture of exactly so many bytes: the quality makes it nearly as large, a
   * comment within the file does the rest.
   *
   * @param variant makes other hills
   * @throws IllegalArgumentException if no quality makes it that small
   */
  public static byte[] jpeg(int width, int height, int bytes, int variant) {
    Draws draws = Draws.of(variant, width, height);
    double grain = 4;
    byte[] best = null;
    // More grain until the best quality fills the bytes.
    while (grain < 300 && (best == null || best.length < bytes * 0.99)) {
      BufferedImage picture = drawn(width, height, draws, (int) grain);
      byte[] found = largest(picture, bytes);
      if (found == null) {
        break;
      }
      best = found;
      grain *= 1.6;
    }
    if (best == null) {
      throw new IllegalArgumentException(
          "No %d x %d picture has %d bytes".formatted(width, height, bytes));
    }
    return padded(best, bytes);
  }

  /** The best quality that does not exceed the bytes, or null. */
  private static byte[] largest(BufferedImage picture, int bytes) {
    byte[] best = null;
    float low = 0.05f;
    float high = 1;
    for (int step = 0; step < STEPS; step++) {
      float quality = (low + high) / 2;
      byte[] encoded = encoded(picture, quality);
      // A comment needs its marker and length.
      if (encoded.length == bytes || encoded.length <= bytes - MARKER_BYTES) {
        best = encoded;
        low = quality;
      } else {
        high = quality;
      }
    }
    return best;
  }

  private static BufferedImage drawn(int width, int height, Draws draws, int grain) {
    BufferedImage picture = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    Graphics2D canvas = picture.createGraphics();
    Color sky = new Color(Color.HSBtoRGB((float) draws.fraction(), 0.35f, 0.9f));
    canvas.setPaint(new GradientPaint(0, 0, sky, 0, height, Color.WHITE));
    canvas.fillRect(0, 0, width, height);
    for (int hill = 1; hill <= 5; hill++) {
      canvas.setColor(
          new Color(Color.HSBtoRGB((float) draws.fraction(), 0.4f, 0.85f - 0.12f * hill)));
      int across = width / 2 + draws.below(width);
      int top = height * (2 + hill) / 9 + draws.below(height / 9 + 1);
      canvas.fillOval(draws.below(width) - across / 2, top, across, height);
    }
    canvas.dispose();
    int[] pixels = picture.getRGB(0, 0, width, height, null, 0, width);
    for (int i = 0; i < pixels.length; i++) {
      int noise = draws.below(2 * grain + 1) - grain;
      int red = limited((pixels[i] >> 16 & 255) + noise);
      int green = limited((pixels[i] >> 8 & 255) + noise);
      int blue = limited((pixels[i] & 255) + noise);
      pixels[i] = red << 16 | green << 8 | blue;
    }
    picture.setRGB(0, 0, width, height, pixels, 0, width);
    return picture;
  }

  private static int limited(int value) {
    return Math.max(0, Math.min(255, value));
  }

  private static byte[] encoded(BufferedImage picture, float quality) {
    ImageWriter writer = ImageIO.getImageWritersByFormatName("jpeg").next();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ImageOutputStream out = new MemoryCacheImageOutputStream(bytes)) {
      ImageWriteParam how = writer.getDefaultWriteParam();
      how.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
      how.setCompressionQuality(quality);
      writer.setOutput(out);
      writer.write(null, new IIOImage(picture, null, null), how);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      writer.dispose();
    }
    return bytes.toByteArray();
  }

  /** The same picture with comments after its first two bytes. */
  private static byte[] padded(byte[] jpeg, int bytes) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(bytes);
    out.write(jpeg, 0, 2);
    for (int left = bytes - jpeg.length; left > 0; ) {
      int segment = Math.min(left, LONGEST_SEGMENT);
      if (left > segment && left - segment < MARKER_BYTES) {
        segment -= MARKER_BYTES;
      }
      out.write(0xFF);
      out.write(0xFE);
      int length = segment - 2;
      out.write(length >> 8);
      out.write(length & 255);
      out.writeBytes(" ".repeat(length - 2).getBytes(StandardCharsets.US_ASCII));
      left -= segment;
    }
    out.write(jpeg, 2, jpeg.length - 2);
    return out.toByteArray();
  }
}
