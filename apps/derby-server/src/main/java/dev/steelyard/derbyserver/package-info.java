// SPDX-License-Identifier: Apache-2.0
/** Apache Derby as a server of its own. */
package dev.steelyard.derbyserver;
