// SPDX-License-Identifier: Apache-2.0
/** The filestore: a folder that several JVMs share, with the pictures and documents of the rows. */
package dev.steelyard.olio.files;
