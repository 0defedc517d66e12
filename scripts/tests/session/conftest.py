# SPDX-License-Identifier: Apache-2.0
"""Sessions on the fake engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_engine import World
from sessions import Bench


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    for deployment in made.deployments:
        deployment.close()


@pytest.fixture
def bench(tmp_path: Path, world: World) -> Bench:
    return Bench(tmp_path, world)
