# SPDX-License-Identifier: Apache-2.0
"""What a quick session chooses in the place of its file's form, by the spread of an earlier session here."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from test_power import earlier

from steelyard.analysis.paired import fraction_of, sd_bound
from steelyard.gate import needs, quick
from steelyard.gate.certificate import Windows
from steelyard.gate.power import Spread, earlier_sessions, primary_spread
from steelyard.gate.quick import BUDGET, _forms, sharpen_quick
from steelyard.session.earlier import Earlier
from steelyard.session.plan import RunRequest, SessionPlan, make_plan

FILE = """steelyard: 1
name: three
title: Three
question: How many?
workload: ping
factors: {jvms: {levels: [1, 2, 4]}}
deployment: {total_heap: 768m}
load: {users: 8}
quick: {blocks: 5, measure: 8s, warmup: 4s}
"""


NOISY = Windows(seconds=2.0, per_start=4, window_sd=0.2, start_sd=0.0, start_seconds=60.0, best=None)
"""Starts do not differ, and windows do."""


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> SessionPlan:
    path = tmp_path_factory.mktemp("three") / "three.yaml"
    path.write_text(FILE, encoding="utf-8")
    return make_plan(RunRequest(str(path), quick=True, seed=5))


def sharpened(plan: SessionPlan, results: Path) -> SessionPlan:
    return sharpen_quick(plan, earlier_sessions(plan, results))


def test_nothing_is_chosen_where_nothing_is_known_or_where_it_sees_enough(
    plan: SessionPlan, tmp_path: Path
) -> None:
    assert sharpened(plan, tmp_path) is plan
    earlier(tmp_path, plan, 5, 0.01)
    assert sharpened(plan, tmp_path) is plan


@pytest.fixture
def varied(
    plan: SessionPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Pairs vary by 20 %, so that no form with all arms sees 10 % on any host; or by what the test says."""
    earlier(tmp_path, plan, 5, 0.05)

    def spread(made: SessionPlan, known: Sequence[Earlier]) -> Spread | None:
        seen = primary_spread(made, known)
        return seen and seen._replace(sd=getattr(request, "param", 0.2))

    monkeypatch.setattr(quick, "primary_spread", spread)


@pytest.mark.usefixtures("varied")
def test_fewer_arms_and_more_blocks_where_windows_say_nothing(plan: SessionPlan, tmp_path: Path) -> None:
    chosen = sharpened(plan, tmp_path)
    assert [arm.name for arm in chosen.arms] == ["jvms-1", "jvms-4"]
    assert chosen.experiment.load.measure == plan.experiment.load.measure
    assert chosen.experiment.design.blocks > 5
    assert sum(chosen.expected_seconds()) / 2 <= 1.05 * BUDGET
    (sentence,) = chosen.choices
    assert "2 of 3 arms (jvms-1, jvms-4)" in sentence
    assert sentence in chosen.notes


@pytest.mark.usefixtures("varied")
def test_where_trials_take_longer_fewer_of_them_are_chosen(plan: SessionPlan, tmp_path: Path) -> None:
    chosen = sharpened(replace(plan, overrun=40.0), tmp_path)
    assert chosen.overrun == 40.0
    assert len(chosen.schedule) < len(sharpened(plan, tmp_path).schedule)
    assert chosen.expected_seconds()[1] <= BUDGET


@pytest.mark.usefixtures("varied")
def test_longer_windows_where_windows_are_what_varies(
    plan: SessionPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(needs, "windows_of", lambda _trials: NOISY)
    chosen = sharpened(plan, tmp_path)
    assert chosen.experiment.load.measure > plan.experiment.load.measure
    assert "instead of 8 s" in chosen.choices[0]


def test_windows_of_throughput_choose_nothing_for_another_metric(
    plan: SessionPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier(tmp_path, plan, 5, 0.05)
    monkeypatch.setattr(needs, "windows_of", lambda _trials: NOISY)
    spread = primary_spread(plan, earlier_sessions(plan, tmp_path))
    assert spread is not None
    assert len({form.window for form in _forms(plan, spread)}) > 1
    latency = spread._replace(metric="latency_p99")
    assert {form.window for form in _forms(plan, latency)} == {plan.experiment.load.measure}


@pytest.mark.usefixtures("varied")
def test_what_it_sees_is_told_by_the_bound_of_a_spread_of_few_blocks_too(
    plan: SessionPlan, tmp_path: Path
) -> None:
    (sentence,) = sharpened(plan, tmp_path).choices
    assert sentence.startswith("By the spread seen in one (5 blocks) a quick session")
    size, bound = re.findall(r"no less than (\S+) % \((\S+) % by the upper 95 % bound", sentence)[0]
    exact = fraction_of(math.log1p(float(size) / 100) * sd_bound(5))
    assert float(bound) / 100 == pytest.approx(exact, rel=0.05)


@pytest.mark.usefixtures("varied")
@pytest.mark.parametrize("varied", [0.075], indirect=True)
def test_all_arms_stay_where_more_blocks_are_enough(plan: SessionPlan, tmp_path: Path) -> None:
    chosen = sharpened(plan, tmp_path)
    assert len(chosen.arms) == 3
    assert chosen.experiment.design.blocks > 5
    assert "all arms" in chosen.choices[0]
    assert "still" not in chosen.choices[0]


def test_a_host_that_sees_nothing_so_soon_says_what_it_still_sees(plan: SessionPlan, tmp_path: Path) -> None:
    earlier(tmp_path, plan, 5, 0.5)
    assert "still sees no less than" in sharpened(plan, tmp_path).choices[0]


@pytest.mark.parametrize("settings", [("measure=9s",), ("jvms=1,2,4",)])
def test_what_the_user_chose_is_kept(plan: SessionPlan, tmp_path: Path, settings: tuple[str, ...]) -> None:
    earlier(tmp_path, plan, 5, 0.05)
    asked = replace(plan, request=replace(plan.request, settings=settings))
    assert sharpened(asked, tmp_path) is asked
    whole = replace(plan, request=replace(plan.request, quick=False))
    assert sharpened(whole, tmp_path) is whole


def test_searches_are_left_as_they_are(tmp_path: Path) -> None:
    search = make_plan(RunRequest("capacity", quick=True, seed=5))
    assert sharpened(search, tmp_path) is search
