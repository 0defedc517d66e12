# SPDX-License-Identifier: Apache-2.0
"""Threads by purpose. JVMs name their threads, and the kernel keeps the first 15 characters (`comm`)."""

GROUPS = ("request", "jit", "gc", "network", "other")

# Prefixes of thread names; the names of OpenJ9 and HotSpot do not collide, so one table serves both.
_PREFIXES: tuple[tuple[str, str], ...] = (
    # Liberty's one pool: it runs requests, and completions of the channel framework on their behalf.
    ("Default Executo", "request"),
    ("qtp", "request"),  # Jetty's one pool, which accepts and selects as well
    # OpenJ9: `JIT Compilation`, `JIT IProfiler`, `JIT Sampler`, and a JITServer's own threads.
    ("JIT", "jit"),
    ("C1 CompilerThre", "jit"),
    ("C2 CompilerThre", "jit"),
    ("JVMCI", "jit"),
    ("Sweeper thread", "jit"),  # HotSpot 17: sweeps compiled code
    ("GC ", "gc"),  # OpenJ9 `GC Worker`, HotSpot `GC Thread#0`
    ("Concurrent Mark", "gc"),  # OpenJ9
    ("G1 ", "gc"),
    # HotSpot's VM thread runs Serial's collections itself and the stop-the-world part of the others'.
    ("VM Thread", "gc"),
    ("Shenandoah", "gc"),
    ("ZDirector", "gc"),
    ("ZDriver", "gc"),
    ("ZWorker", "gc"),
    ("Inbound ", "network"),
    ("Outbound ", "network"),
    ("Shared TCPChann", "network"),
    ("nioEventLoop", "network"),
    ("epollEventLoop", "network"),
    ("multiThreadIoEv", "network"),
)


def group_of(comm: str) -> str:
    """Group (one of `GROUPS`) of a thread by its name as the kernel keeps it."""
    for prefix, group in _PREFIXES:
        if comm.startswith(prefix):
            return group
    return "other"
