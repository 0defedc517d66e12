# SPDX-License-Identifier: Apache-2.0
"""The CPUs that this process may use, as physical cores."""

import os
import re
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from steelyard.host.system import System

_CPU = "sys/devices/system/cpu"
_SPAN = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")


class Core(NamedTuple):
    """A physical core, as far as it is online and allowed."""

    node: int
    """NUMA node."""
    package: int
    core: int
    """The kernel's number of the core inside its package."""
    cpus: tuple[int, ...]
    """Its logical CPUs (SMT siblings) that are online and allowed, in rising order."""


class CpuLayout(NamedTuple):
    """Cores, ordered by node, package and core."""

    cores: tuple[Core, ...]

    @property
    def cpus(self) -> tuple[int, ...]:
        """All logical CPUs, in the order of their cores."""
        return tuple(cpu for core in self.cores for cpu in core.cpus)

    @property
    def threads_per_core(self) -> int:
        """Most logical CPUs of any core."""
        return max((len(core.cpus) for core in self.cores), default=0)

    @property
    def nodes(self) -> int:
        """NUMA nodes that the cores lie on."""
        return len({core.node for core in self.cores})

    @property
    def node_of(self) -> dict[int, int]:
        """NUMA node of each logical CPU."""
        return {cpu: core.node for core in self.cores for cpu in core.cpus}

    @property
    def packages(self) -> int:
        """Sockets that the cores lie on."""
        return len({core.package for core in self.cores})


def parse_cpu_list(text: str) -> list[int]:
    """CPUs of a list as the kernel writes it: `0-3,8,10-11` (raises ValueError: it is none)."""
    cpus: list[int] = []
    for part in text.strip().split(","):
        if part:
            ends = _SPAN.fullmatch(part)
            span = range(int(ends[1]), int(ends[2] or ends[1]) + 1) if ends is not None else range(0)
            if not span:
                raise ValueError(f"{part[:40]!r} is no span of CPUs")
            cpus += span
    return cpus


def read_cpus(system: System, name: str) -> list[int]:
    """CPUs of a file that holds a list; none where it cannot be read or holds no list."""
    try:
        return parse_cpu_list(system.text(name) or "")
    except ValueError:
        return []


def cpu_list(cpus: Collection[int]) -> str:
    """The list of CPUs as the kernel writes it."""
    parts: list[list[int]] = []
    for cpu in sorted(cpus):
        if parts and cpu == parts[-1][-1] + 1:
            parts[-1][1:] = [cpu]
        else:
            parts.append([cpu])
    return ",".join("-".join(map(str, part)) for part in parts)


def read_layout(root: Path = Path("/"), allowed: Collection[int] | None = None) -> CpuLayout:
    """Read the layout from sysfs.

    `allowed` are the logical CPUs that may be used; left out, those of this process (its affinity, which the cpuset of
    its cgroup limits too).
    """
    system = System(root)
    may_use = set(os.sched_getaffinity(0) if allowed is None else allowed)
    online = system.text(f"{_CPU}/online")
    nodes = _nodes(system)
    siblings: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    # Without sysfs (some sandboxes hide it) every allowed CPU counts as a core of its own.
    for cpu in sorted(may_use if online is None else may_use & set(parse_cpu_list(online))):
        package = system.number(f"{_CPU}/cpu{cpu}/topology/physical_package_id") or 0
        # The first sibling names the core: `core_id` is not unique everywhere, and missing in some guests.
        first = min(parse_cpu_list(system.text(f"{_CPU}/cpu{cpu}/topology/thread_siblings_list") or str(cpu)))
        siblings[nodes.get(cpu, 0), max(0, package), first].append(cpu)
    cores = []
    for (node, package, first), cpus in siblings.items():
        number = system.number(f"{_CPU}/cpu{first}/topology/core_id")
        cores.append(Core(node, package, first if number is None else max(0, number), tuple(cpus)))
    return CpuLayout(tuple(sorted(cores)))


def _nodes(system: System) -> dict[int, int]:
    """NUMA node of each logical CPU; nodes with memory only do not appear."""
    return {
        cpu: int(folder.name.removeprefix("node"))
        for folder in system.glob("sys/devices/system/node", "node[0-9]*")
        for cpu in parse_cpu_list(system.text(f"sys/devices/system/node/{folder.name}/cpulist") or "")
    }
