# SPDX-License-Identifier: Apache-2.0
"""A perf that hangs is told, and ends nothing that was measured."""

import os
from pathlib import Path

import pytest
from sessions import Bench

from steelyard.errors import MissingRequirement
from steelyard.results.store import SessionDirectory
from steelyard.session import profilers, profiling
from steelyard.session.profilers import require_profilers
from steelyard.session.profiling import Profiles

LIMIT = 0.3


@pytest.fixture(autouse=True)
def perf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that does not end."""
    program = tmp_path / "bin" / "perf"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    monkeypatch.setattr(profilers, "_TIME_LIMIT", LIMIT, raising=False)
    monkeypatch.setattr(profiling, "_REPORT_LIMIT", LIMIT, raising=False)


def test_a_perf_that_does_not_end_is_refused_before_the_first_trial() -> None:
    with pytest.raises(MissingRequirement, match=r"--profile perf: `perf record .* true` did not end within"):
        require_profilers(["perf"], [], searches=False)


def test_a_recording_of_which_perf_makes_nothing_in_time_is_kept(bench: Bench, tmp_path: Path) -> None:
    directory, trial = SessionDirectory(tmp_path / "session"), tmp_path / "trial"
    (trial / "logs").mkdir(parents=True)
    (trial / "perf.data").write_bytes(b"recorded")
    Profiles(directory, {}, bench.context(), lambda *_: None)._keep(
        "jvms-1/perf", trial, [trial / "logs"], []
    )
    kept = directory.path / "profiles" / "jvms-1" / "perf"
    assert (kept / "perf.data").read_bytes() == b"recorded"
    said = (kept / "perf.txt").read_text(encoding="utf-8")
    assert said.startswith("`perf report --stdio --no-children --no-inline")
    assert said.endswith("--input perf.data` did not end within 0.3 s: run it here, beside perf.data\n")
