# SPDX-License-Identifier: Apache-2.0
"""Levels, times and losses of curves whose truth is known, and ramp-up sessions against their best arm."""

import math
import re

import numpy as np
import pytest
from builders import make_climb, make_session, make_trial

from steelyard.analysis.best import against_best
from steelyard.analysis.estimates import analyse
from steelyard.measure.curves import is_rising, lost_requests, running_median, steady_level, time_to


def test_times_of_a_known_climb() -> None:
    """1 - exp(-t / 10) reaches a share s at -10 ln(1 - s)."""
    curve = make_climb(1000.0, 10.0)
    level = steady_level(curve)
    assert level == pytest.approx(1000.0, rel=1e-4)
    for share in (0.5, 0.8, 0.9, 0.95):
        assert time_to(curve, share * level) == pytest.approx(-10 * math.log(1 - share), abs=0.06)
    # The whole of what an exponential loses is level x time constant.
    assert lost_requests(curve, level) == pytest.approx(10_000.0, rel=0.01)
    assert not is_rising(curve)


def test_noise_hardly_moves_level_and_times() -> None:
    rng = np.random.default_rng(7)
    found = []
    for _ in range(200):
        curve = (np.array(make_climb(1000.0, 10.0)) * rng.normal(1, 0.03, 120)).tolist()
        level = steady_level(curve)
        found.append((level, time_to(curve, 0.8 * level)))
    levels, times = (np.array(part) for part in zip(*found, strict=True))
    assert abs(levels.mean() - 1000) < 3
    assert levels.std() < 10
    assert times.mean() == pytest.approx(-10 * math.log(0.2), abs=0.4)


def test_a_burst_or_a_pause_of_two_seconds_is_passed_over() -> None:
    curve = make_climb(1000.0, 10.0)
    calm = time_to(curve, 900.0)
    curve[2:4] = [2000.0, 2000.0]
    assert time_to(curve, 900.0) == calm
    curve[100:102] = [0.0, 0.0]
    assert steady_level(curve) == pytest.approx(1000.0, rel=1e-4)


def test_what_is_never_reached_has_no_time() -> None:
    assert time_to(make_climb(1000.0, 10.0), 1100.0) is None
    assert time_to([], 1.0) is None


def test_reached_within_the_first_second() -> None:
    assert time_to([100.0] * 20, 50.0) == pytest.approx(0.25)


def test_too_short_or_dead_curves_have_no_level() -> None:
    assert steady_level([100.0] * 7) is None
    assert steady_level([100.0] * 8) == 100.0
    assert steady_level([100.0] * 30 + [0.0] * 30) is None


def test_still_rising() -> None:
    assert is_rising([float(second) for second in range(60)])
    assert not is_rising([100.0] * 60)
    assert not is_rising([1.0, 2.0])


def test_running_median_keeps_a_rise_as_it_is() -> None:
    rise = [float(second) for second in range(20)]
    assert running_median(rise) == rise


def chosen(curves):
    """arm -> curve by block."""
    return {
        arm: {block: make_trial(block, arm, curves={"throughput": curve}) for block, curve in blocks.items()}
        for arm, blocks in curves.items()
    }


def test_times_against_the_best_arm_use_its_level_in_the_same_block() -> None:
    fast = {1: make_climb(1000.0, 5.0), 2: make_climb(1200.0, 5.0)}
    slow = {1: make_climb(900.0, 20.0), 2: make_climb(1080.0, 20.0)}
    found, partly, notes = against_best(chosen({"slow": slow, "fast": fast}))
    # 80 % of the best is 8/9 of its own level, in each block.
    expected = -20 * math.log(1 - 8 / 9)
    assert found["time_to_80_of_best"]["slow"] == pytest.approx({1: expected, 2: expected}, abs=0.15)
    assert found["requests_lost_to_best"]["slow"][1] == pytest.approx(100 * 120 + 900 * 20, rel=0.02)
    # 900 of 1000: the slow arm never comes up to 95 %, and 90 % only in the limit.
    assert "slow" not in found["time_to_95_of_best"]
    assert set(found["time_to_95_of_best"]["fast"]) == {1, 2}
    assert partly["time_to_95_of_best"]["slow"] == {}
    assert any(note.startswith("slow came up to 95 %") and "(fast) in 0 of 2" in note for note in notes)


def test_one_trial_that_never_came_up_takes_the_arms_time_away() -> None:
    """Leaving out the slow trial alone would keep the fast one."""
    fast = {1: make_climb(1000.0, 5.0), 2: make_climb(1000.0, 5.0)}
    mixed = {1: make_climb(1000.0, 5.0), 2: make_climb(600.0, 5.0)}
    found, partly, notes = against_best(chosen({"fast": fast, "mixed": mixed}))
    assert set(found["time_to_80_of_best"]) == {"fast"}
    assert partly["time_to_80_of_best"]["mixed"] == pytest.approx({1: -5 * math.log(0.2)}, abs=0.1)
    (note,) = (note for note in notes if note.startswith("mixed came up to 80 %"))
    assert re.search(r"\(fast\) in 1 of 2 trials .* \(those after 8[.]0\d s\): it has no mean time", note)
    assert set(found["time_to_50_of_best"]["mixed"]) == {1, 2}


def test_analysis_has_them_with_intervals_and_notes() -> None:
    curves = {"jvms-1": (1000.0, 20.0), "jvms-2": (1000.0, 10.0)}
    trials = [
        make_trial(
            block,
            arm,
            curves={"throughput": make_climb(level * (1 + 0.01 * (block % 2)), slow + 0.1 * block)},
        )
        for arm, (level, slow) in curves.items()
        for block in range(1, 7)
    ]
    found = analyse(make_session([1, 2], 6, metrics={"primary": "time_to_80_of_best"}), trials)
    one = found.estimates["time_to_80_of_best"]["jvms-2"]
    assert one.ratio == pytest.approx(0.5, abs=0.02)
    assert one.n == 6
    assert found.metrics[0].label == "time to 80 % of the best arm's level"
    assert not [note for note in found.notes if "No valid trial has" in note]


def test_other_sessions_have_no_best_arm() -> None:
    assert against_best({"a": {1: make_trial(1, "a")}}) == ({}, {}, [])


def test_the_best_arm_is_not_the_one_that_lacks_a_bad_block() -> None:
    best = {1: make_climb(1000.0, 5.0), 2: make_climb(1000.0, 5.0), 3: make_climb(500.0, 5.0)}
    second = {1: make_climb(900.0, 5.0), 2: make_climb(900.0, 5.0)}
    found, _, notes = against_best(chosen({"best": best, "second": second}))
    assert set(found["time_to_95_of_best"]) == {"best"}
    assert any("the best arm (best)" in note for note in notes)
