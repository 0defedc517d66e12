// SPDX-License-Identifier: Apache-2.0
/** The service of the pages. */
package dev.steelyard.acmeair.services.main;
