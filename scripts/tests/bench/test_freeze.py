# SPDX-License-Identifier: Apache-2.0
"""`bench/freeze.py`: all of a command's processes stop and go on, and none is left frozen."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from waiting import wait_until

from steelyard.paths import ROOT

SCRIPT = [sys.executable, str(ROOT / "scripts" / "bench" / "freeze.py")]
TREE = """
import os, pathlib, signal, subprocess, sys, time
here = pathlib.Path(sys.argv[1])
asleep = [sys.executable, "-c", "import signal; signal.pause()"]
end, told = here / "end", {signal.SIGTERM}
other = subprocess.Popen(asleep, start_new_session=True)
first = os.fork()
if first == 0:  # its child is an orphan, in a session of its own
    os.setsid()
    second = subprocess.Popen(asleep)
    (here / "orphan").write_text(str(second.pid))
    os._exit(0)
os.waitpid(first, 0)
signal.pthread_sigmask(signal.SIG_BLOCK, told)  # a handler would not run for one that comes just before a blocking call
(here / "new").write_text(f"{os.getpid()} {other.pid} {(here / 'orphan').read_text()}")
(here / "new").rename(here / "pids")
while not end.exists():
    if told & signal.sigpending():
        os._exit(7)
    time.sleep(0.02)
os._exit(3)
"""
"""A command with a child in another session and a daemon; it ends when it is told to."""


class Freezing:
    """The script, which runs `TREE`."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*SCRIPT, *options, "--", sys.executable, "-c", TREE, str(folder)], stderr=log
            )
        self.pids = list(map(int, wait_until(self._pids, "a tree", self.ended).split()))

    def _pids(self) -> str:
        path = self.folder / "pids"
        return path.read_text(encoding="ascii") if path.exists() else ""

    def ended(self) -> str | None:
        return self.log.read_text(encoding="utf-8") if self.process.poll() is not None else None

    def states(self) -> set[str]:
        return {_fields(pid)[0] for pid in self.pids}

    def busy(self) -> list[int]:
        """The busy loops: children of the script that are not of the tree."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(
            encoding="ascii"
        )
        return [pid for pid in map(int, children.split()) if pid not in self.pids]


def _fields(pid: int) -> list[str]:
    """Of /proc/PID/stat, from the state on."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return ["gone"]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for pid in map(int, (tmp_path / "pids").read_text(encoding="ascii").split()):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_all_processes_stop_and_a_signal_reaches_the_command(folder: Path) -> None:
    freezing = Freezing(folder, "--load", "2", "--freeze", "0.3", "--every", "0.1")
    wait_until(lambda: freezing.states() == {"T"}, "a freeze of the whole tree", freezing.ended)
    busy = freezing.busy()
    assert len(busy) == 2
    assert not {"T"} & {_fields(pid)[0] for pid in busy}
    freezing.process.send_signal(signal.SIGTERM)
    assert freezing.process.wait() == 7, "the command's own exit code"
    assert "T" not in freezing.states()
    wait_until(lambda: {_fields(pid)[0] for pid in busy} <= {"gone", "Z"}, "the end of the busy loops")


def test_a_signal_ends_a_freeze() -> None:
    process = subprocess.Popen([*SCRIPT, "--freeze", "9999", "--every", "0.1", "--", "sleep", "9999"])
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")

    def frozen() -> bool:
        return any(_fields(int(pid))[0] == "T" for pid in children.read_text(encoding="ascii").split())

    wait_until(frozen, "a freeze")
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 128 + signal.SIGTERM


def test_freezes_come_again_and_again_and_the_exit_code_is_the_commands(folder: Path) -> None:
    freezing = Freezing(folder, "--freeze", "0.01-0.05", "--every", "0.01-0.05", "--seed", "1")
    log = freezing.log

    def came_again() -> bool:
        text = log.read_text(encoding="utf-8")
        # The first ones may come before all processes are there.
        return text.count("processes go on") >= 3 and "3 processes go on" in text

    wait_until(came_again, "freezes", freezing.ended)
    (folder / "end").touch()
    assert freezing.process.wait() == 3
    assert "T" not in freezing.states()
    assert "the command ended with 3" in log.read_text(encoding="utf-8")


def test_a_command_that_is_not_there_is_told() -> None:
    done = subprocess.run(
        [*SCRIPT, "--load", "1", "--", "/nowhere"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 127
    assert "cannot run /nowhere" in done.stderr
