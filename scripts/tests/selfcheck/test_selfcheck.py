# SPDX-License-Identifier: Apache-2.0
"""The shorter self-check: fixed seed, bands as wide as its Monte-Carlo error asks for."""

import io
import math

import numpy as np
import pytest
from rich.console import Console

from steelyard.analysis.estimates import analyse
from steelyard.results.schema import ArmRecord, ScheduledTrial, Session, Trial
from steelyard.selfcheck.figures import Figure, SelfcheckResult
from steelyard.selfcheck.hosts import _SPEC, DRIFTING, NOISY, QUIET, HostModel
from steelyard.selfcheck.render import render
from steelyard.selfcheck.run import _simulated, run_selfcheck
from steelyard.selfcheck.simulate import (
    BASELINE,
    CANDIDATE,
    Cell,
    Tally,
    pair_estimate,
    run_session,
    simulate,
)

SESSIONS = 200


@pytest.fixture(scope="module")
def progress():
    return []


@pytest.fixture(scope="module")
def result(progress):
    return run_selfcheck(SESSIONS, seed=7, progress=progress.append)


def figures(result, group):
    return [figure for figure in result.figures if figure.group == group]


def test_every_figure_lies_in_its_band(result):
    assert [f"{one.group}: {one.name} {one.measured}" for one in result.figures if one.passed is False] == []
    assert result.passed


@pytest.mark.parametrize(
    ("group", "points"),
    [
        ("false alarms, random pairs", 4.5),
        ("a true -3 % is found", 3.0),
        ("95 % interval holds the truth (-3 %)", 4.0),
        ("false alarms, all of A, then all of B", 9.0),
        ("false alarms, stored baseline", 9.0),
    ],
)
def test_figures_of_the_method_come_out(result, group, points):
    compared = [one for one in figures(result, group) if one.method is not None]
    assert len(compared) == 3
    for one in compared:
        assert one.measured == pytest.approx(one.method, abs=points), one.name


def test_what_has_to_be_simulated_is_simulated(result):
    assert {one.sessions for one in figures(result, "a true -3 % is found")} == {SESSIONS}
    assert len(figures(result, "gate passes an unchanged build")) == 16
    assert all(one.error > 0 or one.measured in {0.0, 2.0, 100.0} for one in result.figures)


def test_progress_rises_to_one(result, progress):
    assert progress == sorted(progress)
    assert progress[-1] == 1.0


def test_same_seed_same_result_on_any_number_of_processes():
    cells = [Cell(DRIFTING, 6), Cell(NOISY, 4)] * 2
    jobs = [(cell, 5, np.random.SeedSequence(5, spawn_key=(1, index))) for index, cell in enumerate(cells)]
    with _simulated(jobs, 1) as alone, _simulated(jobs, 2) as shared:
        assert list(alone) == list(shared)
    cell = Cell(DRIFTING, 6)
    assert simulate(cell, 5, np.random.SeedSequence(5)) != simulate(cell, 5, np.random.SeedSequence(6))


def test_survives_json(result):
    again = SelfcheckResult.model_validate_json(result.model_dump_json())
    assert again == result
    assert '"passed":true' in result.model_dump_json()


def test_a_broken_analysis_is_noticed():
    """Averaging void trials in, as one must not, shows in the very figures of the self-check."""
    cell = Cell(DRIFTING, 10, effect=-0.03, void_share=0.2)
    rng = np.random.default_rng(1)
    honest, naive = Tally(), []
    for _ in range(100):
        trials = run_session(cell, rng)
        found = pair_estimate(trials)
        honest.covered += found.low <= 0.97 <= found.high
        first = [trial.model_copy(update={"state": "valid"}) for trial in trials if trial.attempt == 0]
        naive.append(pair_estimate(first))
    wide = [math.log(one.high / one.low) for one in naive]
    assert honest.covered >= 88
    assert np.median(wide) > 0.10  # an interval of 10 %, where the honest one has about 2 %


def test_bands_are_strict_only_with_many_sessions():
    few = Figure.rate("g", "n", 75, 1000, band=(4.0, 6.0))
    many = Figure.rate("g", "n", 300, 4000, band=(4.0, 6.0))
    assert few.measured == many.measured == 7.5
    assert few.passed is True
    assert many.passed is False
    assert Figure.rate("g", "n", 100, 1000, band=(4.0, 6.0)).passed is False
    assert Figure.rate("g", "n", 75, 1000).passed is None


