# SPDX-License-Identifier: Apache-2.0
"""The control group of a process: what the kernel charges to its container (cgroup v1, v2 and both at once).

Beside the figures of the process itself it holds what else runs in the container (health checks, shells), the page
cache and kernel memory that limits count, and throttling. Formats: cgroups(7), the kernel's admin-guide/cgroup-v1 and
cgroup-v2.
"""

import glob
import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from steelyard.sampling.procfs import ProcFile

UNIFIED = ""
"""The controller name of version 2, which has one tree for all controllers (as in /proc/PID/cgroup)."""
_FILE_SIZE = 16384
_UNLIMITED = 1 << 60  # version 1 writes a very large number where version 2 writes `max`


class Source(NamedTuple):
    """Where a figure stands."""

    controller: str
    file: str
    key: bytes = b""
    """Of a line `key number`; empty: the number is all that the file holds."""
    unit: float = 1
    """What the kernel's number is multiplied by."""


_V1 = {
    "cpu_s": Source("cpuacct", "cpuacct.usage", unit=1e-9),
    "throttled_s": Source("cpu", "cpu.stat", b"throttled_time", 1e-9),
    "periods": Source("cpu", "cpu.stat", b"nr_periods"),
    "throttled_periods": Source("cpu", "cpu.stat", b"nr_throttled"),
    "memory": Source("memory", "memory.usage_in_bytes"),
    "working_set": Source("memory", "memory.stat", b"total_inactive_file"),
    "peak": Source("memory", "memory.max_usage_in_bytes"),
    "oom_kills": Source("memory", "memory.oom_control", b"oom_kill"),
}
"""Sources in version 1 by column of cgroups.csv: seconds, bytes, and counts since the group was made.

For the working set it is page cache that has not been used lately; `ControlGroup.read` takes it from the memory.
"""
GROUP_COLUMNS = (*_V1, "huge")
"""Of cgroups.csv."""
_HUGE = {False: "hugetlb.*B.usage_in_bytes", True: "hugetlb.*B.current"}
"""Pages of the large-page pool, which are in no figure of the memory controller: a file for each size of page; by
whether it is version 2 (admin-guide/cgroup-v1/hugetlb)."""
_V2 = {
    "cpu_s": Source("cpu", "cpu.stat", b"usage_usec", 1e-6),
    "throttled_s": Source("cpu", "cpu.stat", b"throttled_usec", 1e-6),
    "periods": Source("cpu", "cpu.stat", b"nr_periods"),
    "throttled_periods": Source("cpu", "cpu.stat", b"nr_throttled"),
    "memory": Source("memory", "memory.current"),
    "working_set": Source("memory", "memory.stat", b"inactive_file"),
    "peak": Source("memory", "memory.peak"),
    "oom_kills": Source("memory", "memory.events", b"oom_kill"),
}


class Place(NamedTuple):
    """Where the files of one controller lie for one process."""

    folder: str
    unified: bool


def find(controller: str, pid: int, root: str = "", inside: bool = False) -> Place | None:
    """Where a controller's files lie for a process: version 1 where that has the controller, else version 2.

    The controller has its name of version 1; `root` stands before every path, for recorded trees. `inside` asks for
    what the process itself sees: from the container beside it, in one pod, its group is seen there alone, and may be
    read by the same user.
    """
    membership = parse_membership(_text(f"{root}/proc/{pid}/cgroup"))
    mounts = parse_mounts(_text(f"{root}/proc/{pid if inside else 'self'}/mountinfo"))
    top = f"{root}/proc/{pid}/root" if inside else root
    for name in (controller, UNIFIED):
        for point in (point for point, names in mounts if name in names and name in membership):
            for folder in _folders(f"{top}{point}", membership[name]):
                if str(pid) in _text(f"{folder}/cgroup.procs").split():
                    return Place(folder, name == UNIFIED)
    return None


