// SPDX-License-Identifier: Apache-2.0
/**
 * AcmeAir: entities, rules and the repositories that they ask for. Nothing here knows of HTTP, of a
 * database or of JSON; adapters in {@code acmeair-web} and {@code acmeair-mongo} do.
 */
package dev.steelyard.acmeair;
