// SPDX-License-Identifier: Apache-2.0
/**
 * What every application shares: a filter that counts and times each operation, and the resources
 * {@code /bench/counters}, {@code /bench/info}, {@code /health/live}, {@code /health/ready} and
 * {@code /health/started}.
 *
 * <p>Putting this module into {@code WEB-INF/lib} and naming a {@link dev.steelyard.bench.Workload}
 * in {@code META-INF/services} is all that an application has to do. Everything here is plain
 * servlet code, so that it serves REST, JSP and JSF applications alike.
 */
package dev.steelyard.bench;
