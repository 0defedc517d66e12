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
from contextlib import suppress
from typing import NamedTuple, Self

from steelyard.measure.thread_groups import GROUPS, group_of
from steelyard.process_tree import Trees
from steelyard.sampling.config import Watched
from steelyard.sampling.procfs import (
    CLOCK_TICKS,
    ENDED_STATES,
    ProcFile,
    Stat,
    Totals,
    cpu_clock,
    has_large_pages,
    parse_comm_and_ticks,
    parse_schedstat,
    parse_stat,
    status_number,
)

IDLE_SKIP = 3
_ATTEMPTS = 4
"""Readings of a component in a moment, until none of its processes ends between the first and the last."""
_YOUNG = 0.1
"""Seconds for which a new process may still have the memory of the one that started it (vfork, posix_spawn)."""
_SHAPE = (b"VmSize", b"VmData", b"VmStk", b"VmExe", b"VmLib")


class _Thread:
    __slots__ = ("comm", "group", "skip", "stat", "switches", "ticks")

    def __init__(self, stat: ProcFile) -> None:
        self.stat = stat
        self.skip = 0
        self.comm = b""
        self.group = "other"
        self.ticks = 0
        self.switches = [0, 0]


class Threads:
    """The threads of a process. What an ended thread used stays in its group.

    Most threads of a server sleep most of the time: one that used no CPU since its last reading is passed over for
    `IDLE_SKIP` readings. What it uses meanwhile is in `other` until then. A compiler's is not: it may sleep between two
    readings and then work for seconds, and while those seconds were in `other`, warm-ups ended as if it slept on.
    """

    def __init__(self, pid: int) -> None:
        self._folder = f"/proc/{pid}/task"
        self._threads: dict[str, _Thread] = {}
        self._ticks = dict.fromkeys(GROUPS, 0)
        self._ended_switches = [0, 0]

    def read(self, count: int, everything: bool = False) -> None:
        """Add what each thread used since the last reading.

        Args:
            count: threads that the process has; the folder is listed only when that or a thread has changed.
            everything: pass no thread over.
        """
        gone = False
        for thread in self._threads.values():
            if thread.skip and not everything:
                thread.skip -= 1
            elif not self._read(thread):
                gone = True
        if gone or count != len(self._threads):
            self._list()

    @property
    def ticks(self) -> Mapping[str, int]:
        """CPU by group, as last read."""
        return self._ticks

    def close(self) -> None:
        """Give the files back; what was read stays."""
        for thread in self._threads.values():
            thread.stat.close()

    def switches(self) -> list[int] | None:
        """Voluntary and involuntary context switches of all threads, read now (the dear part: a file each); None: the
        kernel does not tell them."""
        for tid, thread in self._threads.items():
            status = ProcFile(f"{self._folder}/{tid}/status")
            content = status.read(4096)
            status.close()
            if content:
                fields = (b"voluntary_ctxt_switches", b"nonvoluntary_ctxt_switches")
                counted = [
                    number for field in fields if (number := status_number(content, field)) is not None
                ]
                if len(counted) < len(fields):
                    return None
                thread.switches = counted
        counts = (thread.switches for thread in self._threads.values())
        return [sum(column) for column in zip(self._ended_switches, *counts, strict=True)]

    def _read(self, thread: _Thread) -> bool:
        line = thread.stat.read(512)
        if line is None:
            return False
        comm, ticks = parse_comm_and_ticks(line)
        if comm != thread.comm:
            thread.comm = comm
            thread.group = group_of(comm.decode(errors="replace"))
        if ticks == thread.ticks and thread.group != "jit":
            thread.skip = IDLE_SKIP
        self._ticks[thread.group] += ticks - thread.ticks
        thread.ticks = ticks
        return True

    def _forget(self, tid: str) -> None:
        thread = self._threads.pop(tid)
        thread.stat.close()
        for kind, count in enumerate(thread.switches):
            self._ended_switches[kind] += count

    def _list(self) -> None:
        try:
            listed = os.listdir(self._folder)  # noqa: PTH208 - names as text, once a second: no Path objects
        except OSError:
            return
        for tid in self._threads.keys() - set(listed):
            self._forget(tid)
        for tid in listed:
            if tid not in self._threads:
                thread = _Thread(ProcFile(f"{self._folder}/{tid}/stat"))
                if self._read(thread):
                    self._threads[tid] = thread
                else:
                    thread.stat.close()


