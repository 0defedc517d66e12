# SPDX-License-Identifier: Apache-2.0
"""What else runs on this host right now."""

import os
import time
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
    cpu, processes, began = psutil.cpu_times(), _processes(), time.monotonic()
    time.sleep(seconds)
    cpu_after, processes_after = psutil.cpu_times(), _processes()
    capacity = (time.monotonic() - began) * (os.cpu_count() or 1)
    used = {
        key: (seconds_after - processes.get(key, (0.0, ""))[0], command)
        for key, (seconds_after, command) in processes_after.items()
    }
    own = sum(amount for (pid, _), (amount, _) in used.items() if pid == os.getpid())
    others = [
        Busy(pid, command, amount / capacity)
        for (pid, _), (amount, command) in used.items()
        if amount > 0 and pid != os.getpid()
    ]
    idle = cpu_after.idle - cpu.idle + cpu_after.iowait - cpu.iowait
    steal = cpu_after.steal - cpu.steal
    busy = capacity - idle - steal - own
    return Activity(
        max(0.0, busy / capacity),
        max(0.0, steal / capacity),
        tuple(sorted(others, key=lambda one: -one.share)),
    )


def _processes() -> dict[tuple[int, float], tuple[float, str]]:
    """CPU seconds and command by pid and start time."""
    found = {}
    for process in psutil.process_iter(["pid", "create_time", "cpu_times", "name"]):
        times = process.info["cpu_times"]
        if times is not None:
            key = (process.info["pid"], process.info["create_time"])
            found[key] = (times.user + times.system, process.info["name"])
    return found
