# SPDX-License-Identifier: Apache-2.0
"""Each procedure on the real ping server: what it leaves, and that a killed one resumes to the same schedule."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.results.schema import Trial

from .driver import Running, call, processes_that_mention, start, void_for_other_reasons_than_noise

pytestmark = pytest.mark.e2e

EXPERIMENT = """\
steelyard: 1
name: tiny
title: A small session on real servers
question: Does the procedure work?
workload: ping
procedure: {procedure}
factors:
  {factor}
deployment:
  total_heap: 256m
  jvm: {{gc: generational, jvm_args: ["-XX:TieredStopAtLevel=1"]}}
load:
  users: 4
  ramp: 500ms
  warmup: {{until: fixed, at_least: 2s}}
  measure: {measure}
{more}
design: {{blocks: 2, repeats: 0}}
"""
CACHES = "class_cache: {levels: [default, warm]}"
USERS = "users: {levels: [2, 4]}"


def began_up(trial: Trial) -> None:
    server = next(one for one in trial.components if one.role == "server")
    assert server.start_seconds is not None
    assert trial.first_answers["ping"] >= server.start_seconds - 0.5
    assert trial.metrics["start_cpu"] > 0.5
    assert trial.metrics["start_rss"] > 50e6
    assert "throughput" not in trial.metrics, "a start-up trial has no load"


def rose(trial: Trial) -> None:
    curve = trial.curves["throughput"]
    assert len(curve) == 20
    assert sum(curve) > 100
    assert "cpu_jit" in trial.curves
    assert trial.metrics["time_to_50"] <= 20


def lived(trial: Trial) -> None:
    assert trial.survived is True
    assert trial.measurement is not None
    assert trial.measurement.injector_errors == 0


PROCEDURES = [
    pytest.param("start-up", CACHES, "start", began_up, id="start-up"),
    pytest.param("ramp-up", USERS, "measure", rose, id="ramp-up"),
    pytest.param("survive", USERS, "measure", lived, id="survive"),
]


@pytest.mark.parametrize(("procedure", "factor", "killed_in", "shows"), PROCEDURES)
def test_a_killed_session_goes_on_with_its_schedule(
    tmp_path: Path, out: Path, procedure: str, factor: str, killed_in: str, shows: Callable[[Trial], None]
) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text(
        EXPERIMENT.format(
            procedure=procedure, factor=factor, measure="20s" if procedure == "ramp-up" else "6s", more=""
        ),
        encoding="utf-8",
    )
    began = time.time()
    session = start(path, out)
    session.wait_for_phase(killed_in, began)
    session.process.kill()
    session.end()
    deadline = time.monotonic() + 60
    while processes_that_mention(str(out)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not processes_that_mention(str(out)), f"left behind by a session that was killed in {killed_in}"
    directory = session.directory
    decided = directory.session()
    session = Running("resume", str(directory.path), out=out)
    for number in (1, 2):  # one at a time: each has the patience of a busy machine
        session.wait_until(lambda number=number: len(directory.trials()) >= number, f"trial {number}")  # type: ignore[misc]
    assert session.interrupt() == 130
    trials = directory.trials()
    assert directory.session() == decided
    assert [trial.arm for trial in trials[:2]] == [place.arm for place in decided.schedule[:2]]
    assert not void_for_other_reasons_than_noise(trials)
    for trial in trials[:2]:
        shows(trial)
    if "class_cache" in factor:
        populated = [entry.arm for entry in directory.journal() if entry.event == "populate"]
        assert populated, "no run filled the cache of the arm that starts with a warm one"
        assert set(populated) == {"class-cache-warm"}
        assert list((directory.path / "caches" / "class-cache-warm" / "server").iterdir())
    assert call("report", str(directory.path)).returncode == 0
    assert not processes_that_mention(str(out))


def test_a_search_raises_users_until_a_limit_is_broken(tmp_path: Path, out: Path) -> None:
    more = "search: {raise: users, within: {p99: 1ms}, most: 16, confirm: 0, trials: 4}"
    path = tmp_path / "tiny.yaml"
    path.write_text(
        EXPERIMENT.format(procedure="steady", factor="jvms: {levels: [1]}", measure="4s", more=more),
        encoding="utf-8",
    )
    session = start(path, out)
    directory = session.directory
    for number in (1, 2):
        session.wait_until(lambda number=number: len(directory.trials()) >= number, f"trial {number}")  # type: ignore[misc]
    assert session.interrupt() == 130
    first, second, *_ = directory.trials()
    assert first.value == 4
    assert second.value is not None
    assert first.measurement is not None
    if first.state == "valid":
        assert second.value != first.value, "what a trial said decides the next one"
    (found,) = directory.analysis().searches
    assert [step.value for step in found.runs[0].steps[:2]] == [first.value, second.value]
    assert found.sentences
    assert not processes_that_mention(str(out))
