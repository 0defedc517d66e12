// SPDX-License-Identifier: Apache-2.0
/** The HTTP interface of the customer service. */
package dev.steelyard.acmeair.services.customer;
