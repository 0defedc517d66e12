// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.client;

/** The load needs more memory than this injector has. */
public final class InjectorMemoryException extends RuntimeException {
  private static final long serialVersionUID = 1;

  InjectorMemoryException(String message) {
    super(message);
  }
}
