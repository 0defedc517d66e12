# SPDX-License-Identifier: Apache-2.0
"""The self-check with few sessions, and what it is made of."""

import io
import math
import re

import numpy as np
import pytest
import scipy
from planted import BUGS, is_lost
from rich.console import Console

from steelyard.paths import ROOT
from steelyard.results.schema import Planned, Trial
from steelyard.selfcheck import hosts
from steelyard.selfcheck.cells import Must, cells, power
from steelyard.selfcheck.figures import TAIL, SelfcheckResult, SimulatedShare, limits
from steelyard.selfcheck.hosts import DRIFTING, NOISY, QUIET, HostModel
from steelyard.selfcheck.render import render
from steelyard.selfcheck.run import CHUNK, _tallies, figures_of, jobs_of, run_selfcheck, simulate
from steelyard.selfcheck.simulate import A, ArmModel, Setup, run_sessions
from steelyard.selfcheck.trials import SPEC, Truth, make_sampled_trial, make_trial

SESSIONS = 4
PLACE = Planned(order=3, block=1, arm="a")


@pytest.fixture(scope="module")
def progress():
    return []


@pytest.fixture(scope="module")
def result(progress):
    return run_selfcheck(SESSIONS, seed=7, progress=progress.append, workers=1)


def test_every_figure_lies_within_its_limits(result):
    assert [
        f"{figure.cell}: {figure.name} {figure.measured}"
        for figure in result.figures
        # Of so few gates none may have a certificate.
        if figure.of and not figure.passed
    ] == []
    assert {figure.cell for figure in result.figures} == {cell.name for cell in cells()}


def test_names_of_cells_are_their_seeds_and_so_differ() -> None:
    assert len({cell.name for cell in cells()}) == len(cells())


def test_each_cell_and_each_planted_bug_stands_in_the_lab_notes() -> None:
    """A page that the command makes lacks what came after it was made."""
    page = (ROOT / "docs/lab-notes/2026-11-26-self-check.md").read_text(encoding="utf-8")
    names = [*(cell.name for cell in cells()), *(bug.name for bug in BUGS)]
    assert [name for name in names if f"| {name} |" not in page] == []
    # What catches a bug is the name of a cell.
    caught = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE))
    assert {caught[bug.name] for bug in BUGS} <= {cell.name for cell in cells()}


def test_progress_rises_to_one(result, progress):
    assert progress == sorted(progress)
    assert progress[-1] == 1.0


def test_same_seed_same_result_on_any_number_of_processes() -> None:
    jobs = jobs_of(cells()[0], CHUNK + 1, seed=5)
    with _tallies(jobs, 1) as alone, _tallies(jobs, 2) as shared:
        assert list(alone) == list(shared)
    other = jobs_of(cells()[0], CHUNK + 1, seed=6)
    assert simulate(jobs[0]) != simulate(other[0])


def test_survives_json(result):
    assert SelfcheckResult.model_validate_json(result.model_dump_json()) == result
    assert '"passed":true' in result.model_dump_json()


@pytest.mark.parametrize("of", [40, 1000])
def test_limits_are_the_binomial_interval_of_the_nominal_share(of):
    low, high = limits(of, "about", 0.05)
    chance = scipy.stats.binom(of, 0.05)
    assert chance.cdf(low - 1) <= TAIL <= chance.cdf(low)
    assert chance.sf(high) <= TAIL <= chance.sf(high - 1)
    assert limits(of, "at most", 0.05) == (0, high)
    assert limits(of, "at least", 0.05) == (low, of)
    assert limits(of, "informs", 0.05) == (0, of)
    assert limits(of, "at least", 1.0) == (of, of)
    assert limits(of, "at most", 0.0) == (0, 0)


def test_a_share_of_nothing_has_not_passed() -> None:
    """A gate that always abstains would pass every figure on those that it does not abstain from."""
    none = SimulatedShare.share("cell", "found where it does", 0, 0, "at least", 0.95)
    assert not none.passed
    assert none.model_copy(update={"side": "informs"}).passed


@pytest.mark.parametrize("share", [0.0, 0.05, 0.09, 0.95, 1.0])
def test_a_cell_that_ends_early_has_failed_for_good(share):
    """The verdict before the end is that of the end."""
    cell = cells()[0]
    hit = np.random.default_rng(1).random(500) < share
    for must in cell.musts:
        tallies = [{must.hits: int(hit[:done].sum()), must.of: done} for done in range(1, 501)]
        lost = [is_lost(must, tally, 500 - tally[must.of]) for tally in tallies]
        named = {figure.hits: 0 for figure in cell.musts} | tallies[-1]
        final = next(figure for figure in figures_of(cell, named) if figure.name == must.name)
        assert lost == sorted(lost)
        assert lost[-1] is not final.passed


@pytest.mark.parametrize(("side", "share"), [("at least", 0.3), ("about", 0.3), ("at most", 0.2)])
def test_a_share_of_some_sessions_is_lost_only_when_no_others_could_save_it(side, share):
    """Half of the sessions count, and nobody knows how many of those that are left will."""
    must = Must("", "hit", side, 0.05 if side == "at most" else 0.95, of="counted")
    counts, hits = (np.random.default_rng(2).random((2, 300)) < [[0.5], [share]]).astype(int)
    ends = range(20, 300, 20)
    tallies = {end: {"counted": counts[:end].sum(), "hit": (counts * hits)[:end].sum()} for end in ends}
    end = next(end for end in ends if is_lost(must, tallies[end], 300 - end))
    for more in range(0, 300 - end, 9):
        for saved in (0, more):
            counted, hit = tallies[end]["counted"] + more, tallies[end]["hit"] + saved
            assert not SimulatedShare.share("", "", hit, counted, side, must.nominal).passed