class RunQueue:
    """How long the threads of a process waited for a CPU although they had work: /proc/PID/task/TID/schedstat.

    Its second figure, in nanoseconds (the kernel's scheduler/sched-stats.rst); needs CONFIG_SCHED_INFO, as
    distributions have it.
    """

    def __init__(self, pid: int) -> None:
        self._folder = f"/proc/{pid}/task"
        self._files: dict[str, ProcFile] = {}
        self._read: dict[str, tuple[int, int]] = {}
        """By thread: nanoseconds that it ran and waited. What an ended thread waited stays."""

    def wait(self) -> float | None:
        """Seconds since the process started, over all threads; None: the kernel does not tell."""
        with suppress(OSError):
            listed = set(os.listdir(self._folder))  # noqa: PTH208 - as in `Threads`
            for tid in self._files.keys() - listed:
                self._files.pop(tid).close()
            for tid in listed:
                file = self._files.setdefault(tid, ProcFile(f"{self._folder}/{tid}/schedstat"))
                if content := file.read(64):
                    if (figures := parse_schedstat(content)) is None:
                        return None
                    self._read[tid] = figures
        ran, waited = (sum(column) for column in zip((0, 0), *self._read.values(), strict=True))
        return waited / 1e9 if ran else None

    def close(self) -> None:
        """Give the files back."""
        for file in self._files.values():
            file.close()


class _Member:
    """One process of a component."""

    def __init__(self, pid: int, role: str) -> None:
        self.pid = pid
        self._stat = ProcFile(f"/proc/{pid}/stat")
        self._status = ProcFile(f"/proc/{pid}/status")
        self._rollup = ProcFile(f"/proc/{pid}/smaps_rollup")
        self.threads = Threads(pid) if role == "server" else None
        self.run_queue = RunQueue(pid) if role == "injector" else None
        self.stat: Stat | None = None
        self.status: bytes | None = None
        """None: it has ended, or does not tell."""
        self.exact = 0.0
        """CPU seconds, of itself."""
        self.known = Totals()
        """What its ended children had used when the component was read before."""
        self.credited = Totals()
        """What of theirs since then is known to be that of processes that were seen."""
        self.buried = False
        """Whether processes that were seen ended below it since then. More than was seen of them may be theirs too:
        what they did between their last reading and their end."""
        self.inherited = Totals()
        """What ended children had used that it may have taken note of after its last reading, of which there is none
        more."""
        self.borrows = False
        """Whether its memory is still that of the process that started it."""
        self.switched = [0, 0]
        self.waited: float | None = None

    @property
    def alive(self) -> bool:
        """Whether it had not ended when it was read."""
        return self.stat is not None and self.stat.state not in ENDED_STATES

    @property
    def count(self) -> int:
        """Its threads. More than are known yet at first, so that the first reading already lists them: a window may
        begin there."""
        return self.stat.threads if self.stat is not None else 1

    def read(self) -> bool:
        """Whether it is there; what was read before stays if not."""
        line = self._stat.read()
        if line is None:
            return False
        self.stat = parse_stat(line)
        self.status = self._status.read(4096) if self.alive else None
        self.exact = cpu_clock(self.pid) or self.stat.own.cpu / CLOCK_TICKS
        return True

    def rss(self) -> int | None:
        """Resident bytes with the large-page pool's, which the kernel's own RSS leaves out."""
        return _memory(self.status, b"VmRSS", b"HugetlbPages")

    def pss(self) -> int | None:
        """Proportional memory in bytes, the large-page pool included. Dear: the kernel walks all page tables."""
        return _memory(self._rollup.read(4096), b"Pss", b"Private_Hugetlb", b"Shared_Hugetlb")

    def exists(self) -> bool:
        """Whether it is still there."""
        return self._stat.read() is not None

    def close(self) -> None:
        """Give the files back."""
        for file in (self._stat, self._status, self._rollup):
            file.close()
        if self.threads is not None:
            self.threads.close()
        if self.run_queue is not None:
            self.run_queue.close()


