# SPDX-License-Identifier: Apache-2.0
"""Which scheduler the kernel runs ordinary threads with: compilers that wait behind busy request threads wait for other
times under each."""

import re
from functools import cache
from pathlib import Path

from steelyard.host.system import System

_EEVDF_SINCE = (6, 6)
_EEVDF = (b" avg_vruntime", b" pick_eevdf")
"""Functions of kernel/sched/fair.c since Linux 6.6 (sched/eevdf: its commit 147f3efaa241)."""
_FAIR = b" update_curr_fair"
"""A function that it had before as well: a list without it is not the kernel's."""


def scheduler(system: System) -> str | None:
    """`sched_ext NAME` while such a scheduler is loaded (Documentation/scheduler/sched-ext.rst), `EEVDF`, `CFS`; None:
    the kernel tells neither its functions nor its release."""
    if system.text("sys/kernel/sched_ext/state") not in (None, "disabled"):
        return f"sched_ext {system.text('sys/kernel/sched_ext/root/ops') or 'without a name'}"
    return _fair_class(system.root) or _by_release(system.text("proc/sys/kernel/osrelease") or "")


def _by_release(release: str) -> str | None:
    """What the kernel of this release has, unless its maker changed that."""
    match = re.match(r"(\d+)\.(\d+)", release)
    if match is None:
        return None
    return "EEVDF" if (int(match[1]), int(match[2])) >= _EEVDF_SINCE else "CFS"


@cache
def _fair_class(root: Path) -> str | None:
    """By the kernel's functions, whose names everybody may read."""
    try:
        names = (root / "proc/kallsyms").read_bytes()
    except OSError:
        return None
    if any(name + b"\n" in names for name in _EEVDF):
        return "EEVDF"
    return "CFS" if _FAIR + b"\n" in names else None
