# SPDX-License-Identifier: Apache-2.0
"""Which processes a component consists of. The one answer to that question: the sampler (here and in pods), readiness,
read-back and clean-up all ask here.

A process belongs to a component when the first of these that is known says so:

- its parent does, whichever of the parent's threads started it (`ppid` of /proc/PID/stat);
- it is in a session or process group that a process of the component leads or led: orphans get another parent, and keep
  these;
- its environment holds the component's mark: one that left its session, too (a daemon).

It stays the component's until it ends. All of /proc is listed each time, and a process is looked at when it is new:
files of all threads (`task/TID/children`) would cost ten times as much with servers of many threads.
"""

import os
from typing import NamedTuple

_KERNEL = 2
"""The process of which the kernel's own threads are children; they have no environment."""


class _Seen(NamedTuple):
    """A process as first seen."""

    start: int
    pid: int
    parent: int
    group: int
    session: int
    ended: bool


class Trees:
    """The processes of some components, brought up to date by `update`."""

    def __init__(self, proc: str = "/proc") -> None:
        self._proc = proc
        self._roots: dict[int, str] = {}
        self._marks: dict[bytes, str] = {}
        self._looked_at: set[str] = set()
        """Processes that were assigned, or are nobody's."""
        self._owners: dict[int, str] = {}
        """Component of each process that runs."""
        self._leaders: dict[int, str] = {}
        """Component of each process that runs or ran: its sessions and groups have these numbers."""
        self._members: dict[str, list[int]] = {}

    def add(self, name: str, root: int, mark: str = "") -> None:
        """Follow another component.

        Args:
            name: of it.
            root: its main process.
            mark: an entry of the environment (`NAME=VALUE`) that its processes alone have; empty: they have none.
        """
        self._roots[root] = name
        self._members[name] = [root]
        self._owners[root] = self._leaders[root] = name
        if mark:
            self._marks[mark.encode()] = name
        self._looked_at.clear()

    def update(self) -> None:
        """Look for processes that were started or have ended since."""
        listed = {name for name in os.listdir(self._proc) if name.isdigit()}  # noqa: PTH208 - no Path objects
        self._looked_at &= listed
        for pid in [pid for pid in self._owners if str(pid) not in listed]:
            self.forget(pid)
        new = sorted(
            seen for name in listed - self._looked_at if (seen := _look_at(name, self._proc)) is not None
        )
        self._looked_at |= listed
        unknown = [seen for seen in new if seen.pid not in self._owners and not self._assign(seen)]
        for seen in unknown if self._marks else ():
            entries = environment(seen.pid, self._proc)
            if entries is None:
                continue
            self._assign(seen, next((self._marks[entry] for entry in entries if entry in self._marks), None))
            if not entries and not seen.ended and _KERNEL not in (seen.pid, seen.parent):
                # It is being replaced by another program and will have an environment in a moment.
                self._looked_at.discard(str(seen.pid))
        # What a process with a mark started may be without one, and started in the same moment.
        while [seen for seen in unknown if seen.pid not in self._owners and self._assign(seen)]:
            pass

    def members(self, name: str) -> list[int]:
        """Processes of a component, its main one first, parents before what they started; those that have ended and
        still wait for their parent to take note among them."""
        return list(self._members[name])

    def forget(self, pid: int) -> None:
        """A process has ended. Its number may be given to another one, which is looked at as a new one."""
        name = self._owners.pop(pid, None)
        if name is not None:
            self._members[name].remove(pid)
            self._looked_at.discard(str(pid))

    def _assign(self, seen: _Seen, name: str | None = None) -> bool:
        """Give a process to its component; whether it has one."""
        if name is None:
            name = self._owners.get(seen.parent)
        for leader in (seen.session, seen.group):
            # That it leads itself says nothing: its number may have been another's before.
            if name is None and leader != seen.pid:
                name = self._leaders.get(leader)
        if name is None:
            self._leaders.pop(seen.pid, None)
            return False
        self._owners[seen.pid] = self._leaders[seen.pid] = name
        self._members[name].append(seen.pid)
        return True


def _look_at(pid: str, proc: str = "/proc") -> _Seen | None:
    try:
        with open(f"{proc}/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123 - no Path objects
            line = file.read(1024)
        fields = line[line.rindex(b")") + 2 :].split(b" ", 20)
        ended = fields[0] in b"ZX"
        return _Seen(int(fields[19]), int(pid), int(fields[1]), int(fields[2]), int(fields[3]), ended)
    except (OSError, ValueError, IndexError):  # it has ended
        return None


def start_ticks(pid: int | str) -> int | None:
    """When a process started, clock ticks since boot: it tells it from a later one of the same number. None: it is
    gone, or only waits to be reaped."""
    seen = _look_at(str(pid))
    return None if seen is None or seen.ended else seen.start


def environment(pid: int, proc: str = "/proc") -> list[bytes] | None:
    """Entries of a process's environment, as it was started with: none while the process is being replaced by another
    program (execve). None: it may not be read."""
    try:
        with open(f"{proc}/{pid}/environ", "rb", buffering=0) as file:  # noqa: PTH123 - no Path objects
            return [entry for entry in file.read().split(b"\0") if entry]
    except OSError:
        return None


def process_tree(pid: int, mark: str = "") -> list[int]:
    """A process, which comes first even if it has ended, and all that belong to its component and run.

    Args:
        pid: the main process.
        mark: as for `Trees.add`.
    """
    trees = Trees()
    trees.add("", pid, mark)
    trees.update()
    return [pid, *(member for member in trees.members("") if member != pid)]
