# SPDX-License-Identifier: Apache-2.0
"""Threads by purpose. JVMs name their threads, and the kernel keeps the first 15 characters (`comm`)."""

_ZGC = ("Director", "Driver", "Stat", "Uncommitter", "Unmapper", "Worker")
# Prefixes of thread names; the names of OpenJ9 and HotSpot do not collide, so one table serves both.
_PREFIXES = {
    "request": (
        "Default Executo",  # Liberty's one pool: requests, and completions of the channel framework on their behalf
        "qtp",  # Jetty's one pool, which accepts and selects as well
    ),
    "jit": (
        "JIT",  # OpenJ9: `JIT Compilation`, `JIT IProfiler`, `JIT Sampler`, and a JITServer's own threads
        *("C1 CompilerThre", "C2 CompilerThre", "JVMCI"),
        "Sweeper thread",  # HotSpot 17: sweeps compiled code
    ),
    "gc": (
        "GC ",  # OpenJ9 `GC Worker`, HotSpot `GC Thread#0`
        "Concurrent Mark",  # OpenJ9
        "Dedicated GC",  # OpenJ9's balanced: leads its collections; gencon's are led by the thread that needs memory
        "VM Thread",  # HotSpot: runs Serial's collections itself and the stop-the-world part of the others'
        *("G1 ", "Shenandoah", "StringDedup"),
        "RuntimeWorker",  # ZGC's, at safepoints
        # ZGC, and as `X` the one without generations of JDK 21 to 23 beside it
        *(f"{version}{name}" for version in "ZX" for name in _ZGC),
    ),
    "network": (
        "Inbound ",
        "Outbound ",
        "Shared TCPChann",
        "nioEventLoop",
        "epollEventLoop",
        "multiThreadIoEv",
    ),
}
GROUPS = (*_PREFIXES, "other")


def group_of(comm: str) -> str:
    """Group (one of `GROUPS`) of a thread by its name as the kernel keeps it."""
    return next((group for group, prefixes in _PREFIXES.items() if comm.startswith(prefixes)), "other")
