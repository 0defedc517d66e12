// SPDX-License-Identifier: Apache-2.0
/** Servlets and what they give to the Pages in {@code WEB-INF/pages}. */
package dev.steelyard.daytrader7.web;
