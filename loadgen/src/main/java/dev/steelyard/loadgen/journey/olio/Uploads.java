// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.olio;

import dev.steelyard.olio.population.FileKind;
import dev.steelyard.olio.population.FileSizes;

/**
 * The files that users upload: those that are loaded, of the published driver's dimensions and
 * sizes, whatever the sizes of the loaded files are. The same from run to run.
 *
 * @param person a JPEG picture of 1050 x 1124 pixels and 671,520 bytes
 * @param event a JPEG picture of 1690 x 1268 pixels and 669,128 bytes
 * @param document a PDF document of 129,617 bytes
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares them
public record Uploads(byte[] person, byte[] event, byte[] document) {

  /** Draws them; takes about a second. */
  public static Uploads drawn() {
    return new Uploads(
        FileKind.PERSON.content(FileSizes.FULL),
        FileKind.EVENT.content(FileSizes.FULL),
        FileKind.LITERATURE.content(FileSizes.FULL));
  }
}
