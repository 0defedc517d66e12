# SPDX-License-Identifier: Apache-2.0
"""The process that keeps a workload up, and the command that starts it."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import TINY, wait_until

from steelyard.errors import Busy, NoSpace
from steelyard.session import workload_up

KEEPER = """
import time
from steelyard.session import workload_up
workload_up.end_with_starter()
print("starts", flush=True)
while True: time.sleep(0.05)
"""


SLOW = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: None)
print("up", flush=True)
sys.stdin.read()
"""
"""Takes until the end of its input to end."""


@pytest.fixture
def keeper() -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """With the end of the pipe that its starter has."""
    followed, ours = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", KEEPER],
        stdout=subprocess.PIPE,
        pass_fds=[followed],
        env={**os.environ, "STEELYARD_STARTER": str(followed)},
    ) as process:
        os.close(followed)
        assert process.stdout is not None
        assert process.stdout.readline() == b"starts\n"
        yield process, ours
        process.kill()


def test_it_ends_when_its_starter_is_gone_while_it_starts(
    keeper: tuple[subprocess.Popen[bytes], int],
) -> None:
    process, ours = keeper
    os.close(ours)
    assert process.wait() == -signal.SIGTERM


def test_it_outlives_a_starter_that_saw_it_up(keeper: tuple[subprocess.Popen[bytes], int]) -> None:
    process, ours = keeper
    os.write(ours, b".")
    os.close(ours)
    process.send_signal(signal.SIGINT)  # what ends it is this and nothing before it
    assert process.wait() == -signal.SIGINT


def test_down_is_not_said_before_the_keeper_has_ended(tmp_path: Path) -> None:
    state, said, stopped = tmp_path / "state.json", list[str](), list[workload_up.Up | None]()
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, "--keep"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == b"up\n"
        up = workload_up.Up(workload="olio", keeper=process.pid, servers=[])
        state.write_text(up.model_dump_json(), encoding="utf-8")
        down = threading.Thread(target=lambda: stopped.append(workload_up.stop(said.append, TINY, state)))
        down.start()
        wait_until(lambda: len(said) > 1, "what it says again and again")
        assert not stopped
        process.stdin.close()
        process.wait()
        down.join()
    assert stopped == [up]
    assert set(said) == {
        f"olio is still ending: wait, or end its process {up.keeper} with `kill -9 {up.keeper}`"
    }


@pytest.mark.parametrize("error", [PermissionError, ProcessLookupError])
def test_down_of_what_is_another_users_or_has_just_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[OSError]
) -> None:
    def kill(*_: object) -> None:
        raise error

    state = tmp_path / "state.json"
    up = workload_up.Up(workload="olio", keeper=os.getpid(), servers=[])
    state.write_text(up.model_dump_json(), encoding="utf-8")
    monkeypatch.setattr(workload_up, "_is_keeper", lambda _: True)
    monkeypatch.setattr(os, "kill", kill)
    if error is ProcessLookupError:
        assert workload_up.stop(print, TINY, state) == up
    else:
        says = rf"olio is up, and its process {up.keeper} belongs to another user: run `down` as that user"
        with pytest.raises(Busy, match=says):
            workload_up.stop(print, TINY, state)


def test_an_up_whose_log_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(workload_up, "STATE", tmp_path / "file" / "state.json")
    with pytest.raises(NoSpace, match=r"cannot write .*keeper\.log"):
        workload_up.start(["up", "olio"], 1.0)