class Figures(NamedTuple):
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
        self._members = {watched.pid: _Member(watched.pid, watched.role)}
        """Parents before what they started."""
        self._watched_children: set[int] = set()
        """Those of an engine that were seen below it; they stay when they have ended."""
        self.gone: list[int] = []
        """Processes that were found gone in the last reading."""
        self._ended = Totals()
        """What processes had used that have ended and are in no other's figures."""
        self._ended_groups = dict.fromkeys(GROUPS, 0)
        self._ended_switches = [0, 0]
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
                self._members[pid] = _Member(pid, self._role)

    def read_threads(self, everything: bool) -> None:
        """Read the threads; before `read`, so that the CPU of processes is never less than theirs."""
        for one in self._members.values():
            if one.threads is not None:
                one.threads.read(one.count, everything)

    def read(self, watched: Mapping[int, Self] | None = None) -> Figures | None:
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
            gone = [one for one in self._members.values() if not one.read()]
            self._bury(gone)
            if not gone:
                break
        members = list(self._members.values())
        stats = [one.stat for one in members if one.stat is not None]
        alive = [one for one in members if one.alive]
        self.ended = not alive
        if not stats:
            return None
        if self.pid in self._members:
            self.started = (self._members[self.pid].stat or stats[0]).start / CLOCK_TICKS
        totals, children = self._ended, Totals()
        for one in members:
            if one.stat is None:
                continue
            totals = totals.plus(one.stat.own)
            if not self._alone:
                children = children.plus(one.stat.children)
            # No process runs without page faults, and none that was seen has had these.
            if not one.buried and one.stat.children.beyond(one.known).minor_faults:
                self._ended_count += 1
            one.known, one.credited, one.buried = one.stat.children, Totals(), False
        totals = totals.plus(children)
        self.cpu = totals.cpu / CLOCK_TICKS
        self._read_memory(alive)
        if self._role == "engine":
            self._read_helpers(watched or {})
        exact = sum(one.exact for one in members)
        self.used = exact + (children.cpu + self._ended.cpu) / CLOCK_TICKS + self.helpers
        return Figures(totals, sum(one.count for one in alive), len(alive), self._ended_count)

    def cpu_by_group(self) -> dict[str, float]:
        """CPU seconds by group; they add up to `cpu`: what was in no thread when read is in `other`."""
        sources = [self._ended_groups, *(one.threads.ticks for one in self._members.values() if one.threads)]
        ticks = {group: sum(source[group] for source in sources) for group in GROUPS if group != "other"}
        seconds = {group: count / CLOCK_TICKS for group, count in ticks.items()}
        seconds["other"] = max(0.0, self.cpu - sum(seconds.values()))
        return seconds

    def read_pss(self) -> int | None:
        """Proportional memory of all processes together, bytes; None where one that runs does not tell."""
        return self._sum([(one, one.pss()) for one in self._members.values() if one.alive])

    def read_switches(self) -> list[int] | None:
        """Voluntary and involuntary context switches of all threads; None: the kernel does not tell them. What
        processes did that have ended meanwhile is not known, and not in it."""
        for one in self._members.values():
            if one.threads is not None and one.alive:
                if (switched := one.threads.switches()) is None:
                    return None
                one.switched = switched
        counts = (one.switched for one in self._members.values())
        return [sum(column) for column in zip(self._ended_switches, *counts, strict=True)]

    def read_wait(self) -> float | None:
        """Seconds that threads of an injector had work and waited for a CPU; None: the kernel does not tell."""
        waits = []
        for one in self._members.values():
            if one.run_queue is not None:
                one.waited = one.run_queue.wait()
                waits.append(one.waited)
        known = [wait for wait in waits if wait is not None]
        return self._ended_wait + sum(known) if known and len(known) == len(waits) else None

    def _bury(self, gone: Sequence[_Member]) -> None:
        """Account for processes that have ended: each is in what its parent tells of ended children, or is kept."""
        heirs: dict[int, list[_Member]] = {}
        for one in gone:
            del self._members[one.pid]
            self.gone.append(one.pid)
            one.close()
            if one.stat is None:
                continue  # it had ended before it was read
            self._ended_count += 1
            self._ended_switches = [
                sum(both) for both in zip(self._ended_switches, one.switched, strict=True)
            ]
            self._ended_wait += one.waited or 0.0
            for group, ticks in one.threads.ticks.items() if one.threads is not None else ():
                self._ended_groups[group] += ticks
            heirs.setdefault(self._heir(one, gone), []).append(one)
        for pid, left in heirs.items():
            owed = Totals()
            for one in left:
                assert one.stat is not None
                owed = owed.plus(one.stat.own).plus(one.stat.children).plus(one.inherited)
            heir = self._members.get(pid)
            # It may have been read before they ended.
            if heir is not None and not heir.read():
                heir.inherited, owed = heir.inherited.plus(owed), Totals()
            elif heir is not None and heir.stat is not None:
                told = heir.stat.children.beyond(heir.known).beyond(heir.credited)
                kept = owed.beyond(told)
                heir.credited, heir.buried = heir.credited.plus(owed.beyond(kept)), True
                owed = kept
            self._ended = self._ended.plus(owed)

    def _heir(self, one: _Member, gone: Sequence[_Member]) -> int:
        """The nearest process above it that is still there; 0: none."""
        parents = {each.pid: each.stat.parent for each in gone if each.stat is not None}
        pid = parents[one.pid]
        for _ in gone:
            pid = parents.get(pid, pid)
        return pid if pid in self._members and not self._alone else 0

    def _read_memory(self, alive: Sequence[_Member]) -> None:
        boot = time.clock_gettime(time.CLOCK_BOOTTIME)
        for one in alive:
            assert one.stat is not None
            parent = self._members.get(one.stat.parent)
            one.borrows = (
                parent is not None
                and boot - one.stat.start / CLOCK_TICKS < _YOUNG
                and _shape(one.status) == _shape(parent.status)
            )
        self.rss = self._sum([(one, one.rss()) for one in alive])

    def _sum(self, sizes: Sequence[tuple[_Member, int | None]]) -> int | None:
        """Memory of processes together. One without a figure that has just ended has none; with another it is
        unknown."""
        total, known = 0, False
        for one, size in sizes:
            if one.borrows:
                continue
            if size is not None:
                total, known = total + size, True
            elif not _has_ended(one.pid):
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


