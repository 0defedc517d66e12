// SPDX-License-Identifier: Apache-2.0
/** The texts of documents and dates. */
package dev.steelyard.acmeair.json;
