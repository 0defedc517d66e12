// SPDX-License-Identifier: Apache-2.0
/** A server of MongoDB's wire protocol that needs nothing but Java. */
package dev.steelyard.embeddedmongo;
