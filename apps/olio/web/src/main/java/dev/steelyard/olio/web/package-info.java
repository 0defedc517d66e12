// SPDX-License-Identifier: Apache-2.0
/** What comes over HTTP: the routes, and the pages as they are written. */
package dev.steelyard.olio.web;
