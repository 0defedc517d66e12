// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.beans;

import dev.steelyard.daytrader7.TradeServices;
import jakarta.ejb.Local;

/** The operations, called by reference in the same JVM. */
@Local
public interface TradeLocal extends TradeServices {}
