# SPDX-License-Identifier: Apache-2.0
"""Sessions on the fake engine."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_engine import World
from sessions import Bench

from steelyard.session import caches, deploying, flight, injectors, procedures, runner, trial


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose clock is the clock of everything that a session goes through."""
    made = World()
    for module in (runner, trial, flight, procedures, caches, deploying, injectors):
        monkeypatch.setattr(module, "time", made.clock)
    monkeypatch.setattr(deploying, "observe", made.observe)
    # Of this process's own group: on a host with a CPU limit it grows by itself.
    monkeypatch.setattr(procedures, "throttled_seconds", lambda: 0.0)
    return made


@pytest.fixture(scope="session")
def port() -> int:
    """The first of some free ports; runs beside this one begin elsewhere."""
    for first in range(21000 + os.getpid() % 500 * 20, 32000, 20):
        if all(_free(first + offset) for offset in range(8)):
            return first
    raise AssertionError("no free ports")


def _free(number: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(("127.0.0.1", number)) != 0


@pytest.fixture
def bench(tmp_path: Path, world: World, port: int) -> Iterator[Bench]:
    made = Bench(tmp_path, world, port)
    yield made
    for deployment in world.deployments:
        deployment.close()
