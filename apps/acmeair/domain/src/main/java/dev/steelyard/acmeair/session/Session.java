// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.session;

import java.time.Instant;

/**
 * A session of the monolith, from login to logout.
 *
 * @param id of the session
 * @param customerId whose it is
 * @param lastAccess when it was opened: no access changes it
 * @param timeout when it ends by itself
 */
public record Session(String id, String customerId, Instant lastAccess, Instant timeout) {}
