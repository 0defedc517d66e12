# SPDX-License-Identifier: Apache-2.0
"""What a container engine uses beside the containers: its helpers, those that have ended and those that run."""

import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from steelyard.sampling.config import Watched
from steelyard.sampling.process import Process

BURN = "import time\nwhile time.process_time() < 0.3: pass\n"
ENGINE = f"""
import subprocess, sys
subprocess.run([sys.executable, "-c", {BURN!r}])
helper = subprocess.Popen([sys.executable, "-c", {BURN + "print(flush=True); input()"!r}], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE)
helper.stdout.readline()
print(helper.pid, flush=True)
input()
helper.communicate(b"\\n")
print(flush=True)
input()
"""


class Engine(NamedTuple):
    """A process with one helper that has ended and one that runs until `reap`."""

    process: subprocess.Popen[str]
    helper: int

    @property
    def pid(self) -> int:
        return self.process.pid

    def reap(self) -> None:
        """Let the helper end, and wait until the engine has taken note of it."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.process.stdout.readline()


@pytest.fixture
def engine() -> Iterator[Engine]:
    with subprocess.Popen(
        [sys.executable, "-c", ENGINE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        try:
            yield Engine(process, int(process.stdout.readline()))
        finally:
            process.kill()


def used(pid: int, role: str, *others: Process) -> float:
    process = Process(Watched("it", pid, role))
    assert process.read({one.pid: one for one in others}) is not None
    return process.helpers


def test_helpers_of_an_engine_are_its_own(engine: Engine) -> None:
    """A runtime helper that has ended, and a client that runs, each 0.3 s of CPU."""
    ended = used(engine.pid, "engine", Process(Watched("helper", engine.helper, "server")))
    both = used(engine.pid, "engine")
    assert ended >= 0.29
    assert both >= ended + 0.29


def test_only_an_engine_has_helpers(engine: Engine) -> None:
    """What the harness starts in the process engine is the trial itself, or somebody else's."""
    assert used(engine.pid, "harness") == 0.0


def test_what_was_watched_is_not_counted_again_when_it_ends(engine: Engine) -> None:
    """A container's process, whose CPU the kernel adds to its shim when it ends."""
    shim, helper = (
        Process(Watched("shim", engine.pid, "engine")),
        Process(Watched("it", engine.helper, "server")),
    )
    assert helper.read() is not None
    assert shim.read({engine.helper: helper}) is not None
    before = shim.helpers
    engine.reap()
    assert used(engine.pid, "engine") >= before + 0.29, "the kernel has added it"
    assert shim.read({engine.helper: helper}) is not None
    assert shim.helpers == pytest.approx(before, abs=0.1)


def test_what_it_used_after_its_last_reading_is_the_engines(engine: Engine) -> None:
    """Nobody else can know of it: it would be the CPU of strangers."""
    shim, helper = (
        Process(Watched("shim", engine.pid, "engine")),
        Process(Watched("it", engine.helper, "server")),
    )
    assert helper.read() is not None
    assert shim.read({engine.helper: helper}) is not None
    before, known = shim.helpers, helper.used
    helper.used = 0.0  # as if it had been read before it had worked
    engine.reap()
    assert shim.read({engine.helper: helper}) is not None
    assert shim.helpers == pytest.approx(before + known, abs=0.1)
