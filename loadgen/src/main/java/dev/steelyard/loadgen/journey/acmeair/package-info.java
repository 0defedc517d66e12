// SPDX-License-Identifier: Apache-2.0
/**
 * What a user of the airline does, as the public JMeter plans have it: the order of the requests,
 * what they ask for, and what their answers must be.
 */
package dev.steelyard.loadgen.journey.acmeair;
