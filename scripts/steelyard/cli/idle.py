# SPDX-License-Identifier: Apache-2.0
"""Refuses what would disturb something else of ours on this host, or be disturbed by it."""

from steelyard.errors import Busy
from steelyard.host.lock import host_lock
from steelyard.session import workload_up


def require_idle() -> None:
    """Refuse before a directory is made or a server started; the lock is taken later, for good (raises Busy)."""
    up = workload_up.current()
    if up is not None:
        raise Busy(
            f"{up.workload} is up already (process {up.keeper}) and would disturb what else runs: stop it with"
            " `./steelyard down`"
        )
    with host_lock("about to begin"):
        return
