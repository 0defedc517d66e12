// SPDX-License-Identifier: Apache-2.0
/** AcmeAir: the rules, queries, data and JSON that the monolith and the microservices share. */
package dev.steelyard.acmeair;
