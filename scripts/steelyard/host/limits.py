# SPDX-License-Identifier: Apache-2.0
"""Limits that control groups put on this process: CPU time and memory."""

import os
from pathlib import Path
from typing import NamedTuple

from steelyard.host.system import System
from steelyard.sampling.cgroup import Place, find

_UNLIMITED = 1 << 60  # version 1 writes a very large number where version 2 writes `max`


class Limits(NamedTuple):
    """The tightest limits on the way from this process's group up; None: no limit."""

    cpus: float | None
    """CPU time per time, in CPUs."""
    memory: int | None
    """Bytes."""


def read_limits(system: System) -> Limits:
    """Read the limits of this process."""
    root = str(system.root).rstrip("/")
    cpu, memory = (_upwards(find(name, os.getpid(), root)) for name in ("cpu", "memory"))
    quotas = [_quota(system, place) for place in cpu]
    sizes = [
        system.number(f"{folder}/{'memory.max' if unified else 'memory.limit_in_bytes'}")
        for folder, unified in memory
    ]
    return Limits(
        min((quota for quota in quotas if quota is not None), default=None),
        min((size for size in sizes if size is not None and size < _UNLIMITED), default=None),
    )


def _upwards(place: Place | None) -> list[Place]:
    """The group and those above it that can be seen."""
    folders = [Path(place.folder), *Path(place.folder).parents] if place else []
    return [place._replace(folder=str(one)) for one in folders if place and (one / "cgroup.procs").exists()]


def _quota(system: System, place: Place) -> float | None:
    if place.unified:
        quota, period = (system.text(f"{place.folder}/cpu.max") or "max 0").split()
    else:
        quota, period = (
            system.text(f"{place.folder}/cpu.cfs_{name}_us") or "-1" for name in ("quota", "period")
        )
    return int(quota) / int(period) if quota.isdigit() else None
