# SPDX-License-Identifier: Apache-2.0
"""Builds the small files that a kernel shows, for hosts that the tests do not run on."""

import errno
import os
import re
import shutil
from pathlib import Path

from steelyard.host.cpus import cpu_list, parse_cpu_list
from steelyard.host.system import System

THP = "sys/kernel/mm/transparent_hugepage/enabled"
_POOL = "sys/kernel/mm/hugepages/hugepages-2048kB"
PAGES, FREE = f"{_POOL}/nr_hugepages", f"{_POOL}/free_hugepages"
HOLDER = """
import mmap, sys
pages = mmap.mmap(-1, int(sys.argv[1]), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000)  # MAP_HUGETLB
pages[0] = 1
print("ready", flush=True)
sys.stdin.read()
"""
"""A program that takes huge pages of so many bytes, and uses the first."""


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
    put(root, f"{base}/online", ",".join(map(str, online)))
    members: dict[int, list[int]] = {}
    for number, core in enumerate(cores):
        siblings = [cpu for cpu in core if cpu not in offline]
        members.setdefault(number * nodes // len(cores), []).extend(siblings)
        for cpu in siblings:
            put(root, f"{base}/cpu{cpu}/topology/core_id", str(min(core)))
            put(root, f"{base}/cpu{cpu}/topology/physical_package_id", str(number * packages // len(cores)))
            put(root, f"{base}/cpu{cpu}/topology/thread_siblings_list", ",".join(map(str, siblings)))
    for node, inside in members.items():
        put(root, f"sys/devices/system/node/node{8 * node}/cpulist", ",".join(map(str, inside)))
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


CPU = "sys/devices/system/cpu"
CPUSETS = "sys/fs/cgroup/cpuset"


def power(root: Path, cores: int, threads: int = 8, online: int | None = None) -> Path:
    """A POWER host whose firmware tells of so many threads a core, of which the first `online` are."""
    each = [list(range(threads * core, threads * core + threads)) for core in range(cores)]
    off = [cpu for core in each for cpu in core[threads if online is None else online :]]
    cpus(root, each, offline=tuple(off))
    put(root, f"{CPU}/present", f"0-{cores * threads - 1}")
    for core in each:
        for cpu in core:
            put(root, f"{CPU}/cpu{cpu}/online", str(int(cpu not in off)))
        words = b"".join(cpu.to_bytes(4, "big") for cpu in core)
        path = root / f"proc/device-tree/cpus/PowerPC,POWER9@{core[0]:x}/ibm,ppc-interrupt-server#s"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(words)
    return root


class Hotplug(System):
    """A tree whose CPUs go offline and come online as in a kernel: topology goes and comes, CPU sets of version 1 lose
    what goes and do not get it back, an interrupt that loses all of its CPUs gets every one.

    Args:
        root: where; every CPU that is present there belongs to the core that `threads` gives it.
        machine: architecture.
        threads: CPUs of each core.
        control: what `smt/control` shows; `numbers` for a kernel that takes numbers there.
    """

    def __init__(
        self, root: Path, machine: str, threads: list[list[int]], control: str = "notimplemented"
    ) -> None:
        super().__init__(root, machine)
        self.cores, self.writes = threads, list[str]()
        self.numbers = control == "numbers"
        put(root, f"{CPU}/smt/control", "on" if self.numbers else control)

    def online(self) -> set[int]:
        return {int(cpu) for cpu in (self.text(f"{CPU}/online") or "").split(",")}

    def write(self, name: str, text: str) -> None:
        if not name.endswith(("/online", "/control")):
            super().write(name, text)
            return
        self.writes.append(f"{name.removeprefix(CPU + '/')}={text}")
        if name.endswith("/control"):
            most = len(self.cores[0])
            count = {"on": most, "off": 1}.get(text) or int(text)
            shown = {1: "off", most: "on"}.get(count, text)
            put(self.root, name, shown)
            self.bring({cpu for core in self.cores for cpu in core[:count]})
        else:
            cpu = int(name.split("/")[-2].removeprefix("cpu"))
            self.bring(self.online() | {cpu} if text == "1" else self.online() - {cpu})

    def bring(self, wanted: set[int]) -> None:
        gone = self.online() - wanted
        for core in self.cores:
            for cpu in core:
                if (self.root / f"{CPU}/cpu{cpu}/online").exists():
                    put(self.root, f"{CPU}/cpu{cpu}/online", str(int(cpu in wanted)))
                if (self.root / f"{CPU}/cpu{cpu}/topology").exists() and cpu not in wanted:
                    shutil.rmtree(self.root / f"{CPU}/cpu{cpu}/topology")
        cpus(
            self.root,
            self.cores,
            offline=tuple(cpu for core in self.cores for cpu in core if cpu not in wanted),
        )
        for path in (self.root / CPUSETS).glob("*/**/cpuset.cpus"):
            kept = set(parse_cpu_list(path.read_text(encoding="ascii"))) - gone
            path.write_text(cpu_list(kept) + "\n", encoding="ascii")
        for path in (self.root / "proc/irq").glob("*/smp_affinity_list"):
            if not wanted.intersection(parse_cpu_list(path.read_text(encoding="ascii"))):
                path.write_text(cpu_list(wanted) + "\n", encoding="ascii")


class Clocks(Hotplug):
    """Such a tree with a frequency policy for each CPU: its folder stays and keeps its governor when the CPU goes, and
    who reads or writes there is told EBUSY."""

    def __init__(
        self, root: Path, machine: str, threads: list[list[int]], control: str = "notimplemented"
    ) -> None:
        super().__init__(root, machine, threads, control)
        for cpu in (cpu for core in threads for cpu in core):
            folder = f"{CPU}/cpufreq/policy{cpu}"
            put(root, f"{folder}/affected_cpus", str(cpu))
            put(root, f"{folder}/scaling_governor", "powersave")
            put(root, f"{folder}/scaling_available_governors", "performance powersave")

    def _is_busy(self, name: str) -> bool:
        match = re.search(r"cpufreq/policy(\d+)/", name)
        return match is not None and int(match[1]) not in self.online()

    def text(self, name: str) -> str | None:
        return None if self._is_busy(name) else super().text(name)

    def write(self, name: str, text: str) -> None:
        if self._is_busy(name):
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        super().write(name, text)


class Kernel(System):
    """A tree that takes writes as a kernel does: a word is chosen, and huge pages are as many as fit.

    Args:
        root: where; it is given both host states, THP at `madvise` and no page reserved.
        room: huge pages that fit; None: any number.
        room_compacted: the same after memory was compacted.
    """

    def __init__(self, root: Path, room: int | None = None, room_compacted: int | None = None) -> None:
        super().__init__(root)
        self.room, self.room_compacted = room, room_compacted
        self.writes: list[str] = []
        self.taken = 0
        """Huge pages that other programs have."""
        put(root, THP, "always [madvise] never")
        put(root, PAGES, "0")
        put(root, "proc/sys/vm/compact_memory", "")
        put(root, "proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\nHugepagesize: 2048 kB")

    def write(self, name: str, text: str) -> None:
        self.writes.append(f"{name.rpartition('/')[2]}={text}")
        if name == THP:
            words = (self.text(name) or "").replace("[", "").replace("]", "").split()
            text = " ".join(f"[{word}]" if word == text else word for word in words)
        elif name == PAGES and self.room is not None:
            text = str(min(int(text), self.room))
        elif name.endswith("compact_memory"):
            self.room = self.room_compacted or self.room
        super().write(name, text)
        if name == PAGES:
            put(self.root, FREE, str(int(text) - self.taken))
