// SPDX-License-Identifier: Apache-2.0
/** What every HTTP interface of the applications does alike. */
package dev.steelyard.acmeair.web;
