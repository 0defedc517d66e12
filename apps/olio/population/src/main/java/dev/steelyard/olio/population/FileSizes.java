// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.population;

/** How large the files of persons and events are. */
public enum FileSizes {
  /** As the original's. */
  FULL,
  /** Pictures and documents of some kB, for tests and laptops; thumbnails as the original's. */
  SMALL
}
