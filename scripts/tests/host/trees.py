# SPDX-License-Identifier: Apache-2.0
"""Builds the small files that a kernel shows, for hosts that the tests do not run on."""

from pathlib import Path

from steelyard.host.cpus import format_cpu_list


def put(root: Path, name: str, content: str) -> None:
    """One file."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content + "\n", encoding="utf-8")


def cpus(
    root: Path, cores: list[list[int]], *, packages: int = 1, nodes: int = 1, offline: tuple[int, ...] = ()
) -> Path:
    """CPU topology as sysfs shows it.

    Args:
        root: where.
        cores: logical CPUs of each core; cores are spread over packages and nodes in order.
        packages: sockets.
        nodes: NUMA nodes; numbered 0, 8, 16... as POWER does when there is more than one.
        offline: logical CPUs that are switched off: as in sysfs, they have no topology.
    """
    base = "sys/devices/system/cpu"
    online = [cpu for core in cores for cpu in core if cpu not in offline]
    put(root, f"{base}/online", format_cpu_list(online))
    members: dict[int, list[int]] = {}
    for number, core in enumerate(cores):
        siblings = [cpu for cpu in core if cpu not in offline]
        members.setdefault(number * nodes // len(cores), []).extend(siblings)
        for cpu in siblings:
            put(root, f"{base}/cpu{cpu}/topology/core_id", str(min(core)))
            put(root, f"{base}/cpu{cpu}/topology/physical_package_id", str(number * packages // len(cores)))
            put(root, f"{base}/cpu{cpu}/topology/thread_siblings_list", format_cpu_list(siblings))
    for node, inside in members.items():
        put(root, f"sys/devices/system/node/node{8 * node}/cpulist", format_cpu_list(inside))
    return root


def x86_smt2(root: Path) -> Path:
    """Two sockets of four cores; the second threads are numbered after all first ones, as x86 firmware does."""
    return cpus(root, [[core, core + 8] for core in range(8)], packages=2, nodes=2)


def power9_smt8(root: Path, nodes: int = 1) -> Path:
    """A POWER9 of 16 cores with 8 threads each, numbered core by core."""
    return cpus(
        root, [list(range(8 * core, 8 * core + 8)) for core in range(16)], packages=nodes, nodes=nodes
    )


def small_vm(root: Path) -> Path:
    """A guest with two CPUs."""
    return cpus(root, [[0], [1]])
