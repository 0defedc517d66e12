// SPDX-License-Identifier: Apache-2.0
/**
 * The rows as Persistence sees them. None refers to another as an object: what belongs together is
 * read by statements of the operation that needs it, so that each operation sends as many as it
 * seems to.
 */
package dev.steelyard.olio.entities;
