# SPDX-License-Identifier: Apache-2.0
"""What is done between two trials, so that the first leaves as little as possible to the second.

    files written out (sync) -> free memory compacted, where it lies in pieces and this user may
    -> CPUs idle, or no longer getting so

Whatever is left of it after that is balanced over the arms by the order of trials, and estimated
(`analysis/carry_over.py`).
"""

import os
from collections.abc import Callable
from contextlib import suppress

from steelyard.clock import SYSTEM, Clock
from steelyard.host.system import System
from steelyard.sampling.procfs import HostCpu, parse_host_cpu
from steelyard.units import MIB

IDLE = 0.02
"""Busy share of the CPUs at which the host counts as idle: the limit that the doctor has for other load."""
LOOK = 0.5
"""Seconds of one look at the CPUs."""
LONGEST = 10
"""Looks, at most."""
WHOLE = 0.5
"""Share of the free memory in large blocks from which on it is not compacted: that takes the kernel 2 s of CPU for
24 GiB, each time."""
_LARGE = 2 * MIB
"""Bytes from which on a block counts as large: the kernel's two largest ones with pages of 4 KiB, nine with 64 KiB."""
_COMPACT = "proc/sys/vm/compact_memory"


def wash_out(system: System, clock: Clock, sync: Callable[[], None] = os.sync) -> float | None:
    """Wait until the host has done what a trial left it to do.

    A load that does not fall is somebody else's, and is not waited for: the ledger judges it in the trial.

    Returns:
        Busy share of the CPUs over the last look; None where the kernel does not tell it.
    """
    sync()
    with suppress(OSError):
        if _is_in_pieces(system) and os.access(system.path(_COMPACT), os.W_OK):
            system.write(_COMPACT, "1")
    before: float | None = None
    for _ in range(LONGEST):
        busy = _busy_share(system, clock)
        if busy is None or busy <= IDLE or (before is not None and busy >= 0.8 * before):
            return busy
        before = busy
    return before


def wash_out_here() -> float | None:
    """The same on this host."""
    return wash_out(System(), SYSTEM)


def _is_in_pieces(system: System) -> bool:
    """Whether most of the free memory lies in small blocks (/proc/buddyinfo: free blocks of 1, 2, 4 ... pages, a zone a
    row); False where the kernel does not tell it."""
    free, large, page = 0, 0, os.sysconf("SC_PAGE_SIZE")
    for line in (system.text("proc/buddyinfo") or "").splitlines():
        blocks = [int(word) for word in line.split()[4:] if word.isdigit()]
        for order, number in enumerate(blocks):
            size = page << order
            free += number * size
            large += number * size if size >= _LARGE else 0
    return large < WHOLE * free


def _busy_share(system: System, clock: Clock) -> float | None:
    """Of one look; steal and idle are not busy."""
    first = _cpu_seconds(system)
    clock.sleep(LOOK)
    second = _cpu_seconds(system)
    if first is None or second is None:
        return None
    busy = second.busy - first.busy
    passed = busy + second.idle - first.idle + second.steal - first.steal
    return busy / passed if passed > 0 else None


def _cpu_seconds(system: System) -> HostCpu | None:
    try:
        return parse_host_cpu((system.text("proc/stat") or "").encode())
    except ValueError:
        return None
