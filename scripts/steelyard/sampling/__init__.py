# SPDX-License-Identifier: Apache-2.0
"""Reads CPU, memory, threads, faults, counters and GC of the servers while they run."""
