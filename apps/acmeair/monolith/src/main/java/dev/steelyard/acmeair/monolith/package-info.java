// SPDX-License-Identifier: Apache-2.0
/** AcmeAir in one application: thin resources over the domain, sessions in the database. */
package dev.steelyard.acmeair.monolith;
