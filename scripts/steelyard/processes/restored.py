# SPDX-License-Identifier: Apache-2.0
"""Processes that CRIU brought back from a checkpoint."""

from collections.abc import Iterable
from pathlib import Path

import psutil

CRIU = "criu"


def find_restored(pids: Iterable[int]) -> list[int]:
    """Those of some processes that were restored: `criu restore` is their parent as long as they run (it waits for them
    when it is not asked to detach itself)."""
    return [pid for pid in pids if _parent_name(pid) == CRIU]


def runs(task: int) -> bool:
    """Whether a process or a thread has this id, one that has ended and is not reaped among them."""
    return Path(f"/proc/{task}").exists()


def _parent_name(pid: int) -> str | None:
    try:
        process = psutil.Process(pid)
        parent = process.parent()
        # What `criu restore` starts first is itself, which becomes the process.
        return parent.name() if parent is not None and process.name() != CRIU else None
    except psutil.Error:  # it has ended, or may not be read
        return None
