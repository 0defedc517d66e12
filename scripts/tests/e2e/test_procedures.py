# SPDX-License-Identifier: Apache-2.0
"""Each procedure on the real ping server: what it leaves, and that a killed one resumes to the same schedule."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.results.schema import Trial

from .driver import Running, processes_that_mention, start, void_for_other_reasons_than_noise

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
  warmup: {{until: fixed, at_least: 1s}}
  measure: {measure}
metrics: {{primary: start_time}}
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
    assert len(curve) == 10
    assert sum(curve) > 100
    assert "cpu_jit" in trial.curves
    assert trial.metrics["time_to_50"] <= 10


def lived(trial: Trial) -> None:
    assert trial.survived is True
    assert trial.measurement is not None
    assert trial.measurement.injector_errors == 0


PROCEDURES = [
    pytest.param("start-up", CACHES, "6s", "start", 2, began_up, id="start-up"),
    pytest.param("ramp-up", USERS, "10s", "measure", 1, rose, id="ramp-up"),
    pytest.param("survive", USERS, "4s", "measure", 1, lived, id="survive"),
]
"""What is measured, the phase in which the harness is killed, the trials to run after that, what each shows."""


@pytest.mark.parametrize(("procedure", "factor", "measure", "killed_in", "count", "shows"), PROCEDURES)
def test_a_killed_session_goes_on_with_its_schedule(
    tmp_path: Path,
    out: Path,
    procedure: str,
    factor: str,
    measure: str,
    killed_in: str,
    count: int,
    shows: Callable[[Trial], None],
) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text(
        EXPERIMENT.format(procedure=procedure, factor=factor, measure=measure, more=""), encoding="utf-8"
    )
    began = time.time()
    session = start(path, out)
    session.wait_for_phase(killed_in, began)
    session.kill()
    directory = session.directory
    decided = directory.session()
    session = Running("resume", str(directory.path), out=out)
    session.wait_for_trials(count)
    assert session.interrupt() == 130
    trials = directory.trials()
    assert directory.session() == decided
    assert [trial.arm for trial in trials[:count]] == [place.arm for place in decided.schedule[:count]]
    assert not void_for_other_reasons_than_noise(trials)
    for trial in trials[:count]:
        shows(trial)
    if "class_cache" in factor:
        populated = [entry.arm for entry in directory.journal() if entry.event == "populate"]
        assert populated, "no run filled the cache of the arm that starts with a warm one"
        assert set(populated) == {"class-cache-warm"}
        assert list((directory.path / "caches" / "class-cache-warm" / "server").iterdir())
    assert "has not ended" in (directory.path / "report.md").read_text(encoding="utf-8")
    assert not processes_that_mention(str(out))


def test_a_search_raises_users_until_a_limit_is_broken(tmp_path: Path, out: Path) -> None:
    more = "search: {raise: users, within: {p99: 1ms}, most: 16, confirm: 0, trials: 4}"
    path = tmp_path / "tiny.yaml"
    text = EXPERIMENT.format(procedure="steady", factor="jvms: {levels: [1]}", measure="3s", more=more)
    # On a busy machine the first trial is void: the search asks again, and does not end with it.
    path.write_text(text.replace("repeats: 0", "repeats: 2"), encoding="utf-8")
    session = start(path, out)
    directory = session.directory
    session.wait_for_trials(2)
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
