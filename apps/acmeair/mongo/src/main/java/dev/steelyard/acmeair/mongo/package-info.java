// SPDX-License-Identifier: Apache-2.0
/** The repositories of the domain in MongoDB, and what a server with a database is made from. */
package dev.steelyard.acmeair.mongo;
