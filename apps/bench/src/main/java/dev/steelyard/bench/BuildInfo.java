// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/**
 * What was fixed when the application was built.
 *
 * @param fingerprint the hash of the sources that the builder gave, or {@code dev}
 */
record BuildInfo(String fingerprint) {

  /** Reads the facts that the build left in this module. */
  static BuildInfo read() {
    Properties properties = new Properties();
    try (InputStream in = BuildInfo.class.getResourceAsStream("build.properties")) {
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new BuildInfo(properties.getProperty("fingerprint"));
  }
}
