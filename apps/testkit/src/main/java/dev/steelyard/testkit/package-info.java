// SPDX-License-Identifier: Apache-2.0
/**
 * What the tests of every application share: a server of its package as a user would start it, the
 * tables that say what an application answers, and waiting for states instead of seconds.
 */
package dev.steelyard.testkit;
