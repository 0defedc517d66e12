// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.population;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Documents that say which page they are at. */
public final class Documents {

  private static final int LINE = 80;

  private Documents() {}

  /**
   * A PDF file of exactly so many bytes; comments before the first page fill it.
   *
   * @throws IllegalArgumentException if the pages alone are larger
   */
  public static byte[] pdf(int bytes, int pages) {
    int padding = bytes - pdf(pages, "").length;
    for (int tries = 0; padding > 1 && tries < 9; tries++) {
      byte[] document = pdf(pages, filler(padding));
      if (document.length == bytes) {
        return document;
      }
      // The number of digits of an offset has changed.
      padding += bytes - document.length;
    }
    throw new IllegalArgumentException(
        "No document of %d pages has %d bytes".formatted(pages, bytes));
  }

  /** Lines that begin with a percent sign. */
  private static String filler(int length) {
    StringBuilder text = new StringBuilder(length);
    while (text.length() < length) {
      int left = length - text.length();
      int line = left < LINE + 2 ? left : LINE;
      text.append('%').append("literature ".repeat(LINE), 0, line - 2).append('\n');
    }
    return text.toString();
  }

  private static byte[] pdf(int pages, String comments) {
    StringBuilder file = new StringBuilder("%PDF-1.4\n").append(comments);
    List<Integer> offsets = new ArrayList<>();
    StringBuilder kids = new StringBuilder();
    for (int page = 0; page < pages; page++) {
      kids.append(4 + 2 * page).append(" 0 R ");
    }
    add(file, offsets, "<< /Type /Catalog /Pages 2 0 R >>");
    add(file, offsets, "<< /Type /Pages /Count " + pages + " /Kids [ " + kids + "] >>");
    add(file, offsets, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
    for (int page = 0; page < pages; page++) {
      String drawn = "BT /F 24 Tf 72 720 Td (Page " + (page + 1) + ") Tj ET";
      add(
          file,
          offsets,
          "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F 3 0 R >>"
              + " >> /Contents "
              + (5 + 2 * page)
              + " 0 R >>");
      add(file, offsets, "<< /Length " + drawn.length() + " >>\nstream\n" + drawn + "\nendstream");
    }
    int table = file.length();
    file.append("xref\n0 ").append(offsets.size() + 1).append("\n0000000000 65535 f \n");
    offsets.forEach(offset -> file.append("%010d 00000 n \n".formatted(offset)));
    file.append("trailer\n<< /Size ").append(offsets.size() + 1).append(" /Root 1 0 R >>\n");
    file.append("startxref\n").append(table).append("\n%%EOF\n");
    return file.toString().getBytes(StandardCharsets.US_ASCII);
  }

  private static void add(StringBuilder file, List<Integer> offsets, String object) {
    offsets.add(file.length());
    file.append(offsets.size()).append(" 0 obj\n").append(object).append("\nendobj\n");
  }
}
