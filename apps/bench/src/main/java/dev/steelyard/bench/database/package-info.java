// SPDX-License-Identifier: Apache-2.0
/**
 * What differs between the relational databases that applications run on, the scripts that make
 * their tables, statements outside of Persistence, and what must hold in the tables.
 */
package dev.steelyard.bench.database;
