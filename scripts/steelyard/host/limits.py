# SPDX-License-Identifier: Apache-2.0
"""Limits that control groups put on this process: CPU time and memory."""

from pathlib import PurePosixPath
from typing import NamedTuple

from steelyard.host.facts import cgroup_version
from steelyard.host.system import System

_UNLIMITED = 1 << 60  # version 1 writes a very large number where version 2 writes `max`


class Limits(NamedTuple):
    """The tightest limits on the way from this process's group up; None: no limit."""

    cpus: float | None
    """CPU time per time, in CPUs."""
    memory: int | None
    """Bytes."""


def read_limits(system: System) -> Limits:
    """Read the limits of this process."""
    version = cgroup_version(system)
    paths = _paths(system)
    if version == 2:
        cpus = [_cpu_max(system, f"sys/fs/cgroup{folder}/cpu.max") for folder in _upwards(paths.get("", "/"))]
        memory = [
            _bytes(system, f"sys/fs/cgroup{folder}/memory.max") for folder in _upwards(paths.get("", "/"))
        ]
    elif version == 1:
        cpus = [_quota(system, f"sys/fs/cgroup/cpu{folder}") for folder in _upwards(paths.get("cpu", "/"))]
        memory = [
            _bytes(system, f"sys/fs/cgroup/memory{folder}/memory.limit_in_bytes")
            for folder in _upwards(paths.get("memory", "/"))
        ]
    else:
        return Limits(None, None)
    return Limits(
        min((limit for limit in cpus if limit is not None), default=None),
        min((limit for limit in memory if limit is not None), default=None),
    )


def _paths(system: System) -> dict[str, str]:
    """Group of this process by controller; version 2 has the empty name."""
    found = {}
    for line in (system.text("proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            found[controller] = path
    return found


def _upwards(path: str) -> list[str]:
    """`/a/b`, `/a` and the root as an empty text."""
    group = PurePosixPath(path)
    return [str(folder) if str(folder) != "/" else "" for folder in (group, *group.parents)]


def _cpu_max(system: System, name: str) -> float | None:
    words = (system.text(name) or "max").split()
    return None if words[0] == "max" else int(words[0]) / int(words[1])


def _quota(system: System, folder: str) -> float | None:
    quota, period = system.number(f"{folder}/cpu.cfs_quota_us"), system.number(f"{folder}/cpu.cfs_period_us")
    return quota / period if quota is not None and quota > 0 and period else None


def _bytes(system: System, name: str) -> int | None:
    value = system.number(name)
    return value if value is not None and value < _UNLIMITED else None
