# SPDX-License-Identifier: Apache-2.0
"""What a session says before it starts that it would take to see 5 %."""

import math
from pathlib import Path

import pytest
from test_power import LEVELS, earlier, planned

from steelyard.analysis.paired import detectable_effect
from steelyard.gate.certificate import Windows
from steelyard.gate.needs import WANTED, _needs, describe_needs
from steelyard.gate.power import PUBLISHED, earlier_sessions, primary_spread
from steelyard.session.plan import SessionPlan


@pytest.fixture(scope="module")
def plan() -> SessionPlan:
    return planned(LEVELS)


def described(plan: SessionPlan, results: Path) -> list[str]:
    return describe_needs(plan, earlier_sessions(plan, results))


def test_without_an_earlier_session_the_largest_published_spread_is_taken(
    plan: SessionPlan, tmp_path: Path
) -> None:
    (line,) = described(plan, tmp_path)
    assert line.startswith("To see 5 % in throughput (by the largest published spread): ")
    spread = primary_spread(plan, earlier_sessions(plan, tmp_path))
    assert spread is not None
    assert spread.sd == pytest.approx(math.sqrt(2) * PUBLISHED["throughput"][1])
    each = {need.arms: need for arms in (3, 2) for need in _needs(plan, spread.sd, None, arms)}
    for arms, need in each.items():
        before, at = (
            detectable_effect(blocks, spread.sd, arms - 1) for blocks in (need.blocks - 1, need.blocks)
        )
        assert before is not None
        assert at is not None
        assert at <= WANTED < before
    assert each[2].blocks < each[3].blocks
    assert each[2].seconds < each[3].seconds
    assert f"{each[3].blocks} blocks of all arms with windows of" in line
    assert f"; or {each[2].blocks} blocks of the baseline and one arm with windows of" in line


def test_an_earlier_session_here_tells_its_own_spread_and_one_that_sees_enough_needs_nothing(
    plan: SessionPlan, tmp_path: Path
) -> None:
    earlier(tmp_path, plan, 6, 0.04)
    (line,) = described(plan, tmp_path)
    assert "(by the spread in one)" in line
    other = tmp_path / "quiet"
    other.mkdir()
    earlier(other, plan, 6, 0.005)
    assert described(plan, other) == []


def test_longer_windows_are_named_where_they_save_time(plan: SessionPlan) -> None:
    """Where starts do not differ and windows do, a longer window is cheaper than another start."""
    noisy = Windows(seconds=2.0, per_start=5, window_sd=0.2, start_sd=0.0, start_seconds=60.0, best=None)
    equal = noisy.model_copy(update={"window_sd": 0.0, "start_sd": 0.05})
    by_window = {need.window: need for need in _needs(plan, 0.05, noisy, 2)}
    assert by_window[8 * plan.experiment.load.measure].blocks < by_window[plan.experiment.load.measure].blocks
    assert len({need.blocks for need in _needs(plan, 0.05, equal, 2)}) == 1


def test_a_host_that_cannot_see_it_says_so(plan: SessionPlan, tmp_path: Path) -> None:
    earlier(tmp_path, plan, 6, 0.5)
    (line,) = described(plan, tmp_path)
    assert line.endswith("not with 100 blocks of any of these arms; use a quieter host")


def test_searches_and_what_the_load_decides_have_none(tmp_path: Path) -> None:
    assert described(planned(name="capacity"), tmp_path) == []
