// SPDX-License-Identifier: Apache-2.0
/** Sessions of the monolith. */
package dev.steelyard.acmeair.session;
