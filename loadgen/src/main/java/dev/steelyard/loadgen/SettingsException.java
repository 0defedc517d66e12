// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

/** Settings that cannot be run; the message is one sentence for the user. */
public final class SettingsException extends Exception {
  private static final long serialVersionUID = 1L;

  /**
   * @param message one sentence that names the setting and what is allowed
   */
  public SettingsException(String message) {
    super(message);
  }
}