def parse_mounts(mountinfo: str) -> list[tuple[str, frozenset[str]]]:
    """Mount points of trees in /proc/PID/mountinfo (proc(5)) with their controllers, version 2 as `UNIFIED`.

    The newest comes first: what is mounted over others is seen.
    """
    mounts = []
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields, types = left.split(" "), right.split(" ")
        if len(fields) < 5 or len(types) < 3 or types[0] not in ("cgroup", "cgroup2"):
            continue
        # Spaces and the like stand as octal numbers.
        point = fields[4].encode("latin-1", "replace").decode("unicode_escape")
        mounts.append((point, frozenset([UNIFIED] if types[0] == "cgroup2" else types[2].split(","))))
    return mounts[::-1]


def parse_membership(text: str) -> dict[str, str]:
    """Group of a process by controller, from /proc/PID/cgroup; version 2 under `UNIFIED`."""
    lines = [parts for line in text.splitlines() if len(parts := line.split(":", 2)) == 3]
    return {name: path for _, names, path in lines for name in names.split(",") if path.startswith("/")}


def _folders(point: str, path: str) -> Iterator[str]:
    """The folder that a group has below a mount that shows all groups, then all that the mount has.

    Seen from a container the path and what the mount shows are relative to two groups, and the names between the two
    are not told: only the groups themselves say which of them holds the process.
    """
    yield f"{point}{path}".rstrip("/")
    for name in glob.iglob(f"{glob.escape(point)}/**/cgroup.procs", recursive=True):  # noqa: PTH207
        yield name.rpartition("/")[0]


def number(text: bytes, key: bytes) -> int | None:
    """A number of a file of lines `key number`, or with an empty key the file's only one; None: it is not there, as a
    whole line."""
    at = text.find(b"\n" + key + b" ") + 1 if key else 0
    line, end, _ = text[at:].partition(b"\n")
    start = key + b" " if key else b""
    word = line.removeprefix(start)
    return int(word) if end and line.startswith(start) and word.isdigit() else None


class ControlGroup:
    """The group of one process, with its files held open: like those of /proc they end with the group."""

    def __init__(self, pid: int, root: str = "", *, quota_alone: bool = False) -> None:
        """`quota_alone`: only the quota is that of the process alone; the rest is charged to groups that it shares."""
        controllers = ("cpuacct", "cpu", "memory", "hugetlb")
        places = {name: find(name, pid, root) or find(name, pid, root, inside=True) for name in controllers}
        if quota_alone:
            places |= dict.fromkeys(("cpuacct", "memory", "hugetlb"))
        self.is_seen = any(places.values())
        """Whether its files can be seen from here."""
        self._sources: dict[str, list[tuple[str, Source]]] = {}
        """By column of cgroups.csv the files of which it is the sum."""
        for column, first in _V1.items():
            if place := places[first.controller]:
                source = _V2[column] if place.unified else first
                groups = [place] if column != "throttled_s" or quota_alone else _that_tell(source, place)
                self._sources[column] = [(f"{group.folder}/{source.file}", source) for group in groups]
        if huge := places["hugetlb"]:
            files = Path(huge.folder).glob(_HUGE[huge.unified])
            self._sources["huge"] = [(str(file), Source("hugetlb", file.name)) for file in files]
        paths = {path for sources in self._sources.values() for path, _ in sources}
        self._files = {path: ProcFile(path) for path in paths}

    def read(self) -> dict[str, float] | None:
        """Figures by column of cgroups.csv, but those that the kernel does not tell; None when the group is gone.

        The working set is memory without inactive page cache, as kubelet and `docker stats` count it. Throttling is
        that by the group's own quota and, unless `quota_alone`, by those of the groups above: the kernel counts it only
        in the group that has the quota. A sum, for of the largest count a smaller one could grow unseen.
        """
        contents = {path: file.read(_FILE_SIZE) or b"" for path, file in self._files.items()}
        figures: dict[str, float] = {}
        for column, sources in self._sources.items():
            numbers = [number(contents[path], source.key) for path, source in sources]
            known = [value for value in numbers if value is not None]
            if known and len(known) == len(numbers):  # of one that is not told, no sum is known
                unit = sources[0][1].unit
                figures[column] = sum(known) if unit == 1 else sum(known) * unit
        inactive = figures.pop("working_set", None)
        if inactive is not None and "memory" in figures:
            figures["working_set"] = max(0, figures["memory"] - inactive)
        # Of a group that is gone those above still tell.
        return figures if figures.keys() - {"throttled_s"} else None

    def close(self) -> None:
        """Give the files back."""
        for file in self._files.values():
            file.close()


