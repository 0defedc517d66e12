// SPDX-License-Identifier: Apache-2.0
/** Entities as JSON and back, and the texts of dates. */
package dev.steelyard.acmeair.json;
