# SPDX-License-Identifier: Apache-2.0
"""One watched component: CPU, memory, faults, threads by group, PSS and context switches, each the sum over all of its
processes (process_tree.py) at one moment, with what those that have ended had used.

The kernel adds what a process used, and what its ended children did, to its parent's `cutime`, `cminflt` and so on when
the parent takes note of its end (proc(5)). So processes that were never seen count as soon as they have ended. What was
seen and is in no parent's figures after it is gone (an orphan's, or that of a child whose parent ignores SIGCHLD) is
kept here.
"""

import os
import time
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple, Self

from steelyard.measure.thread_groups import GROUPS
from steelyard.process_tree import Trees, start_ticks
from steelyard.sampling.config import Watched
from steelyard.sampling.member import ComponentProcess
from steelyard.sampling.procfs import CLOCK_TICKS, ProcFile, Totals, parse_stat
from steelyard.sampling.threads import RunAndWait
from steelyard.units import add_known

_ATTEMPTS = 4
"""Readings of a component in a moment, until none of its processes ends between the first and the last."""
_YOUNG = 0.1
"""Seconds for which a new process may still have the memory of the one that started it (vfork, posix_spawn)."""


class ProcessFigures(NamedTuple):
    """A component as it was read."""

    totals: Totals
    threads: int
    processes: int
    """Those that run."""
    ended: int
    """Those that are known to have ended so far. Of those that nobody had seen, one for all between two readings, and
    none where one that was seen ended too."""


