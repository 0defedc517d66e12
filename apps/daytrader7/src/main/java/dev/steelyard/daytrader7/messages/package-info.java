// SPDX-License-Identifier: Apache-2.0
/** The messages of the queue of orders and of the topic of quotes, and how long they took. */
package dev.steelyard.daytrader7.messages;
