# SPDX-License-Identifier: Apache-2.0
"""Pages for all sessions of a folder, on loopback: list, comparison, history, the running session. Reads only.

index    a row for each session, kept by the identity of its files
filters  which rows are asked for
live     a running session: its schedule, time left, throughput as it is sampled, void trials
pages    rows and models -> HTML, with the report's templates
site     an address -> a page or a file of a session
server   HTTP, on the standard library: one user, loopback, GET alone. A framework would add routing, which is a
         match of six patterns here, and a second server to keep up to date
"""