class Process:
    """A watched component: its main process, and all others that belong to it."""

    def __init__(self, watched: Watched) -> None:
        self.name = watched.name
        self.is_server = watched.role == "server"
        self._role = watched.role
        self._alone = watched.alone or watched.role in ("engine", "harness")
        """Of the harness and of an engine: their children are watched themselves."""
        self.pid = watched.pid
        self._members = {watched.pid: ComponentProcess(watched.pid, watched.role)}
        """Parents before what they started."""
        self._watched_children: set[int] = set()
        """Those of an engine that were seen below it; they stay when they have ended."""
        self.gone: list[int] = []
        """Processes that were found gone in the last reading."""
        self._ended = Totals()
        """What processes had used that have ended and are in no other's figures."""
        self._ended_groups = dict.fromkeys(GROUPS, 0)
        self._ended_switches = [0, 0]
        self._ended_queues = dict.fromkeys(GROUPS, RunAndWait())
        self._ended_wait = 0.0
        self._ended_count = 0
        self.cpu = 0.0
        """CPU seconds at the last reading, in ticks as those of its threads."""
        self.used = 0.0
        """The same as exactly as the kernel tells."""
        self.helpers = 0.0
        """CPU seconds of an engine's children, those that have ended and those that run; in `used`."""
        self.ended = False
        """Whether none of its processes runs any more."""
        self.epoch = 0.0
        """When it was read."""
        self.rss: int | None = None
        """Resident bytes; None: it has ended, or a process does not tell."""
        self.started = 0.0
        """When the main process started, seconds since boot; known once it was read."""

    @property
    def alone(self) -> bool:
        """Whether only its main process is meant."""
        return self._alone

    def take(self, pids: Sequence[int]) -> None:
        """Its processes are these now, parents before what they started. Others stay until they are gone."""
        for pid in pids:
            if pid not in self._members:
                self._members[pid] = ComponentProcess(pid, self._role)

    def read_threads(self, everything: bool) -> None:
        """Read the threads; before `read`, so that the CPU of processes is never less than theirs."""
        for member in self._members.values():
            if member.threads is not None:
                member.threads.read(member.count, everything)

    def read(self, watched: Mapping[int, Self] | None = None) -> ProcessFigures | None:
        """Read all processes; None when none is left. The last reading of one that ended has its final counts, if
        whoever started it has not yet taken note of its end.

        Args:
            watched: by id of their main processes, those that are read for themselves, and so are not an engine's
                helpers.
        """
        self.gone = []
        for _ in range(_ATTEMPTS):
            self.epoch = time.time()
            # One that ends between the reading of its parent and its own is in neither; in the next reading it is.
            gone = [member for member in self._members.values() if not member.read()]
            self._bury(gone)
            if not gone:
                break
        members = list(self._members.values())
        stats = [member.stat for member in members if member.stat is not None]
        alive = [member for member in members if member.alive]
        self.ended = not alive
        if not stats:
            return None
        if self.pid in self._members:
            self.started = (self._members[self.pid].stat or stats[0]).start / CLOCK_TICKS
        totals, children = self._ended, Totals()
        for member in members:
            if member.stat is None:
                continue
            totals = totals.plus(member.stat.own)
            if not self._alone:
                children = children.plus(member.stat.children)
            # No process runs without page faults, and none that was seen has had these.
            if not member.buried and member.stat.children.beyond(member.known).minor_faults:
                self._ended_count += 1
            member.known, member.credited, member.buried = member.stat.children, Totals(), False
        totals = totals.plus(children)
        self.cpu = totals.cpu / CLOCK_TICKS
        self._read_memory(alive)
        if self._role == "engine":
            self._read_helpers(watched or {})
        exact = sum(member.exact for member in members)
        self.used = exact + (children.cpu + self._ended.cpu) / CLOCK_TICKS + self.helpers
        return ProcessFigures(totals, sum(member.count for member in alive), len(alive), self._ended_count)

    def cpu_by_group(self) -> dict[str, float]:
        """CPU seconds by group; they add up to `cpu`: what was in no thread when read is in `other`."""
        sources = [
            self._ended_groups,
            *(member.threads.ticks for member in self._members.values() if member.threads),
        ]
        ticks = {group: sum(source[group] for source in sources) for group in GROUPS if group != "other"}
        seconds = {group: count / CLOCK_TICKS for group, count in ticks.items()}
        seconds["other"] = max(0.0, self.cpu - sum(seconds.values()))
        return seconds

    def queue(self, group: str) -> RunAndWait | None:
        """How long the threads of a group ran and waited for a CPU; None: the kernel does not tell."""
        total = self._ended_queues[group]
        for member in self._members.values():
            if member.threads is not None:
                if (queue := member.threads.queue(group)) is None:
                    return None
                total = total.plus(queue)
        return total

    def read_pss(self) -> int | None:
        """Proportional memory of all processes together, bytes; None where one that runs does not tell."""
        return self._sum([(member, member.pss()) for member in self._members.values() if member.alive])

    def read_switches(self) -> list[int] | None:
        """Voluntary and involuntary context switches of all threads; None: the kernel does not tell them. What
        processes did that have ended meanwhile is not known, and not in it."""
        for member in self._members.values():
            if member.threads is not None and member.alive:
                if (switched := member.threads.switches()) is None:
                    return None
                member.switched = switched
        counts = (member.switched for member in self._members.values())
        return [sum(column) for column in zip(self._ended_switches, *counts, strict=True)]

    def read_wait(self) -> float | None:
        """Seconds that threads of an injector had work and waited for a CPU; None: the kernel does not tell."""
        waits = []
        for member in self._members.values():
            if member.run_queue is not None:
                member.waited = member.run_queue.wait()
                waits.append(member.waited)
        running = add_known(waits)
        return None if running is None else self._ended_wait + running

    def _bury(self, gone: Sequence[ComponentProcess]) -> None:
        """Account for processes that have ended: each is in what its parent tells of ended children, or is kept."""
        heirs: dict[int, list[ComponentProcess]] = {}
        for member in gone:
            del self._members[member.pid]
            self.gone.append(member.pid)
            member.close()
            if member.stat is None:
                continue  # it had ended before it was read
            self._ended_count += 1
            self._ended_switches = [
                sum(both) for both in zip(self._ended_switches, member.switched, strict=True)
            ]
            self._ended_wait += member.waited or 0.0
            if member.threads is not None:
                for group, ticks in member.threads.ticks.items():
                    self._ended_groups[group] += ticks
                    queue = member.threads.queue(group) or RunAndWait()
                    self._ended_queues[group] = self._ended_queues[group].plus(queue)
            heirs.setdefault(self._heir(member, gone), []).append(member)
        for pid, left in heirs.items():
            owed = Totals()
            for member in left:
                assert member.stat is not None
                owed = owed.plus(member.stat.own).plus(member.stat.children).plus(member.inherited)
            heir = self._members.get(pid)
            # It may have been read before they ended.
            if heir is not None and not heir.read():
                heir.inherited, owed = heir.inherited.plus(owed), Totals()
            elif heir is not None and heir.stat is not None:
                reported = heir.stat.children.beyond(heir.known).beyond(heir.credited)
                kept = owed.beyond(reported)
                heir.credited, heir.buried = heir.credited.plus(owed.beyond(kept)), True
                owed = kept
            self._ended = self._ended.plus(owed)

    def _heir(self, member: ComponentProcess, gone: Sequence[ComponentProcess]) -> int:
        """The nearest process above it that is still there; 0: none."""
        parents = {each.pid: each.stat.parent for each in gone if each.stat is not None}
        pid = parents[member.pid]
        for _ in gone:
            pid = parents.get(pid, pid)
        return pid if pid in self._members and not self._alone else 0

    def _read_memory(self, alive: Sequence[ComponentProcess]) -> None:
        boot = time.clock_gettime(time.CLOCK_BOOTTIME)
        for member in alive:
            assert member.stat is not None
            parent = self._members.get(member.stat.parent)
            member.borrows = (
                parent is not None
                and boot - member.stat.start / CLOCK_TICKS < _YOUNG
                and member.shape == parent.shape
            )
        self.rss = self._sum([(member, member.rss()) for member in alive])

    def _sum(self, sizes: Sequence[tuple[ComponentProcess, int | None]]) -> int | None:
        """Memory of processes together. One without a figure that has just ended has none; with another it is
        unknown."""
        total, known = 0, False
        for member, size in sizes:
            if member.borrows:
                continue
            if size is not None:
                total, known = total + size, True
            elif start_ticks(member.pid) is not None:
                return None
        return total if known else None

    def _read_helpers(self, watched: Mapping[int, Self]) -> None:
        """The kernel adds to an engine process what a child used, once its end is noticed. Of a watched one all that
        was read before is counted for itself; what it used between its last reading and its end remains, and is the
        engine's: nobody else knows of it."""
        running = children(self.pid)
        self._watched_children |= running & watched.keys()
        ended = {pid for pid in self._watched_children if not _exists(pid)}
        line = ProcFile(f"/proc/{self.pid}/stat", keep=False).read()
        if line is None:
            return
        ticks = parse_stat(line).children.cpu + sum(
            _ticks_below(pid, watched.keys()) for pid in running - watched.keys()
        )
        # One that ended meanwhile may be in the reading above or not: then the figure waits for the next.
        if all(_exists(pid) for pid in self._watched_children - ended):
            known = sum(watched[pid].used for pid in ended)
            self.helpers = ticks / CLOCK_TICKS - known