def spent(pid: int, mark: str = "") -> tuple[float | None, int | None]:
    """CPU seconds and resident bytes of a component now, as the sampler reads them; None where nothing of it runs.

    Args:
        pid: its main process.
        mark: as for `Trees.add`.
    """
    one, trees = Process(Watched("", pid, "backing")), Trees()
    trees.add("", pid, mark)
    trees.update()
    one.take(trees.members(""))
    return (one.used, one.rss) if one.read() is not None and not one.ended else (None, None)


def _shape(status: bytes | None) -> list[int | None]:
    """Sizes of a process's parts of memory, which hardly two processes have alike."""
    return [status_number(status, field) for field in _SHAPE] if status is not None else []


def _has_ended(pid: int) -> bool:
    """Whether it is gone or only waits to be reaped."""
    line = ProcFile(f"/proc/{pid}/stat", keep=False).read()
    return line is None or parse_stat(line).state in ENDED_STATES


def _memory(content: bytes | None, first: bytes, *large: bytes) -> int | None:
    """Bytes of all fields together; None where one is not there: what is not told is not 0. Those of large pages may be
    missing where there are none."""
    if content is None:
        return None
    sizes = [status_number(content, field) for field in (first, *large)]
    missing = [field for field, size in zip((first, *large), sizes, strict=True) if size is None]
    if first in missing or (
        missing and (has_large_pages() or any(b"\n%s:" % field in content for field in missing))
    ):
        return None
    return sum(size for size in sizes if size is not None) * 1024


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
