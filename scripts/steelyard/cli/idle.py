# SPDX-License-Identifier: Apache-2.0
"""Refuses what would disturb something else of ours on this host, or be disturbed by it."""

from steelyard.errors import Busy
from steelyard.host.lock import holder
from steelyard.session import workload_up


def require_idle() -> None:
    """Refuse before a directory is made or a server started; the lock is taken later, for good (raises Busy)."""
    up = workload_up.current()
    if up is not None:
        raise Busy(
            f"{up.workload} is up already (process {up.keeper}) and would disturb what else runs: stop it with"
            " `./steelyard down`"
        )
    session = holder()
    if session is not None:
        raise Busy(
            f"a session runs on this host already (process {session.pid}, {session.session}), and the two would"
            " disturb each other: wait for its end"
        )
