// SPDX-License-Identifier: Apache-2.0
/**
 * What makes Olio's data and what sends requests about it have to agree on: names, numbers of rows,
 * texts, pictures and the static files of its pages. Nothing here knows of a database or a server.
 */
package dev.steelyard.olio.population;
