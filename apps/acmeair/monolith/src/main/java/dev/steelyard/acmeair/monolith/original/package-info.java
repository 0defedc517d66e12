// SPDX-License-Identifier: Apache-2.0
/**
 * The detours of the original's monolith ({@link dev.steelyard.acmeair.original}), which has
 * sessions as texts as well, and a parser of its own.
 */
package dev.steelyard.acmeair.monolith.original;
