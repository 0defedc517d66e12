// SPDX-License-Identifier: Apache-2.0
/**
 * The detours of the original's monolith: it keeps sessions, customers and segments as JSON texts
 * and parses them wherever it needs to know what is in them. Here a repository does so for whoever
 * asks it, with the same parser and as often.
 */
package dev.steelyard.acmeair.monolith.original;
