# SPDX-License-Identifier: Apache-2.0
"""The control group of a process: what the kernel charges to its container (cgroup v1, v2 and both at once).

Beside the figures of the process itself it holds what else runs in the container (health checks, shells), the page
cache and kernel memory that limits count, and throttling. Formats: cgroups(7), the kernel's admin-guide/cgroup-v1 and
cgroup-v2.
"""

import glob
import time
from collections.abc import Iterator
from typing import NamedTuple

from steelyard.sampling.procfs import Files, ProcFile

UNIFIED = ""
"""The controller name of version 2, which has one tree for all controllers (as in /proc/PID/cgroup)."""
_FILE_SIZE = 16384


class Mount(NamedTuple):
    """A mounted tree of control groups."""

    point: str
    root: str
    """The group that is seen at the mount point; with leading `/..` when it lies above the reader's own namespace."""
    controllers: frozenset[str]
    """Controllers of version 1; `UNIFIED` alone for version 2."""


class Place(NamedTuple):
    """Where the files of one controller lie for one process."""

    folder: str
    unified: bool


class CpuUse(NamedTuple):
    """CPU of a group since it was made; None where the kernel does not tell."""

    seconds: float | None
    throttled: float | None
    """Seconds, summed over the CPUs on which it had to wait."""
    periods: int | None
    """Enforcement periods that passed while it ran; 0 without a quota."""
    throttled_periods: int | None


class GroupReading(NamedTuple):
    """One sample of a group; sizes in bytes; None where the kernel does not tell."""

    epoch: float
    cpu: CpuUse
    memory: int | None
    working_set: int | None
    """Memory without page cache that has not been used lately."""
    peak: int | None
    """Highest memory since the group was made."""
    oom_kills: int | None


def parse_mounts(mountinfo: str) -> list[Mount]:
    """The mounted trees in /proc/PID/mountinfo (proc(5)), the newest first: what is mounted over others is seen."""
    found = []
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields, kind = left.split(" "), right.split(" ")
        if len(fields) < 5 or len(kind) < 3 or kind[0] not in ("cgroup", "cgroup2"):
            continue
        names = frozenset([UNIFIED]) if kind[0] == "cgroup2" else frozenset(kind[2].split(","))
        found.append(Mount(_unescaped(fields[4]), _unescaped(fields[3]), names))
    return found[::-1]


def _unescaped(field: str) -> str:
    """Spaces and the like stand as octal numbers in mountinfo."""
    return field.encode("latin-1", "replace").decode("unicode_escape") if "\\" in field else field


def parse_membership(text: str) -> dict[str, str]:
    """Group of a process by controller, from /proc/PID/cgroup; version 2 under `UNIFIED`."""
    found = {}
    for line in text.splitlines():
        parts = line.split(":", 2)
        if len(parts) == 3:
            for controller in parts[1].split(","):
                found[controller] = parts[2]
    return found


def candidates(mount: Mount, path: str) -> str | None:
    """Pattern (as of `glob`) of the folders that a group may have below a mount; None: it is not below it.

    Path and mount root are relative to the reader's own control-group namespace. Seen from a container both may begin
    with `/..`, and the names of the groups between the two are then unknown: a star each.
    """
    up_root, root = _split(mount.root)
    up_path, names = _split(path)
    if up_path > up_root:
        return None
    whole = ["*"] * (up_root - up_path) + [glob.escape(name) for name in names]
    if len(root) > len(whole):
        return None
    if any(name not in ("*", glob.escape(known)) for name, known in zip(whole, root, strict=False)):
        return None
    return "/".join([glob.escape(mount.point.rstrip("/")), *whole[len(root) :]])


def _split(path: str) -> tuple[int, list[str]]:
    """Steps up, and the names after them."""
    names = [name for name in path.split("/") if name]
    up = 0
    while up < len(names) and names[up] == "..":
        up += 1
    return up, names[up:]


def find(controller: str, pid: int, membership: dict[str, str], mounts: list[Mount]) -> Place | None:
    """Where a controller's files lie for a process: version 1 where that has the controller, else version 2."""
    for name in (controller, UNIFIED):
        if name not in membership:
            continue
        for mount in mounts:
            if name in mount.controllers:
                for folder in _folders(mount, membership[name]):
                    if _holds(folder, pid):
                        return Place(folder, name == UNIFIED)
    return None


def _folders(mount: Mount, path: str) -> Iterator[str]:
    pattern = candidates(mount, path)
    return glob.iglob(pattern) if pattern is not None else iter(())  # noqa: PTH207 - no Path objects here


