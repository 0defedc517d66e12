// SPDX-License-Identifier: Apache-2.0
/**
 * The detours of the originals: they keep what they look at as JSON texts and parse them wherever
 * they need to know what is in them. Here a repository does so for whoever asks it, as often and
 * with the parser of the original: the monolith's and the services' have different ones.
 */
package dev.steelyard.acmeair.original;
