// SPDX-License-Identifier: Apache-2.0
/** What the build of AcmeAir's server package runs. */
package dev.steelyard.acmeair.server;
