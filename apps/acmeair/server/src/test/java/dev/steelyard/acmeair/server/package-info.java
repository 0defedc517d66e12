// SPDX-License-Identifier: Apache-2.0
/** Tests of the package as it is shipped: real servers, a real database protocol, HTTP. */
package dev.steelyard.acmeair.server;
