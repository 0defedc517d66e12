# SPDX-License-Identifier: Apache-2.0
"""CPU of threads by group, over threads of this process."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import ended, wait_until

from steelyard.sampling.procfs import CLOCK_TICKS, parse_stat
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


@pytest.mark.parametrize("sleeper", ["C2 CompilerThre"], indirect=True)
def test_how_long_compilers_waited_for_a_cpu(sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads(os.getpid())
    threads.read(-1, everything=True)
    assert threads.queue("jit") is not None
    sleeper.work.set()
    sleeper.worked.wait()
    path = Path(f"/proc/{os.getpid()}/task/{sleeper.native_id}/schedstat")

    def waited() -> float:
        return int(path.read_text(encoding="ascii").split()[1]) / 1e9

    before = waited()
    threads.read(-1)
    told = threads.queue("jit")
    assert told is not None
    assert before <= told.waited <= waited(), "on a busy machine it is still on its way to sleep"
    monkeypatch.setattr("steelyard.sampling.threads.parse_schedstat", lambda _content: None)
    threads.read(-1)
    assert threads.queue("jit") is None


@pytest.fixture
def rivals() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Two processes that want the same CPU all the time."""
    cpu = min(os.sched_getaffinity(0))
    program = f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nwhile True: pass"
    processes = [subprocess.Popen([sys.executable, "-S", "-c", program]) for _ in range(2)]
    yield processes
    for process in processes:
        process.kill()
        process.wait()


def test_how_long_threads_ran_and_waited_is_what_the_kernel_tells(
    rivals: list[subprocess.Popen[bytes]],
) -> None:
    pid = rivals[0].pid
    path = Path(f"/proc/{pid}/task/{pid}/schedstat")

    def told() -> list[float]:
        return [int(word) / 1e9 for word in path.read_text(encoding="ascii").split()[:2]]

    wait_until(lambda: min(told()) > 0.1, "each to have run and waited", ended(rivals[0]))
    rivals[0].send_signal(signal.SIGSTOP)
    wait_until(lambda: parse_stat(Path(f"/proc/{pid}/stat").read_bytes()).state == b"T", "it to stand still")
    threads = Threads(pid)
    threads.read(1)
    # Of a thread that is no compiler it is read only when everything is, and once however often it is.
    assert threads.queue("other") is None
    for _ in range(2):
        threads.read(1, everything=True)
        queue = threads.queue("other")
        assert queue is not None
        assert [queue.ran, queue.waited] == pytest.approx(told())
    assert threads.queue("request") == (0.0, 0.0)
