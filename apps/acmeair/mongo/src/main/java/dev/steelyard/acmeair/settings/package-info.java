// SPDX-License-Identifier: Apache-2.0
/** What an application is told through environment variables. */
package dev.steelyard.acmeair.settings;
