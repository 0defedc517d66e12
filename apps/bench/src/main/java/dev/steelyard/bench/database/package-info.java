// SPDX-License-Identifier: Apache-2.0
/**
 * What differs between the relational databases that applications run on, and the scripts that make
 * their tables.
 */
package dev.steelyard.bench.database;