def test_table_tells_a_figure_in_its_band_from_one_that_is_only_not_refuted():
    few = Figure.rate("g", "n", 75, 1000, band=(4.0, 6.0))
    inside = Figure.rate("g", "m", 50, 1000, band=(4.0, 6.0))
    text = io.StringIO()
    shown = SelfcheckResult(steelyard_version="1", sessions=1000, seed=1, figures=[few, inside])
    Console(file=text, width=160).print(render(shown))
    lines = {line.split()[0]: line for line in text.getvalue().splitlines() if "4 to 6" in line}
    assert "by its error" in lines["n"]
    assert "in band" in lines["m"]


@pytest.mark.parametrize("failing", [False, True])
def test_table_shows_figures_and_verdict(result, failing):
    bad = Figure.rate("group", "name of the bad one", 500, 5000, band=(4.0, 6.0))
    shown = result.model_copy(update={"figures": [*result.figures, bad]}) if failing else result
    text = io.StringIO()
    Console(file=text, width=160, force_terminal=False).print(render(shown))
    for one in shown.figures:
        assert one.name in text.getvalue()
    assert ("OUT OF BAND" in text.getvalue()) is failing
    assert ("All " in text.getvalue()) is not failing


@pytest.mark.parametrize(
    ("host", "noise", "drift"), [(QUIET, 0.007, 0), (DRIFTING, 0.007, 0.035), (NOISY, 0.013, 0.0525)]
)
def test_hosts_vary_as_they_say(host, noise, drift):
    paths = host.paths(np.random.default_rng(2), 40_000, 10)
    between = paths[:, -1].std()
    steps = math.sqrt(host.step_share) * host.step
    assert between == pytest.approx(math.sqrt(noise**2 + drift**2 + host.level**2 + steps**2), rel=0.03)
    inside = (paths[:, 1] - paths[:, 0]).std()
    step_there = math.sqrt(host.step_share / 9) * host.step
    assert inside == pytest.approx(math.sqrt(2 * noise**2 + drift**2 / 10 + step_there**2), rel=0.03)


def test_drift_is_about_what_the_method_says():
    paths = HostModel("walk", noise=0.0, drift=DRIFTING.drift).paths(np.random.default_rng(2), 20_000, 40)
    assert abs(paths).mean() == pytest.approx(0.019, abs=0.001)


def test_disturbed_trials_are_voided_by_the_ledger():
    trials = run_session(Cell(QUIET, 50, void_share=0.5), np.random.default_rng(1))
    assert {trial.state for trial in trials} == {"valid", "void"}
    for trial in trials:
        slow = trial.metrics["throughput"] < 9_000
        assert (trial.state == "void") == slow
        assert {check.name for check in trial.checks if check.failed} == ({"steal"} if slow else set())
        assert Trial.model_validate_json(trial.model_dump_json()) == trial


def test_the_fast_path_is_the_whole_analysis():
    """What the self-check counts is what `analyse` reports."""
    cell = Cell(DRIFTING, 8, effect=-0.03, void_share=0.2)
    trials = run_session(cell, np.random.default_rng(4))
    assert any(trial.state == "void" for trial in trials)
    whole = analyse(_session(trials), trials).estimates["throughput"][CANDIDATE]
    assert whole.model_copy(update={"p_holm": None, "remarks": []}) == pair_estimate(trials)


def test_effect_is_found_where_it_is():
    tally = simulate(Cell(QUIET, 6, effect=0.05), 50, np.random.SeedSequence(1))
    assert (tally.sessions, tally.found, tally.regressions) == (50, 50, 0)
    assert tally.bias / 50 == pytest.approx(0.0, abs=0.003)
    assert (tally.trials, tally.voids, tally.incomplete, tally.most_repeats) == (600, 0, 0, 0)


def _session(trials):
    """What `analyse` reads of a session; the rest of the record is not its business."""
    arms = [
        ArmRecord.model_construct(name=arm, levels={"arm": arm}, baseline=arm == BASELINE, spec=_SPEC)
        for arm in (BASELINE, CANDIDATE)
    ]
    schedule = [
        ScheduledTrial(order=one.order, block=one.block, arm=one.arm) for one in trials if one.attempt == 0
    ]
    return Session.model_construct(id="synthetic", experiment={}, arms=arms, schedule=schedule)