def _holds(folder: str, pid: int) -> bool:
    """Whether the process is in this very group: several mounts, or groups of one name, may fit its path."""
    try:
        with open(f"{folder}/cgroup.procs", encoding="ascii") as file:  # noqa: PTH123 - no Path objects here
            return str(pid) in file.read().split()
    except OSError:
        return False


def number(text: bytes, key: bytes) -> int | None:
    """A number of a file of lines `key number`; None when the key is not there."""
    at = 0 if text.startswith(key + b" ") else text.find(b"\n" + key + b" ") + 1
    if at == 0 and not text.startswith(key + b" "):
        return None
    return int(text[at + len(key) + 1 :].split(None, 1)[0])


def parse_cpu_unified(stat: bytes) -> CpuUse:
    """Read `cpu.stat` of version 2; without the controller it only tells the CPU used."""
    used, throttled = number(stat, b"usage_usec"), number(stat, b"throttled_usec")
    return CpuUse(
        used / 1e6 if used is not None else None,
        throttled / 1e6 if throttled is not None else None,
        number(stat, b"nr_periods"),
        number(stat, b"nr_throttled"),
    )


def parse_cpu(usage: bytes | None, stat: bytes | None) -> CpuUse:
    """Read `cpuacct.usage` and `cpu.stat` of version 1, both in nanoseconds."""
    throttled = number(stat or b"", b"throttled_time")
    return CpuUse(
        int(usage) / 1e9 if usage else None,
        throttled / 1e9 if throttled is not None else None,
        number(stat or b"", b"nr_periods"),
        number(stat or b"", b"nr_throttled"),
    )


def working_set(memory: int | None, stat: bytes | None) -> int | None:
    """Memory without inactive page cache, as kubelet and `docker stats` count it; version 1 needs the `total_` line."""
    if memory is None or stat is None:
        return None
    inactive = number(stat, b"total_inactive_file")
    if inactive is None:
        inactive = number(stat, b"inactive_file")
    return max(0, memory - inactive) if inactive is not None else None


class ControlGroup:
    """The group of one process, with its files held open: like those of /proc they end with the group."""

    def __init__(self, pid: int, files: Files, proc: str = "/proc") -> None:
        membership = parse_membership(_text(f"{proc}/{pid}/cgroup"))
        mounts = parse_mounts(_text(f"{proc}/self/mountinfo"))
        self._files = files
        self._open: list[ProcFile] = []
        cpu = find("cpu", pid, membership, mounts)
        memory = find("memory", pid, membership, mounts)
        account = find("cpuacct", pid, membership, mounts)
        self.found = cpu is not None or memory is not None
        """Whether its files can be seen from here."""
        self._cpu_unified = cpu is not None and cpu.unified
        self._cpu_stat = self._file(cpu, "cpu.stat", "cpu.stat")
        self._cpu_usage = None
        if account is not None and not account.unified:
            self._cpu_usage = self._file(account, "cpuacct.usage", "")
        self._memory = self._file(memory, "memory.usage_in_bytes", "memory.current")
        self._peak = self._file(memory, "memory.max_usage_in_bytes", "memory.peak")
        self._memory_stat = self._file(memory, "memory.stat", "memory.stat")
        self._oom = self._file(memory, "memory.oom_control", "memory.events")

    def read(self) -> GroupReading | None:
        """Read the group; None when it is gone or cannot be seen."""
        epoch = time.time()
        cpu_stat = _content(self._cpu_stat)
        cpu = (
            parse_cpu_unified(cpu_stat or b"")
            if self._cpu_unified
            else parse_cpu(_content(self._cpu_usage), cpu_stat)
        )
        memory = _integer(self._memory)
        if cpu.seconds is None and memory is None:
            return None
        kills = _content(self._oom)
        return GroupReading(
            epoch,
            cpu,
            memory,
            working_set(memory, _content(self._memory_stat)),
            _integer(self._peak),
            number(kills, b"oom_kill") if kills is not None else None,
        )

    def close(self) -> None:
        """Give the files back."""
        for file in self._open:
            file.close()

    def _file(self, place: Place | None, name: str, unified_name: str) -> ProcFile | None:
        if place is None:
            return None
        file = ProcFile(f"{place.folder}/{unified_name if place.unified else name}", self._files)
        self._open.append(file)
        return file


def _content(file: ProcFile | None) -> bytes | None:
    return file.read(_FILE_SIZE) if file is not None else None


def _integer(file: ProcFile | None) -> int | None:
    content = _content(file)
    return int(content) if content else None


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - no Path objects here
            return file.read()
    except OSError:
        return ""
