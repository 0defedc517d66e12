// SPDX-License-Identifier: Apache-2.0
/**
 * The operations as plain JDBC, and the transactions and keys that the container does not see to.
 */
package dev.steelyard.daytrader7.direct;
