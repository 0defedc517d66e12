# SPDX-License-Identifier: Apache-2.0
"""What a container engine uses beside the containers: its helpers, those that have ended and those that run."""

import subprocess
import sys
from collections.abc import Iterator

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
"""


@pytest.fixture
def engine() -> Iterator[tuple[int, int]]:
    """A process with one helper that has ended and one that runs; the numbers of both that run."""
    with subprocess.Popen(
        [sys.executable, "-c", ENGINE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdin
        yield process.pid, int(process.stdout.readline())
        process.stdin.write("\n")
        process.stdin.close()


def used(pid: int, role: str, watched: set[int]) -> float:
    process = Process(Watched("it", pid, role))
    assert process.read(watched) is not None
    return process.children


def test_helpers_of_an_engine_are_its_own(engine: tuple[int, int]) -> None:
    """A runtime helper that has ended, and a client that runs, each 0.3 s of CPU."""
    pid, helper = engine
    ended = used(pid, "engine", {helper})
    both = used(pid, "engine", set())
    assert ended >= 0.29
    assert both >= ended + 0.29


def test_only_an_engine_has_helpers(engine: tuple[int, int]) -> None:
    """What the harness starts in the process engine is the trial itself, or somebody else's."""
    assert used(engine[0], "harness", set()) == 0.0
