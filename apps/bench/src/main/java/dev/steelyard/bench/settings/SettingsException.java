// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench.settings;

/** A setting that cannot be used; the message is one sentence for whoever set it. */
public final class SettingsException extends IllegalArgumentException {

  private static final long serialVersionUID = 1L;

  /**
   * @param message what is wrong and what to write instead
   */
  public SettingsException(String message) {
    super(message);
  }
}
