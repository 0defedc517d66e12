# SPDX-License-Identifier: Apache-2.0
"""A Maven that is a shell script, and builds that are kept in the test's own folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard import build


@pytest.fixture
def fake_maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Makes it, of the commands that it runs."""
    monkeypatch.setattr(build, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(build, "BUILDS", tmp_path / "cache" / "build")

    def write(commands: str) -> Path:
        maven = tmp_path / "mvn"
        maven.write_text(f"#!/bin/sh\n{commands}", encoding="utf-8")
        maven.chmod(0o755)
        return maven

    return write
