// SPDX-License-Identifier: Apache-2.0
/**
 * The operations as Enterprise Beans: session beans over Persistence in the container's
 * transactions, the singleton whose timer keeps the market summary, and the listeners to the queue
 * of orders and the topic of quotes.
 */
package dev.steelyard.daytrader7.beans;
