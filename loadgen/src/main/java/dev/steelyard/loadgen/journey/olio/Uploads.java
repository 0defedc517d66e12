// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.olio;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/**
 * The files that users upload: pictures and a document of the published driver's dimensions and
 * sizes, drawn here. The same from run to run.
 *
 * @param person a JPEG picture of 1050 x 1124 pixels and 671,520 bytes
 * @param event a JPEG picture of 1690 x 1268 pixels and 669,128 bytes
 * @param document 129,617 bytes that begin and end as a PDF document does
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares them
public record Uploads(byte[] person, byte[] event, byte[] document) {
  private static final int DOCUMENT = 129_617;
  private static final int TRIES = 6;

  /** The most that a comment of a JPEG file holds, its own length included. */
  private static final int SEGMENT = 0xffff;

  /** Marker and length of a comment. */
  private static final int HEAD = 4;

  /** Draws them; takes about a second. */
  public static Uploads drawn() {
    return new Uploads(
        picture(1050, 1124, 671_520), picture(1690, 1268, 669_128), document(DOCUMENT));
  }

  /**
   * A picture with the detail of a photograph: soft shapes under noise, at the quality that comes
   * nearest to the size from below; comments fill up the rest.
   */
  static byte[] picture(int width, int height, int bytes) {
    BufferedImage drawn = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    SplittableRandom random = new SplittableRandom(width);
    for (int y = 0; y < height; y++) {
      for (int x = 0; x < width; x++) {
        double shape = Math.sin(x / 90.0) * Math.cos(y / 70.0) + Math.sin((x + y) / 230.0);
        int noise = random.nextInt(-20, 21);
        int red = level(128 + 50 * shape + noise);
        int green = level(120 + 40 * Math.cos(shape) + noise);
        int blue = level(140 - 45 * shape + noise);
        drawn.setRGB(x, y, red << 16 | green << 8 | blue);
      }
    }
    float low = 0.05f;
    float high = 1;
    byte[] best = encoded(drawn, low);
    for (int i = 0; i < TRIES; i++) {
      float middle = (low + high) / 2;
      byte[] tried = encoded(drawn, middle);
      if (tried.length + HEAD <= bytes) {
        best = tried;
        low = middle;
      } else {
        high = middle;
      }
    }
    return filled(best, bytes);
  }

  private static int level(double value) {
    return (int) Math.max(0, Math.min(255, value));
  }

  private static byte[] encoded(BufferedImage drawn, float quality) {
    ImageWriter writer = ImageIO.getImageWritersByFormatName("jpeg").next();
    ImageWriteParam parameters = writer.getDefaultWriteParam();
    parameters.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
    parameters.setCompressionQuality(quality);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (MemoryCacheImageOutputStream stream = new MemoryCacheImageOutputStream(bytes)) {
      writer.setOutput(stream);
      writer.write(null, new IIOImage(drawn, null, null), parameters);
    } catch (IOException e) {
      throw new IllegalStateException("a picture cannot be drawn", e);
    } finally {
      writer.dispose();
    }
    return bytes.toByteArray();
  }

  /** The same picture with comments before its last marker, so that it has that many bytes. */
  private static byte[] filled(byte[] picture, int bytes) {
    int end = picture.length - 2;
    byte[] whole = Arrays.copyOf(picture, bytes);
    int at = end;
    for (int left = bytes - picture.length; left > 0; ) {
      // Never leaves so little that no further comment fits.
      int part = left <= SEGMENT + 2 ? left : Math.min(SEGMENT + 2, left - HEAD);
      whole[at] = (byte) 0xff;
      whole[at + 1] = (byte) 0xfe;
      whole[at + 2] = (byte) ((part - 2) >> 8);
      whole[at + 3] = (byte) (part - 2);
      Arrays.fill(whole, at + HEAD, at + part, (byte) ' ');
      at += part;
      left -= part;
    }
    whole[bytes - 2] = picture[end];
    whole[bytes - 1] = picture[end + 1];
    return whole;
  }

  private static byte[] document(int bytes) {
    byte[] text = new byte[bytes];
    SplittableRandom random = new SplittableRandom(bytes);
    for (int i = 0; i < bytes; i++) {
      text[i] = (byte) random.nextInt(32, 127);
    }
    byte[] first = "%PDF-1.4\n%".getBytes(StandardCharsets.US_ASCII);
    byte[] last = "\n%%EOF\n".getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(first, 0, text, 0, first.length);
    System.arraycopy(last, 0, text, bytes - last.length, last.length);
    return text;
  }
}
