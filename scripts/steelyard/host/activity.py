# SPDX-License-Identifier: Apache-2.0
"""What else runs on this host right now."""

import os
import time
from contextlib import suppress
from typing import NamedTuple

import psutil


class Busy(NamedTuple):
    """A process that uses CPU."""

    pid: int
    command: str
    share: float
    """Of the CPU time of the whole host."""


class Activity(NamedTuple):
    """CPU use of the host over a short while; shares of the CPU time of the whole host."""

    busy: float
    """Used by anyone, this process left out."""
    steal: float
    """Taken by the hypervisor."""
    processes: tuple[Busy, ...]
    """Other processes that used CPU, busiest first."""


def watch(seconds: float) -> Activity:
    """Watch the host for a while."""
    processes = list(psutil.process_iter())
    _busy(processes)
    psutil.cpu_times_percent()
    time.sleep(seconds)
    whole, found = psutil.cpu_times_percent(), _busy(processes)
    own = sum(one.share for one in found if one.pid == os.getpid())
    busy = 1 - (whole.idle + whole.iowait + whole.steal) / 100 - own
    others = [one for one in found if one.share > 0 and one.pid != os.getpid()]
    return Activity(max(0.0, busy), whole.steal / 100, tuple(sorted(others, key=lambda one: -one.share)))


def _busy(processes: list[psutil.Process]) -> list[Busy]:
    """What the processes used since this was asked before."""
    found = []
    for process in processes:
        with suppress(psutil.Error):
            share = process.cpu_percent() / 100 / (os.cpu_count() or 1)
            found.append(Busy(process.pid, process.name(), share))
    return found
