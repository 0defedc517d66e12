// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

/** What cannot be done as asked, with the status of HTTP that says so and a sentence for people. */
public final class Refused extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final int status;

  private Refused(int status, String sentence, Throwable cause) {
    super(sentence, cause);
    this.status = status;
  }

  /** A field is missing or is no value of its kind. */
  public static Refused badInput(String sentence) {
    return new Refused(400, sentence, null);
  }

  /** Nobody is logged in. */
  public static Refused notLoggedIn() {
    return new Refused(401, "Log in first.", null);
  }

  /** It is somebody else's. */
  public static Refused notYours(String sentence) {
    return new Refused(403, sentence, null);
  }

  /** It is not there. */
  public static Refused unknown(String sentence) {
    return new Refused(404, sentence, null);
  }

  /** The name is taken. */
  public static Refused taken(String sentence) {
    return new Refused(409, sentence, null);
  }

  /** An upload is larger than allowed. */
  public static Refused tooLarge() {
    return new Refused(413, "A file may have 5 MB, and all that is sent 12 MB.", null);
  }

  /** The filestore does not take it: it is full, or cannot be written. */
  public static Refused notStored(Throwable cause) {
    return new Refused(503, "The file could not be stored, and nothing was added.", cause);
  }

  /** The status of the answer. */
  public int status() {
    return status;
  }
}
