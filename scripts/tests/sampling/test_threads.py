# SPDX-License-Identifier: Apache-2.0
"""CPU of threads by group, over threads of this process."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.sampling.procfs import CLOCK_TICKS
from steelyard.sampling.threads import IDLE_SKIP, Threads

WORK = 0.1
"""CPU seconds of a thread that works: some ticks."""


class Sleeper(threading.Thread):
    """Takes a name, sleeps, works when it is told to, and sleeps until it is ended."""

    def __init__(self, comm: str) -> None:
        super().__init__()
        self.comm = comm
        self.named, self.work, self.worked, self.end = (threading.Event() for _ in range(4))

    def run(self) -> None:
        Path(f"/proc/self/task/{self.native_id}/comm").write_text(self.comm, encoding="ascii")
        self.named.set()
        self.work.wait()
        end = time.thread_time() + WORK
        while time.thread_time() < end:
            pass
        self.worked.set()
        self.end.wait()


@pytest.fixture
def sleeper(request: pytest.FixtureRequest) -> Iterator[Sleeper]:
    it = Sleeper(request.param)
    it.start()
    it.named.wait()
    yield it
    it.work.set()
    it.end.set()
    it.join()


@pytest.mark.parametrize(
    ("sleeper", "group", "at_once"),
    [("C2 CompilerThre", "jit", True), ("JIT Compilation", "jit", True), ("GC Thread#0", "gc", False)],
    indirect=["sleeper"],
)
def test_a_compiler_that_slept_is_seen_as_soon_as_it_works(
    sleeper: Sleeper, group: str, at_once: bool
) -> None:
    threads = Threads(os.getpid())
    threads.read(-1, everything=True)
    threads.read(-1)
    slept = threads.ticks[group] / CLOCK_TICKS
    sleeper.work.set()
    sleeper.worked.wait()
    seen = []
    for _ in range(IDLE_SKIP + 1):
        threads.read(-1)
        seen.append(threads.ticks[group] / CLOCK_TICKS - slept > WORK / 2)
    assert seen[0] is at_once
    assert seen[-1]
