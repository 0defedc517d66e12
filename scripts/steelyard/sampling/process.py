# SPDX-License-Identifier: Apache-2.0
"""One watched process: CPU, memory, faults, threads by group, PSS and context switches."""

import os
import time
from collections.abc import Mapping, Set
from contextlib import suppress
from typing import Self

from steelyard.sampling.config import Watched
from steelyard.sampling.groups import GROUPS, group_of
from steelyard.sampling.procfs import (
    CLOCK_TICKS,
    ENDED_STATES,
    ProcFile,
    Stat,
    cpu_clock,
    has_large_pages,
    parse_comm_and_ticks,
    parse_schedstat,
    parse_stat,
    status_number,
)

IDLE_SKIP = 3


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

    def cpu_by_group(self, process_cpu: float) -> dict[str, float]:
        """CPU seconds by group; they add up to the process's: what was in no thread when read is in `other`.

        Args:
            process_cpu: the process's CPU seconds, read after the threads.
        """
        seconds = {group: ticks / CLOCK_TICKS for group, ticks in self._ticks.items() if group != "other"}
        seconds["other"] = max(0.0, process_cpu - sum(seconds.values()))
        return seconds

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


class Process:
    """A watched process."""

    def __init__(self, watched: Watched) -> None:
        self.name = watched.name
        self.is_server = watched.role == "server"
        self._is_engine = watched.role == "engine"
        self.pid = watched.pid
        self._watched_children: set[int] = set()
        """Those that were seen below it; they stay when they have ended."""
        self.cpu = 0.0
        """CPU seconds at the last reading, in ticks as those of its threads."""
        self._exact = 0.0
        self.children = 0.0
        """CPU seconds of children that have ended, of a server (the tools of its start script) and of an engine; of an
        engine also of those that run."""
        self.ended = False
        self.epoch = 0.0
        """When it was read."""
        self.rss: int | None = None
        """Resident bytes with the large-page pool's, which the kernel's own RSS leaves out; None once it has ended."""
        self.started = 0.0
        """When the process started, seconds since boot; known once it was read."""
        self._stat = ProcFile(f"/proc/{watched.pid}/stat")
        self._status = ProcFile(f"/proc/{watched.pid}/status")
        self._rollup = ProcFile(f"/proc/{watched.pid}/smaps_rollup")
        self.threads = Threads(watched.pid)
        self.run_queue = RunQueue(watched.pid) if watched.role == "injector" else None
        # More than are known yet, so that the first reading already lists them: a window may begin there.
        self._count = 1

    @property
    def used(self) -> float:
        """CPU seconds at the last reading, with those of `children`, as exactly as the kernel tells."""
        return self._exact + self.children

    def read_threads(self, everything: bool) -> None:
        """Read the threads; before `read`, so that the process's CPU is never less than theirs."""
        self.threads.read(self._count, everything)

    def read(self, watched: Mapping[int, Self] | None = None) -> Stat | None:
        """Read the process; None when it is gone. The last reading of one that ended has its final counts, if whoever
        started it has not yet taken note of its end.

        Args:
            watched: by id, the processes that are read for themselves, and so are not an engine's helpers.
        """
        line = self._stat.read()
        if line is None:
            self.ended = True
            return None
        self.epoch = time.time()
        stat = parse_stat(line)
        self.ended = stat.state in ENDED_STATES
        status = None if self.ended else self._status.read(4096)
        self.rss = _memory(status, b"VmRSS", b"HugetlbPages")
        self._count = stat.threads
        self.started = stat.start / CLOCK_TICKS
        self.cpu = (stat.user + stat.system) / CLOCK_TICKS
        self._exact = cpu_clock(self.pid) or self.cpu
        # Not of others: the harness's children are the servers, which are watched themselves.
        if self.is_server:
            self.children = stat.children / CLOCK_TICKS
        elif self._is_engine:
            self._read_helpers(watched or {})
        return stat

    def _read_helpers(self, watched: Mapping[int, Self]) -> None:
        """The kernel adds to an engine process what a child used, once its end is noticed. Of a watched one all that
        was read before is counted for itself; what it used between its last reading and its end remains, and is the
        engine's: nobody else knows of it."""
        running = children(self.pid)
        self._watched_children |= running & watched.keys()
        ended = {pid for pid in self._watched_children if not _exists(pid)}
        line = self._stat.read()
        if line is None:
            return
        ticks = parse_stat(line).children + sum(
            _ticks_below(pid, watched.keys()) for pid in running - watched.keys()
        )
        # One that ended meanwhile may be in the reading above or not: then the figure waits for the next.
        if all(_exists(pid) for pid in self._watched_children - ended):
            known = sum(watched[pid].used for pid in ended)
            self.children = ticks / CLOCK_TICKS - known

    def read_pss(self) -> int | None:
        """Proportional memory in bytes, the large-page pool included. Dear: the kernel walks all page tables."""
        return _memory(self._rollup.read(4096), b"Pss", b"Private_Hugetlb", b"Shared_Hugetlb")


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
    return stat.user + stat.system + stat.children + below


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
