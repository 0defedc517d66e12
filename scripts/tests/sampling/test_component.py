# SPDX-License-Identifier: Apache-2.0
"""Figures of a component with several processes, real ones: each is the sum over all of them, and what ended children
used stays, once."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from waiting import wait_until

from steelyard.process_tree import Trees
from steelyard.sampling import process as module
from steelyard.sampling.config import Watched
from steelyard.sampling.member import ComponentProcess
from steelyard.sampling.process import Process, ProcessFigures, read_usage
from steelyard.sampling.procfs import CLOCK_TICKS, ProcFile

MIB = 2**20
TICKS = 4 / CLOCK_TICKS
"""Seconds by which sums of a few figures in ticks may differ from exact ones."""
SERVER = """
import os, signal, subprocess, sys, threading, time

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

def worker(seconds, size, late=0):
    "A process of its own: its memory touched, its CPU used, then it waits for a line, and touches more at its end."
    come, go = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        memory = bytearray(os.urandom(1)) * size
        burn(seconds)
        os.write(come[1], b".")
        os.read(go[0], 1)
        memory += bytearray(os.urandom(1)) * late
        os._exit(0)
    os.read(come[0], 1)
    return pid, go[1]

def on_thread(run, *arguments):
    found = []
    thread = threading.Thread(target=lambda: found.append(run(*arguments)))
    thread.start()
    thread.join()
    return found[0]

workers = []
print("up", flush=True)
for line in sys.stdin:
    word, *arguments = line.split()
    if word == "worker":
        workers.append(worker(float(arguments[0]), *map(int, arguments[1:])))
    elif word == "ignore":
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    elif word == "thread":
        workers.append(on_thread(worker, float(arguments[0]), int(arguments[1])))
    elif word == "end":
        pid, end = workers.pop()
        os.write(end, b".")
        try:
            os.waitpid(pid, 0)
        except ChildProcessError:
            pass
    elif word == "let":
        pid, end = workers.pop()
        os.write(end, b".")
    elif word == "reap":
        os.wait()
    elif word == "run":
        for _ in range(int(arguments[0])):
            subprocess.run([sys.executable, "-S", "-c", "pass"], check=True)
    elif word == "orphan":
        middle = os.fork()
        if middle == 0:
            orphan, end = worker(float(arguments[0]), 1)
            os.set_inheritable(end, True)
            print(orphan, flush=True)
            os._exit(0)
        os.waitpid(middle, 0)
    print("done", flush=True)
"""


class Server:
    """A component that does as it is told, and what reads it."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.pid = self.process.pid
        self.told: list[str] = []
        assert self.line() == "up"
        self.trees = Trees()
        self.trees.add("server", self.pid)
        self.watched = Process(Watched("server", self.pid, "server"))
        self.first = self.read()
        self.cpu, self.used = self.watched.cpu, self.watched.used

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def tell(self, words: str) -> list[str]:
        assert self.process.stdin
        self.process.stdin.write(f"{words}\n")
        self.process.stdin.flush()
        told = []
        while (line := self.line()) != "done":
            assert line, "it has ended"
            told.append(line)
        return told

    def read(self) -> ProcessFigures:
        """One tick of the sampler."""
        self.trees.update()
        self.watched.take(self.trees.members("server"))
        self.watched.read_threads(True)
        figures = self.watched.read()
        for pid in self.watched.gone:
            self.trees.forget(pid)
        assert figures is not None
        return figures

    def grown(self) -> float:
        """CPU seconds since the first reading, by both accounts and in groups, which agree."""
        self.read()
        grown = self.watched.cpu - self.cpu
        assert grown == pytest.approx(self.watched.used - self.used, abs=TICKS)
        assert sum(self.watched.cpu_by_group().values()) == pytest.approx(self.watched.cpu, abs=TICKS)
        return grown

    def end(self) -> None:
        if self.process.returncode is None:
            os.killpg(self.pid, signal.SIGKILL)
            self.process.communicate()


@pytest.fixture
def server() -> Iterator[Server]:
    it = Server()
    yield it
    it.end()


