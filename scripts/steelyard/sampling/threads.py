# SPDX-License-Identifier: Apache-2.0
"""The threads of one process: CPU by group, context switches, and how long they ran and waited for a CPU."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from steelyard.measure.thread_groups import GROUPS, group_of
from steelyard.sampling.procfs import ProcFile, parse_comm_and_ticks, parse_schedstat, status_number

IDLE_SKIP = 3


class RunAndWait(NamedTuple):
    """How long threads had a CPU, and had work and waited for one, seconds."""

    ran: float = 0.0
    waited: float = 0.0

    def plus(self, other: "RunAndWait") -> "RunAndWait":
        """The sum of both."""
        return RunAndWait(self.ran + other.ran, self.waited + other.waited)


class _Thread:
    __slots__ = ("comm", "group", "queue", "queued", "skip", "stat", "switches", "ticks")

    def __init__(self, stat: ProcFile, queue: ProcFile) -> None:
        self.stat = stat
        self.queue = queue
        """Its schedstat, which is read each time of compilers alone."""
        self.queued = (0, 0)
        """Nanoseconds that it ran and waited for a CPU."""
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
        self._queued = {group: [0, 0] for group in GROUPS}
        """Nanoseconds that the threads of a group ran and waited for a CPU."""
        self._tells_queue = True
        self._ended_switches = [0, 0]

    def read(self, count: int, everything: bool = False) -> None:
        """Add what each thread used since the last reading.

        Args:
            count: threads that the process has; the folder is listed only when that or a thread has changed.
            everything: pass no thread over, and read of each how long it waited for a CPU.
        """
        gone = False
        for thread in self._threads.values():
            if thread.skip and not everything:
                thread.skip -= 1
            elif not self._read(thread, everything):
                gone = True
        if gone or count != len(self._threads):
            self._list(everything)

    @property
    def ticks(self) -> Mapping[str, int]:
        """CPU by group, as last read."""
        return self._ticks

    def close(self) -> None:
        """Give the files back; what was read stays."""
        for thread in self._threads.values():
            thread.stat.close()
            thread.queue.close()

    def queue(self, group: str) -> RunAndWait | None:
        """How long the threads of a group ran and waited for a CPU, as last read; None: the kernel does not tell."""
        some_ran = any(ran for ran, _ in self._queued.values())
        if not self._tells_queue or (self._ticks[group] and not some_ran):
            return None
        ran, waited = self._queued[group]
        return RunAndWait(ran / 1e9, waited / 1e9)

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

    def _read(self, thread: _Thread, everything: bool) -> bool:
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
        if everything or thread.group == "jit":
            self._read_queue(thread)
            if thread.group != "jit":
                thread.queue.close()  # it is read seldom
        return True

    def _read_queue(self, thread: _Thread) -> None:
        """What the kernel's scheduler/sched-stats.rst says of it; one that has ended meanwhile keeps what was read."""
        content = thread.queue.read(64)
        if content is None:
            return
        figures = parse_schedstat(content)
        if figures is None:
            self._tells_queue = False
            return
        for column, (now, before) in enumerate(zip(figures, thread.queued, strict=True)):
            self._queued[thread.group][column] += now - before
        thread.queued = figures

    def _forget(self, tid: str) -> None:
        thread = self._threads.pop(tid)
        thread.stat.close()
        thread.queue.close()
        for column, count in enumerate(thread.switches):
            self._ended_switches[column] += count

    def _list(self, everything: bool) -> None:
        try:
            listed = os.listdir(self._folder)  # noqa: PTH208 - names as text, once a second: no Path objects
        except OSError:
            return
        for tid in self._threads.keys() - set(listed):
            self._forget(tid)
        for tid in listed:
            if tid not in self._threads:
                files = (ProcFile(f"{self._folder}/{tid}/{name}") for name in ("stat", "schedstat"))
                thread = _Thread(*files)
                if self._read(thread, everything):
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
