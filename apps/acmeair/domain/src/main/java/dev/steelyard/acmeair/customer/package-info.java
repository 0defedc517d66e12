// SPDX-License-Identifier: Apache-2.0
/** Customers. */
package dev.steelyard.acmeair.customer;