@pytest.mark.parametrize("failing", [False, True])
def test_table_shows_figures_and_verdict(result, failing):
    bad = SimulatedShare.share("cell", "name of the bad one", 50, 500, "about", 0.05)
    figures = [figure for figure in result.figures if figure.of] + [bad] * failing
    shown = result.model_copy(update={"figures": figures})
    text = io.StringIO()
    Console(file=text, width=160, force_terminal=False).print(render(shown))
    for figure in shown.figures:
        assert figure.name in text.getvalue()
    assert ("OUT" in text.getvalue()) is failing
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


def test_the_other_hosts_vary_as_they_say() -> None:
    def drawn(host):
        return host.paths(np.random.default_rng(2), 40_000, 10)

    assert drawn(hosts.SLOPING).mean(axis=0)[[0, 5]] == pytest.approx([0.0, -0.025], abs=2e-4)
    slow = drawn(hosts.BIMODAL) < -0.02
    assert slow.mean() == pytest.approx(0.3, abs=0.005)
    following = drawn(hosts.FOLLOWING)
    assert np.corrcoef(following[:, 4], following[:, 5])[0, 1] == pytest.approx(0.7, abs=0.02)
    assert following[:, 9].std() == pytest.approx(0.013, rel=0.02)
    beyond = np.abs(drawn(hosts.HEAVY) / 0.007) > 6
    assert beyond.mean() == pytest.approx(2 * scipy.stats.t.sf(6, 3), rel=0.1)


def test_drift_is_about_what_the_method_says() -> None:
    paths = HostModel("walk", noise=0.0, drift=DRIFTING.drift).paths(np.random.default_rng(2), 20_000, 40)
    assert abs(paths).mean() == pytest.approx(0.019, abs=0.001)


@pytest.mark.parametrize(
    ("stored", "method"),
    [(False, (0.44, 0.59, 0.72)), (True, (0.65, 0.75, 0.84))],
    ids=["all a, then all b", "stored"],
)
def test_designs_that_are_refused_call_what_is_not_there_as_often_as_the_method_says(stored, method):
    """On the drifting host, by Welch's t: all runs of a and then all of b, or figures of another session.

    Both sides have the drift of half a session in them.
    """
    for runs, expected in zip((6, 10, 20), method, strict=True):
        paths = DRIFTING.paths(np.random.default_rng(runs), 8_000, 2 * runs)
        a, b = (paths[:4_000, :runs], paths[4_000:, :runs]) if stored else (paths[:, :runs], paths[:, runs:])
        alarms = scipy.stats.ttest_ind(a, b, axis=1, equal_var=False).pvalue < 0.05
        assert alarms.mean() == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize(("host", "blocks", "effect"), [(QUIET, 3, 0.02), (DRIFTING, 6, -0.03)])
def test_nominal_power_is_that_of_the_t_test(host, blocks, effect):
    logs = np.random.default_rng(3).normal(math.log1p(effect), host.spread(blocks), (40_000, blocks))
    test = scipy.stats.ttest_1samp(logs, 0.0, axis=1)
    share = ((test.pvalue < 0.05) & (test.statistic * effect > 0)).mean()
    assert share == pytest.approx(power(host, blocks, effect), abs=0.01)


@pytest.mark.parametrize(("disturbed", "value"), [("", 0.0), ("steal", 0.05), ("unknown", None)])
def test_disturbed_trials_are_voided_by_the_ledger(disturbed, value):
    trial = make_trial(PLACE, SPEC, Truth(10_000.0, 4e-4, 5e8, 5.0, disturbed))
    failed = {check.name: check.value for check in trial.checks if check.has_failed}
    assert failed == ({"steal": value} if disturbed else {})
    assert trial.state == ("void" if disturbed else "valid")
    assert trial.metrics["throughput"] == (8_000.0 if disturbed else 10_000.0)
    assert trial.metrics["cpu_per_1k"] == pytest.approx(0.4)
    assert Trial.model_validate_json(trial.model_dump_json()) == trial


def test_a_trial_from_samples_has_the_figures_of_its_warm_window() -> None:
    trial = make_sampled_trial(
        PLACE, SPEC, Truth(10_000.0, 4e-4, 5e8, 5.0, cold=0.5), np.random.default_rng(1)
    )
    begin, end = trial.phases["measure"]
    assert end - begin == 60
    assert begin - trial.started >= 60
    assert (trial.state, trial.steady) == ("valid", True)
    assert trial.metrics["throughput"] == pytest.approx(10_000, rel=0.006)
    assert trial.metrics["cpu_per_1k"] == pytest.approx(0.4)
    assert Trial.model_validate_json(trial.model_dump_json()) == trial


def test_a_session_is_counted_by_what_was_put_in() -> None:
    arms = (ArmModel("a"), ArmModel("b", 0.05), ArmModel("c", void_share=0.5))
    tally = run_sessions(Setup(QUIET, 6, arms), 10, np.random.default_rng(1))
    assert tally["sessions"] == tally["b found"] == tally["says b is better"] == 10
    assert tally["c found"] == tally["counts a disturbed trial"] == tally["too many repeats"] == 0
    assert tally["void"] > 15
    assert run_sessions(Setup(QUIET, 6, (A, ArmModel("b"))), 1, np.random.default_rng(1))["trials"] == 12
