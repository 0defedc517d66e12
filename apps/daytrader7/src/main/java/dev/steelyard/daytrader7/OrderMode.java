// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

/**
 * When an order is completed; the place in the list is the value of {@code OrderProcessingMode}.
 */
public enum OrderMode {
  /** In the transaction that makes it. */
  SYNC(0, "Sync"),
  /** By a message-driven bean; the message is sent in the transaction that makes the order. */
  ASYNC_2PHASE(1, "Async_2-Phase"),
  /** By a managed thread, half a second after it was made. */
  ASYNC_MANAGED_THREAD(2, "Async_ManagedThread");

  private final int value;
  private final String shown;

  OrderMode(int value, String shown) {
    this.value = value;
    this.shown = shown;
  }

  /** The name on the pages. */
  public String shown() {
    return shown;
  }

  /** Its number in the settings, which is its place in the list. */
  public int value() {
    return value;
  }
}