def kernel_count(server: Server) -> float:
    """CPU seconds of the server and its ended children, as the kernel adds them up for whoever waits for it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    server.end()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("word", ["worker", "thread"])
def test_memory_and_threads_are_those_of_all_processes(server: Server, word: str) -> None:
    alone = server.watched.rss
    assert alone is not None
    for _ in range(2):
        server.tell(f"{word} 0 {64 * MIB}")

    def size() -> tuple[int, int]:
        figures = server.read()
        return figures.processes, figures.threads

    wait_until(lambda: size() == (3, 3), "the end of the threads that started workers")
    both, pss = server.watched.rss, server.watched.read_pss()
    assert both is not None
    assert pss is not None
    assert both > alone + 128 * MIB
    assert 128 * MIB < pss < both, "what forked workers share counts once"
    server.tell("end")
    server.tell("end")
    figures = server.read()
    assert figures.processes == 1
    assert server.watched.rss == pytest.approx(alone, rel=0.3)


def test_workers_that_are_replaced_count_once(server: Server) -> None:
    """While they run, when they have ended, and when their parent has taken note: never less, never twice."""
    seen = [server.grown()]
    for _ in range(3):
        server.tell("worker 0.2 1")
        seen.append(server.grown())
        server.tell("let")
        seen.append(server.grown())
        server.tell("reap")
        seen.append(server.grown())
    assert seen == pytest.approx(sorted(seen), abs=TICKS)
    ended = server.read().ended
    assert ended == 3
    assert seen[-1] >= 0.6 - TICKS
    assert server.watched.used == pytest.approx(kernel_count(server), abs=TICKS)


def test_what_a_worker_does_after_its_last_reading_is_no_other_process(server: Server) -> None:
    server.tell(f"worker 0 1 {MIB}")
    before = server.read()
    server.tell("let")
    server.tell("reap")
    after = server.read()
    assert after.totals.minor_faults - before.totals.minor_faults > 200
    assert after.ended - before.ended == 1


def test_children_that_no_sample_ever_saw_count(server: Server) -> None:
    before = server.first
    server.tell("run 20")
    after = server.read()
    assert after.totals.minor_faults - before.totals.minor_faults > 20 * 100
    assert after.ended > before.ended, "something ended, and no one knows what it did but use CPU"
    assert server.watched.used == pytest.approx(kernel_count(server), abs=TICKS)


def test_a_child_that_nobody_waits_for_counts(server: Server) -> None:
    """Where SIGCHLD is ignored, the kernel forgets what a child used."""
    server.tell("ignore")
    server.tell("worker 0.3 1")
    running = server.grown()
    assert running >= 0.3 - TICKS
    server.tell("end")
    assert server.grown() >= running - TICKS
    assert kernel_count(server) < server.watched.used - 0.2


def test_an_orphan_counts_until_its_end_and_after(server: Server) -> None:
    (text,) = server.tell("orphan 0.3")
    orphan = int(text)
    running = server.grown()
    assert running >= 0.3 - TICKS
    assert server.read().processes == 2
    os.kill(orphan, signal.SIGKILL)
    wait_until(lambda: server.read().processes == 1, "its end")
    assert server.grown() >= running - TICKS


def test_one_that_ends_between_two_readings_of_a_moment_is_in_neither_and_in_the_next(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.tell("worker 0.3 1")
    running = server.grown()
    read = ComponentProcess.read
    ended: list[int] = []

    def ends(one: ComponentProcess) -> bool:
        if one.pid != server.pid and not ended:
            ended.append(one.pid)
            server.tell("end")  # after its parent was read, and before it is
        return read(one)

    monkeypatch.setattr(ComponentProcess, "read", ends)
    assert server.grown() == pytest.approx(running, abs=TICKS)
    assert ended
    assert server.grown() == pytest.approx(running, abs=TICKS)


def test_memory_that_a_new_process_has_only_borrowed_is_not_counted_twice(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Java and node start programs by vfork: for a moment there are two processes with one memory."""
    server.tell("worker 0 1")
    monkeypatch.setattr(module, "_YOUNG", float("inf"))
    alone = Process(Watched("alone", server.pid, "server", alone=True))
    assert alone.read() is not None
    shapes = {one.pid: b"VmSize" for one in server.watched._members.values()}
    monkeypatch.setattr(ComponentProcess, "shape", property(lambda _: list(shapes)))
    server.read()
    assert server.watched.rss == pytest.approx(alone.rss, rel=0.01)


def test_memory_that_a_process_does_not_tell_is_not_left_out(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.tell("worker 0 1")
    read: Callable[..., bytes | None] = ProcFile.read
    worker = next(
        pid for pid in (server.read(), *server.watched._members) if isinstance(pid, int) and pid != server.pid
    )

    def hidden(file: ProcFile, size: int = 1024) -> bytes | None:
        return (
            None
            if file._path in (f"/proc/{worker}/status", f"/proc/{worker}/smaps_rollup")
            else read(file, size)
        )

    monkeypatch.setattr(ProcFile, "read", hidden)
    server.read()
    assert server.watched.rss is None
    assert server.watched.read_pss() is None


def test_what_a_start_used_is_that_of_all_processes(server: Server) -> None:
    """By the same reading: the tools of a start script have ended by then."""
    server.tell("worker 0.2 1")
    server.tell("end")
    server.tell(f"worker 0.2 {64 * MIB}")
    cpu, rss = read_usage(server.pid)
    server.read()
    assert cpu == pytest.approx(server.watched.used, abs=TICKS)
    assert cpu is not None
    assert cpu >= 0.4 - TICKS
    assert rss is not None
    assert rss > 64 * MIB


def test_who_looked_at_a_process_for_a_moment_holds_none_of_its_files(server: Server) -> None:
    """A session that looked at every server of every trial had held two files of each until its end."""
    looked_at = f"/proc/{server.pid}/limits"
    held = ProcFile(looked_at)
    for _ in range(8):
        assert ProcFile(looked_at).read()
    assert looked_at not in files_held()
    assert held.read()
    assert files_held().count(looked_at) == 1


def files_held() -> list[str]:
    """Of this process, by name: their number alone would tell of the rest of the test's worker, too."""
    names = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # given back since
            names.append(str(descriptor.readlink()))
    return names