def _that_tell(source: Source, place: Place) -> list[Place]:
    """Those of a group and the groups above it that tell a figure."""
    return [
        group
        for group in upwards(place)
        if number(_text(f"{group.folder}/{source.file}").encode(), source.key) is not None
    ]


def throttled_seconds(pid: int | None = None, root: str = "") -> float | None:
    """Seconds that a group, our own by default, and those above it were throttled so far (by a CI runner's CPU limit,
    say), summed; None: it is not told.

    With version 2 a group can have a quota, and tells of throttling, only where the group above it passes the CPU
    controller on. Where none up to the kernel's own root has the controller, nothing can throttle it.
    """
    own = os.getpid() if pid is None else pid
    with closing(ControlGroup(own, root)) as group:
        if (seconds := (group.read() or {}).get("throttled_s")) is not None:
            return seconds
    # Every group of version 2 but the root has a type, and the quota of one with the controller is in `cpu.max`.
    above = [place.folder for place in upwards(find("cpu", own, root)) if place.unified]
    if above and not os.path.exists(f"{above[-1]}/cgroup.type"):  # noqa: PTH110 - no Path objects here
        return 0.0
    return None


def cpu_quota(pid: int, root: str = "") -> float | None:
    """The tightest limit on a process's CPU time, of its group or one above, in CPUs; None: no limit (raises
    ValueError: one that is there cannot be read)."""
    quotas = (_quota(place) for place in upwards(find("cpu", pid, root)))
    return min((quota for quota in quotas if quota is not None), default=None)


def memory_high(pid: int, root: str = "") -> int | None:
    """The size above which the kernel slows a process down and takes memory from its group, or one above (version 2);
    bytes, None: none (raises ValueError as `cpu_quota`)."""
    places = [place for place in upwards(find("memory", pid, root)) if place.unified]
    return _least(f"{place.folder}/memory.high" for place in places)


def memory_limit(pid: int, root: str = "") -> int | None:
    """The tightest limit on a process's memory, of its group or one above; bytes, None: no limit (raises ValueError as
    `cpu_quota`)."""
    return _least(
        f"{folder}/{'memory.max' if unified else 'memory.limit_in_bytes'}"
        for folder, unified in upwards(find("memory", pid, root))
    )


def _least(files: Iterable[str]) -> int | None:
    """The least size in files that each hold one or `max`; those that are not there, as of the topmost group, hold
    none."""
    texts = [text for name in files if (text := _text(name).strip()) not in ("", "max")]
    if wrong := next((text for text in texts if not _is_number(text)), None):
        raise ValueError(f"a limit on memory reads {wrong[:40]!r}")
    return min((int(text) for text in texts if int(text) < _UNLIMITED), default=None)


def upwards(place: Place | None) -> Iterator[Place]:
    """The group and those above it that can be seen."""
    while place and os.path.exists(f"{place.folder}/cgroup.procs"):  # noqa: PTH110 - no Path objects here
        yield place
        place = place._replace(folder=place.folder.rpartition("/")[0])


def _quota(place: Place) -> float | None:
    names = ["cpu.max"] if place.unified else ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
    words = " ".join(_text(f"{place.folder}/{name}") for name in names).split()
    if not words or words[0] in ("max", "-1"):
        return None
    if len(words) != 2 or not all(map(_is_number, words)) or int(words[1]) == 0:
        raise ValueError(f"a limit on CPU time reads {' '.join(words)[:40]!r}")
    return int(words[0]) / int(words[1])


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - no Path objects here
            return file.read()
    except OSError:
        return ""
