// SPDX-License-Identifier: Apache-2.0
/** Logins: the customer service says who may, this one signs the token. */
package dev.steelyard.acmeair.services.auth;
