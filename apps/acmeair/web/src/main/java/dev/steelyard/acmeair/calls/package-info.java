// SPDX-License-Identifier: Apache-2.0
/** How services call each other. */
package dev.steelyard.acmeair.calls;
