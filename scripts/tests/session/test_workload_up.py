# SPDX-License-Identifier: Apache-2.0
"""The process that keeps a workload up, and the command that starts it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

KEEPER = """
import signal
from steelyard.session import workload_up
workload_up.end_with_starter()
print("starts", flush=True)
signal.pause()
"""


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
