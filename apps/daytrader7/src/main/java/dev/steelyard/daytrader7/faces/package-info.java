// SPDX-License-Identifier: Apache-2.0
/**
 * The Faces front end: beans that its pages (the {@code *.xhtml} files) are bound to, and what
 * makes its mark-up readable for drivers of older versions.
 */
package dev.steelyard.daytrader7.faces;
