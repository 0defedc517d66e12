// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import java.math.BigDecimal;

/**
 * A price that changed, as a CDI event: told synchronously, by the listener to the topic of quotes,
 * of those symbols that are to reach the websockets.
 *
 * @param changeFactor new price over old
 * @param sharesTraded by the order that changed it
 */
public record PriceChange(
    String symbol,
    String company,
    BigDecimal price,
    BigDecimal oldPrice,
    BigDecimal open,
    BigDecimal low,
    BigDecimal high,
    double volume,
    BigDecimal changeFactor,
    double sharesTraded) {}
