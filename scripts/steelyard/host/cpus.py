# SPDX-License-Identifier: Apache-2.0
"""The CPUs that this process may use, as physical cores."""

import os
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple


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
    def packages(self) -> int:
        """Sockets that the cores lie on."""
        return len({core.package for core in self.cores})


def parse_cpu_list(text: str) -> list[int]:
    """CPUs of a list as the kernel writes it: `0-3,8,10-11`."""
    cpus: list[int] = []
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            cpus += range(int(first), int(last or first) + 1)
    return cpus


def format_cpu_list(cpus: Collection[int]) -> str:
    """The kernel's way of writing a list of CPUs."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in runs)


def read_layout(root: Path = Path("/"), allowed: Collection[int] | None = None) -> CpuLayout:
    """Read the layout from sysfs.

    Args:
        root: folder that holds `sys/`; another than `/` for recorded trees.
        allowed: logical CPUs that may be used; left out, those of this process (its affinity, which the cpuset of its
            cgroup limits too).
    """
    may_use = set(os.sched_getaffinity(0) if allowed is None else allowed)
    folder = root / "sys/devices/system/cpu"
    online = _list(folder / "online")
    node_of = _nodes(root)
    siblings: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    # Without sysfs (some sandboxes hide it) every allowed CPU counts as a core of its own.
    for cpu in sorted(may_use if online is None else may_use & set(online)):
        topology = folder / f"cpu{cpu}" / "topology"
        package = _number(topology / "physical_package_id", 0)
        # The first sibling names the core: `core_id` is not unique everywhere, and missing in some guests.
        together = _list(topology / "thread_siblings_list") or [cpu]
        siblings[node_of.get(cpu, 0), package, min(together)].append(cpu)
    cores = [
        Core(node, package, _number(folder / f"cpu{first}" / "topology" / "core_id", first), tuple(cpus))
        for (node, package, first), cpus in siblings.items()
    ]
    return CpuLayout(tuple(sorted(cores)))


def _nodes(root: Path) -> dict[int, int]:
    """NUMA node of each logical CPU; nodes with memory only do not appear."""
    found: dict[int, int] = {}
    for folder in (root / "sys/devices/system/node").glob("node[0-9]*"):
        for cpu in _list(folder / "cpulist") or []:
            found[cpu] = int(folder.name.removeprefix("node"))
    return found


def _list(path: Path) -> list[int] | None:
    try:
        return parse_cpu_list(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _number(path: Path, default: int) -> int:
    try:
        return max(0, int(path.read_text(encoding="ascii")))
    except (OSError, ValueError):
        return default
