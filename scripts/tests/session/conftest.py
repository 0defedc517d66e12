# SPDX-License-Identifier: Apache-2.0
"""Sessions on the fake engine."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_engine import World
from sessions import Bench


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a power cut would show it, and on a busy disk it is most of a trial on the fake engine."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    for deployment in made.deployments:
        deployment.close()


@pytest.fixture
def bench(tmp_path: Path, world: World) -> Bench:
    return Bench(tmp_path, world)
