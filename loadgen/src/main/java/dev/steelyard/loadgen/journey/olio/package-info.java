// SPDX-License-Identifier: Apache-2.0
/**
 * What a user of Olio does, as the published driver has it: a Markov chain of seven operations,
 * each with the page, the scripts and the pictures that a browser would ask for, and what it
 * remembers of them.
 */
package dev.steelyard.loadgen.journey.olio;
