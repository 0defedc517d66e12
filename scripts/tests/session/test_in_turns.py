# SPDX-License-Identifier: Apache-2.0
"""Two sides in turns: one is frozen while the other runs, and in the end both run."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from builders import make_component
from waiting import wait_until

from steelyard.engines.base import Running
from steelyard.session.turns import Turns

SIDES = ("one", "other")
Sent = list[tuple[int, int]]


def count_turns(taken: Turns, last: int) -> int:
    """Turns without their seconds."""
    return 0 if taken._ended.is_set() else last + 1


@pytest.fixture
def components() -> Iterator[list[Running]]:
    """A server of each side."""
    children = [
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True)
        for _ in SIDES
    ]
    yield [
        Running(make_component("server", name=f"{side}/server-1"), [child.pid], 0.0)
        for side, child in zip(SIDES, children, strict=True)
    ]
    for child in children:
        child.kill()
        child.communicate()


def state_of(running: Running) -> str:
    """As the kernel shows it: T is stopped."""
    return Path(f"/proc/{running.pids[0]}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]


def test_each_side_is_frozen_and_runs_and_in_the_end_both_run(components: list[Running]) -> None:
    seen: set[tuple[int, bool]] = set()

    def look() -> bool:
        seen.update((side, state_of(running) == "T") for side, running in enumerate(components))
        return len(seen) == 4

    with Turns(SIDES, components) as taken:
        wait_until(look, "each side stopped and running")
    assert taken.failure is None
    wait_until(lambda: all(state_of(running) != "T" for running in components), "both run")


@pytest.fixture
def sent(components: list[Running], monkeypatch: pytest.MonkeyPatch) -> Iterator[Sent]:
    """The signals that were sent, in their order."""
    assert components, "they are ended by signals that arrive"
    signals: Sent = []
    with monkeypatch.context() as patched:
        patched.setattr(Turns, "_wait_for_turn", count_turns)
        patched.setattr(os, "kill", lambda pid, number: signals.append((pid, number)))
        yield signals


def test_never_do_both_run_and_both_have_as_many_turns(components: list[Running], sent: Sent) -> None:
    with Turns(SIDES, components):
        wait_until(lambda: len(sent) > 400, "signals")
    first, second = (running.pids[0] for running in components)
    runs: list[int] = []
    running = {first, second}
    for pid, number in sent[:-2]:
        if number == signal.SIGSTOP:
            running.discard(pid)
        else:
            running.add(pid)
            runs.append(pid)
            assert running == {pid}
    for pair in range(1, len(runs) - 1, 2):  # the first one began in the middle of two
        assert set(runs[pair : pair + 2]) == {first, second}
    assert set(runs[1::2]) == {first, second}, "who is first is drawn"
    assert sent[-2:] == [(first, signal.SIGCONT), (second, signal.SIGCONT)]


@pytest.mark.parametrize(
    ("error", "says"),
    [(PermissionError, "run as root where processes are another user's"), (ProcessLookupError, None)],
)
def test_processes_of_another_user_end_it_and_those_that_have_ended_do_not(
    components: list[Running],
    monkeypatch: pytest.MonkeyPatch,
    error: Callable[[], OSError],
    says: str | None,
) -> None:
    asked: Sent = []

    def refuse(pid: int, number: int) -> None:
        asked.append((pid, number))
        raise error()

    with monkeypatch.context() as patched:
        patched.setattr(Turns, "_wait_for_turn", count_turns)
        patched.setattr(os, "kill", refuse)
        with Turns(SIDES, components) as taken:
            wait_until(lambda: taken.failure is not None or len(asked) > 20, "an answer")
    assert (says in taken.failure) if says is not None and taken.failure is not None else says is None
    assert {pid for pid, number in asked[-2:] if number == signal.SIGCONT} == {
        running.pids[0] for running in components
    }
