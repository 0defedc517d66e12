// SPDX-License-Identifier: Apache-2.0
/** What an application is told through environment variables, read and refused in one way. */
package dev.steelyard.bench.settings;
