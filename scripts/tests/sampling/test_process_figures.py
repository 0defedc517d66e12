# SPDX-License-Identifier: Apache-2.0
"""The figures of one process: memory in bytes, from recorded files; CPU of all its threads, of a real one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.sampling import member, process, threads
from steelyard.sampling.config import Watched
from steelyard.sampling.process import Process
from steelyard.sampling.procfs import CLOCK_TICKS, ProcFile, Totals

# After the state (proc(5)): 7 and 9 faults, 8 and 10 of children, 11 and 12 user and system, 13 and 14 of children,
# 17 threads, 19 start.
STAT = "7 (a server) S 1 2 3 4 5 6 500 8 3 2 250 50 30 20 15 16 4 18 700 0 0"
STATUS = "Name:\ta server\nVmHWM:\t 9999 kB\nVmRSS:\t 2000 kB\nRssAnon:\t 1500 kB\nHugetlbPages:\t 4096 kB\n"
ROLLUP = (
    "Rss:  2000 kB\nPss:  1000 kB\nPss_Anon:  900 kB\nShared_Hugetlb:  2048 kB\nPrivate_Hugetlb:  2048 kB\n"
)
WORKS_BESIDE_ITS_MAIN_THREAD = """
import sys, threading, time

def work():
    end = time.thread_time() + 0.5
    while time.thread_time() < end:
        pass

worker = threading.Thread(target=work)
worker.start()
worker.join()
print("worked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Process:
    """A process whose files below /proc are recorded ones."""
    for name, text in (("stat", STAT), ("status", STATUS), ("smaps_rollup", f"0-1 rollup\n{ROLLUP}")):
        (tmp_path / name).write_text(text, encoding="ascii")
    for module in (member, process, threads):
        monkeypatch.setattr(module, "ProcFile", lambda path, **_: ProcFile(str(tmp_path / Path(path).name)))
    monkeypatch.setattr(member, "cpu_clock", lambda _: None)
    return Process(Watched("server-1", 7, "server"))


def test_memory_is_in_bytes_with_the_pages_of_the_large_page_pool(recorded: Process) -> None:
    stat = recorded.read()
    assert stat is not None
    # The kernel's kB are 1,024 bytes.
    assert recorded.rss == 6_242_304  # (2000 + 4096) x 1024
    assert recorded.read_pss() == 5_218_304  # (1000 + 2048 + 2048) x 1024


@pytest.mark.parametrize(("has_pool", "rss"), [(True, None), (False, 2_048_000)])
def test_large_pages_that_the_kernel_does_not_tell_are_not_none(
    recorded: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_pool: bool, rss: int | None
) -> None:
    monkeypatch.setattr(member, "has_large_pages", lambda: has_pool)
    (tmp_path / "status").write_text(STATUS.replace("HugetlbPages", "Hugetlb"), encoding="ascii")
    (tmp_path / "smaps_rollup").write_text("0-1 rollup\nPss:  1000 kB\n", encoding="ascii")
    recorded.read()
    assert recorded.rss == rss
    assert recorded.read_pss() == (None if has_pool else 1_024_000)


def test_cpu_and_faults_are_those_of_the_process_and_of_its_ended_children(recorded: Process) -> None:
    stat = recorded.read()
    assert stat is not None
    assert stat.totals == Totals(user=280, system=70, minor_faults=508, major_faults=5)
    assert (stat.threads, stat.processes) == (4, 1)
    assert recorded.cpu == 350 / CLOCK_TICKS
    assert recorded.used == 350 / CLOCK_TICKS


def test_cpu_is_that_of_all_threads() -> None:
    command = [sys.executable, "-c", WORKS_BESIDE_ITS_MAIN_THREAD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == b"worked\n"
        watched = Process(Watched("server-1", child.pid, "server"))
        stat = watched.read()
        child.stdin.close()
    assert stat is not None
    # Half a second by the thread's own clock; user and system time are each cut to a tick.
    assert watched.cpu >= 0.5 - 2 / CLOCK_TICKS
    assert stat.totals.cpu / CLOCK_TICKS == watched.cpu
    assert child.returncode == os.EX_OK
