// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.data;

import dev.steelyard.acmeair.json.JsonStyle;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.bson.Document;

/**
 * The hash of what a loader writes: SHA-256 over the collection and the text of each document, in
 * the order of writing, dates as milliseconds since 1970.
 */
public final class ContentHash {

  private static final int DIGITS = 16;

  private final MessageDigest digest = sha256();

  /** Takes in a document. */
  public void add(String collection, Document document) {
    add(collection + JsonStyle.COMPACT.print(document, date -> Long.toString(date.toEpochMilli())));
  }

  /** Takes in a text. */
  public void add(String text) {
    digest.update(text.getBytes(StandardCharsets.UTF_8));
    digest.update((byte) '\n');
  }

  /** The first 16 hexadecimal digits. Ends the hash: nothing can be added any more. */
  public String text() {
    return HexFormat.of().formatHex(digest.digest()).substring(0, DIGITS);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Each Java platform has to have it.
    }
  }
}