def read_usage(pid: int, mark: str = "") -> tuple[float | None, int | None]:
    """CPU seconds and resident bytes of a component now, as the sampler reads them; None where nothing of it runs.

    Args:
        pid: its main process.
        mark: as for `Trees.add`.
    """
    process, trees = Process(Watched("", pid, "backing")), Trees()
    trees.add("", pid, mark)
    trees.update()
    process.take(trees.members(""))
    return (process.used, process.rss) if process.read() is not None and not process.ended else (None, None)


def _ticks_below(pid: int, watched: Set[int]) -> int:
    """CPU ticks of a process and of all that it started, ended or running, but for the watched."""
    line = ProcFile(f"/proc/{pid}/stat", keep=False).read()
    if line is None:
        return 0
    stat = parse_stat(line)
    below = sum(_ticks_below(child, watched) for child in children(pid) - watched)
    return stat.own.cpu + stat.children.cpu + below


def _exists(pid: int) -> bool:
    """Whether it runs, or has ended and its parent has not yet taken note."""
    return ProcFile(f"/proc/{pid}/stat", keep=False).read() is not None


def children(pid: int) -> set[int]:
    """Running children of all threads of a process."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - names as text: no Path objects
    except OSError:
        return set()
    listed = (ProcFile(f"/proc/{pid}/task/{tid}/children", keep=False).read(65536) for tid in threads)
    return {int(word) for text in listed if text for word in text.split()}
