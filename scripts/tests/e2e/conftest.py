# SPDX-License-Identifier: Apache-2.0
"""What every session of these tests needs: a folder for results, and an end in case the test fails."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from .driver import EXPERIMENT, end_all


@pytest.fixture(scope="package", autouse=True)
def _prepared(built: object) -> None:
    """The build that sessions take."""


@pytest.fixture(scope="module", autouse=True)
def _alone(turn: None) -> None:
    """No session of another suite beside these."""


@pytest.fixture(scope="package", autouse=True)
def _interruptible() -> None:
    """A shell starts background jobs with SIGINT ignored, and all that they start inherits it: sessions could not be
    interrupted."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Iterator[None]:
    yield
    end_all()


@pytest.fixture
def experiment(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A small experiment as a file: the module's own `EXPERIMENT`, or the one on ping."""
    path = tmp_path / "tiny.yaml"
    path.write_text(getattr(request.module, "EXPERIMENT", EXPERIMENT), encoding="utf-8")
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where the session's results go."""
    path = tmp_path / "results"
    path.mkdir()
    return path
