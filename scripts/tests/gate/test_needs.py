# SPDX-License-Identifier: Apache-2.0
"""What a session says before it starts that it would take to see 5 %."""

import math
from pathlib import Path

import pytest
from test_power import LEVELS, earlier, planned

from steelyard.analysis.paired import detectable_effect
from steelyard.gate import needs
from steelyard.gate.certificate import Windows
from steelyard.gate.needs import WANTED, _needs, describe_needs, known_windows
from steelyard.gate.power import PUBLISHED, Spread, earlier_sessions, primary_spread
from steelyard.session.plan import SessionPlan


@pytest.fixture(scope="module")
def plan() -> SessionPlan:
    return planned(LEVELS)


def described(plan: SessionPlan, results: Path) -> list[str]:
    return describe_needs(plan, earlier_sessions(plan, results))


NOISY = Windows(seconds=2.0, per_start=5, window_sd=0.2, start_sd=0.0, start_seconds=60.0, best=None)
"""Starts do not differ, and windows do."""


def seen(plan: SessionPlan, results: Path) -> Spread:
    spread = primary_spread(plan, earlier_sessions(plan, results))
    assert spread is not None
    return spread


def test_without_an_earlier_session_the_largest_published_spread_is_taken(
    plan: SessionPlan, tmp_path: Path
) -> None:
    (line,) = described(plan, tmp_path)
    assert line.startswith("To see 5 % in throughput, by the largest published spread: ")
    spread = seen(plan, tmp_path)
    assert spread.sd == pytest.approx(math.sqrt(2) * PUBLISHED["throughput"][1])
    each = {need.arms: need for arms in (3, 2) for need in _needs(plan, spread, None, arms)}
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
    assert line.startswith("To see 5 % in throughput, by the spread seen in one (6 blocks): ")
    other = tmp_path / "quiet"
    other.mkdir()
    earlier(other, plan, 6, 0.005)
    assert described(plan, other) == []


def test_longer_windows_are_named_where_they_save_time(plan: SessionPlan, tmp_path: Path) -> None:
    """Where starts do not differ and windows do, a longer window is cheaper than another start."""
    earlier(tmp_path, plan, 6, 0.02)
    spread = seen(plan, tmp_path)._replace(sd=0.05)
    equal = NOISY.model_copy(update={"window_sd": 0.0, "start_sd": 0.05})
    by_window = {need.window: need for need in _needs(plan, spread, NOISY, 2)}
    assert by_window[8 * plan.experiment.load.measure].blocks < by_window[plan.experiment.load.measure].blocks
    assert len({need.blocks for need in _needs(plan, spread, equal, 2)}) == 1


def test_a_spread_of_long_windows_is_not_that_of_short_ones(
    plan: SessionPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was taken as that of the planned window: 4, 3 and 3 blocks were named."""
    earlier(tmp_path, plan, 6, 0.02)
    short = planned(LEVELS, "measure=8s")
    spread = seen(short, tmp_path)._replace(sd=0.02)
    assert [(need.window, need.blocks) for need in _needs(short, spread, NOISY, 2)] == [
        (8, 12),
        (16, 8),
        (32, 5),
        (64, 4),
    ]
    monkeypatch.setattr(needs, "primary_spread", lambda *_: spread)
    assert described(short, tmp_path) == []
    monkeypatch.setattr(needs, "windows_of", lambda _: NOISY)
    (line,) = described(short, tmp_path)
    assert ", by the spread seen in one (6 blocks of 1 min, not 8 s): " in line


def test_windows_of_throughput_say_nothing_of_another_metric(
    plan: SessionPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier(tmp_path, plan, 6, 0.05)
    spread = seen(plan, tmp_path)
    monkeypatch.setattr(needs, "windows_of", lambda _: NOISY)
    assert known_windows(spread) == NOISY
    for metric in ("latency_p99", "cpu_per_1k"):
        assert known_windows(spread._replace(metric=metric)) is None


def test_a_host_that_cannot_see_it_says_so(plan: SessionPlan, tmp_path: Path) -> None:
    earlier(tmp_path, plan, 6, 0.5)
    (line,) = described(plan, tmp_path)
    assert line.endswith("not with 100 blocks of any of these arms; use a quieter host")


def test_searches_and_what_the_load_decides_have_none(tmp_path: Path) -> None:
    assert described(planned(name="capacity"), tmp_path) == []
