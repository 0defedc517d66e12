// SPDX-License-Identifier: Apache-2.0
/** The data set: loading, counting, hashing. */
package dev.steelyard.acmeair.data;
