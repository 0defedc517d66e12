# SPDX-License-Identifier: Apache-2.0
"""Each procedure on the real ping server: what it leaves, and that a killed one resumes to the same schedule."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.results.schema import Trial

from .driver import Running, processes_that_mention, start
from .noise import stood_still, void_for_other_reasons_than_noise

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("host")]

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
  request_timeout: 2m
metrics: {{primary: start_time}}
{more}
design: {{blocks: 6, repeats: 0}}
"""
"""With more blocks than a quiet machine needs: trials that stood still are not judged."""
CACHES = "class_cache: {levels: [default, warm]}"
USERS = "users: {levels: [2, 4]}"


def began_up(trial: Trial) -> None:
    server = next(one for one in trial.components if one.role == "server")
    assert (server.value("start_seconds") or 0) > 0
    # Both count from the start of the server's process; the injector has ended before the measurement has.
    assert 0 < trial.first_answers["ping"] <= trial.phases["measure"][1] - trial.phases["start"][0]
    assert trial.metrics["start_cpu"] > 0
    assert trial.metrics["start_rss"] > 20e6, "not that of a JVM"
    assert "throughput" not in trial.metrics, "a start-up trial has no load"


def rose(trial: Trial) -> None:
    curve = trial.curves["throughput"]
    assert trial.measurement is not None
    assert trial.measurement.injector_errors == 0
    # Whole seconds of an injector that ends a little later than the curve.
    assert 0 < sum(curve) <= trial.measurement.injector_requests
    assert len(curve) == round(trial.measurement.measure_seconds)
    assert len(trial.curves["cpu_jit"]) == len(curve)
    assert trial.metrics["time_to_50"] <= len(curve)


def lived(trial: Trial) -> None:
    assert trial.survived is True
    assert trial.measurement is not None
    assert trial.measurement.injector_errors == 0
    assert trial.measurement.injector_requests > 0


def has_a_level(trial: Trial) -> bool:
    """Whether a busy machine came far enough: a curve that is zero in its last quarter has no level to come up to."""
    return trial.metrics.get("steady_level", 0) > 0


def anything(trial: Trial) -> bool:
    return True


def experiment_of(path: Path, procedure: str, factor: str, measure: str, more: str = "") -> Path:
    """Write an experiment file."""
    text = EXPERIMENT.format(procedure=procedure, factor=factor, measure=measure, more=more)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("procedure", "measure", "shows"),
    [
        pytest.param("start-up", "6s", began_up, id="start-up"),
        pytest.param("survive", "4s", lived, id="survive"),
    ],
)
def test_a_procedure_measures_what_it_is_for(
    tmp_path: Path, out: Path, procedure: str, measure: str, shows: Callable[[Trial], None]
) -> None:
    session = start(experiment_of(tmp_path / "tiny.yaml", procedure, USERS, measure), out)
    (trial,) = session.wait_for_undisturbed()
    assert session.interrupt() == 130
    shows(trial)
    assert "has not ended" in (session.directory.path / "report.md").read_text(encoding="utf-8")
    assert not processes_that_mention(str(out))


KILLED = [
    pytest.param("ramp-up", USERS, "8s", "measure", 1, rose, has_a_level, id="ramp-up"),
    pytest.param(
        "start-up", CACHES, "6s", "start", 2, began_up, anything, id="start-up", marks=pytest.mark.full
    ),
    pytest.param("survive", USERS, "4s", "measure", 1, lived, anything, id="survive", marks=pytest.mark.full),
]
"""What is measured, the phase in which the harness is killed, of how many arms trials are to run after that, what each
shows, and from when on it shows that."""


@pytest.mark.parametrize(("procedure", "factor", "measure", "killed_in", "arms", "shows", "enough"), KILLED)
def test_a_killed_session_goes_on_with_its_schedule(
    tmp_path: Path,
    out: Path,
    procedure: str,
    factor: str,
    measure: str,
    killed_in: str,
    arms: int,
    shows: Callable[[Trial], None],
    enough: Callable[[Trial], bool],
) -> None:
    began = time.time()
    session = start(experiment_of(tmp_path / "tiny.yaml", procedure, factor, measure), out)
    session.wait_for_phase(killed_in, began)
    session.kill()
    directory = session.directory
    decided = directory.session()
    session = Running("resume", str(directory.path), out=out)
    shown = session.wait_for_undisturbed(arms, enough)
    assert session.interrupt() == 130
    trials = directory.trials()
    assert directory.session() == decided
    assert [trial.arm for trial in trials] == [place.arm for place in decided.schedule[: len(trials)]]
    for trial in shown:
        shows(trial)
    if "class_cache" in factor:
        populated = [entry.arm for entry in directory.journal() if entry.event == "populate"]
        assert populated, "no run filled the cache of the arm that starts with a warm one"
        assert set(populated) == {"class-cache-warm"}
        assert list((directory.path / "caches" / "class-cache-warm" / "server").iterdir())
    assert "has not ended" in (directory.path / "report.md").read_text(encoding="utf-8")
    assert not processes_that_mention(str(out))


def test_a_search_raises_users_until_a_limit_is_broken(tmp_path: Path, out: Path) -> None:
    more = "search: {raise: users, within: {p99: 1ms}, maximum: 16, confirm: 0, trials: 4}"
    path = experiment_of(tmp_path / "tiny.yaml", "steady", "jvms: {levels: [1]}", "3s", more)
    # On a busy machine the first trial is void: the search asks again, and does not end with it.
    path.write_text(path.read_text(encoding="utf-8").replace("repeats: 0", "repeats: 2"), encoding="utf-8")
    session = start(path, out)
    directory = session.directory
    session.wait_for_trials(2)
    assert session.interrupt() == 130
    trials = directory.trials()
    assert not void_for_other_reasons_than_noise(trials)
    first, second, *_ = trials
    assert first.value == 4
    assert second.value is not None
    assert first.measurement is not None or stood_still(first)
    if first.state == "valid":
        assert second.value != first.value, "what a trial said decides the next one"
    (found,) = directory.analysis().searches
    assert [step.value for step in found.runs[0].steps[:2]] == [first.value, second.value]
    assert found.sentences
    assert not processes_that_mention(str(out))
