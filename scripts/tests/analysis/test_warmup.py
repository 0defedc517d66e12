# SPDX-License-Identifier: Apache-2.0
import math
import re

import numpy as np
import pytest
from numpy.typing import NDArray

from steelyard.analysis.warmup import (
    ACCEPTED_FROM,
    has_compiled,
    has_warmed_up,
    interim_seconds,
    judge_steady,
    series_noise,
    visible_change,
    warm_up_ends,
    window_note,
)


def series(seconds=60, ramp=0.0, noise=0.01, seed=1):
    rng = np.random.default_rng(seed)
    return 1000 * (1 + ramp * np.arange(seconds) / 60 + rng.normal(0, noise, seconds))


def share_steady(count=100, **kind):
    return sum(judge_steady(series(seed=seed, **kind).tolist(), None).steady for seed in range(count)) / count


def changed_from(second, factor):
    rates = series()
    rates[second:] *= factor
    return rates


@pytest.mark.parametrize(
    ("rates", "jit", "steady", "says"),
    [
        (
            series(),
            0.001,
            True,
            r"^Steady over the last 60 s: no change point, slope .*, JIT 0\.1 % of the CPU budget\.$",
        ),
        (series(noise=0), 0.0, True, r"slope \+0\.0 %/min \(limit 1\.0 %/min\)"),
        (changed_from(40, 1.1), None, False, "throughput changed 20 s before the end"),
        # Relative to the median of the window, which lies 2.5 % above its beginning.
        (series(ramp=0.05, noise=1e-4), None, False, r"the slope of \+4\.9 %/min is beyond 1\.0 %/min"),
        (series(ramp=-0.05, noise=1e-4), None, False, "the slope of -5"),
        (series(ramp=0.0095, noise=1e-5), None, True, "no change point"),
        # The allowance for noise is bounded: what it may add is 2 % of the level, however noisy the host.
        (series(noise=0.5), None, False, r"(limit|beyond) 3\.0 %/min"),
        (series(), None, True, "JIT not visible"),
        (series(), 0.0199, True, r"JIT 2\.0 %"),
        (series(), 0.02, False, r"JIT threads use 2\.0 % of the CPU budget"),
        (series(seconds=20), None, True, r"^Steady over 20 s \(the rule asks for 60 s\): "),
        (np.array([]), None, False, "too few"),
        (np.full(5, 1000.0), None, False, "too few"),
        (np.zeros(60), None, False, "answered nothing"),
        (np.full(60, np.nan), None, False, "answered nothing"),
    ],
)
def test_a_minute_is_judged_and_says_why(rates, jit, steady, says):
    steadiness = judge_steady(rates.tolist(), jit)
    assert steadiness.steady is steady
    assert re.search(says, steadiness.detail)


def test_a_change_of_variance_alone_is_found() -> None:
    rates = series(noise=0.001)
    rates[30:] = series(noise=0.05, seed=2)[30:]
    said = re.search(r"throughput changed (\d+) s before the end", judge_steady(rates.tolist(), None).detail)
    assert int(said[1]) == pytest.approx(30, abs=3)


def test_only_the_window_is_judged() -> None:
    rates = np.concatenate([series() / 2, series(seed=2)])
    assert judge_steady(rates.tolist(), None).steady
    assert not judge_steady(rates[:-5].tolist(), None).steady


def test_truth_is_told_at_usual_noise() -> None:
    """One percent of noise from second to second, one look at 60 s."""
    assert share_steady() >= 0.95
    assert share_steady(ramp=0.05) <= 0.05
    assert share_steady(ramp=0.10, noise=0.05) <= 0.10


def ends(shape, noise=0.02, count=30):
    """Seconds after which the warm-up was accepted (60 to 240 s), for series that differ in noise and phase."""
    steadiness = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        rates = 1000 * (shape(np.arange(300), rng) + rng.normal(0, noise, 300))
        end = warm_up_ends(rates.tolist(), 60, 240)
        if end is not None:
            steadiness.append((end, judge_steady(rates[: end + 60].tolist(), None).steady))
    return steadiness


def test_looking_again_and_again_does_not_find_a_flat_minute_in_a_rise() -> None:
    """Single looks every 5 s over what there was accepted 43 % of these."""
    assert len(ends(lambda at, _: 1 + 0.05 * at / 60, count=20)) <= 1
    assert ends(lambda at, _: 1 + 0.10 * at / 60, noise=0.05, count=10) == []


def test_flat_series_end_at_the_second_look() -> None:
    steadiness = ends(lambda at, _: np.ones(len(at)))
    assert len(steadiness) == 30
    assert np.mean([end for end, _ in steadiness]) <= ACCEPTED_FROM + 3
    assert np.mean([steady for _, steady in steadiness]) >= 0.95


@pytest.mark.parametrize(
    ("every", "lasting", "depth"), [(20, 3, 0.5), (30, 5, 0.5), (90, 2, 0.9), (10, 1, 0.5)]
)
def test_dips_of_full_collections_are_steady(every, lasting, depth):
    """A quarter and more of these never ended, or (every 90 s) were accepted only between two dips."""
    steadiness = ends(lambda at, rng: 1 - depth * ((at + rng.integers(every)) % every < lasting), count=20)
    assert len(steadiness) == 20
    assert np.mean([end for end, _ in steadiness]) <= ACCEPTED_FROM + 13
    assert np.mean([steady for _, steady in steadiness]) >= 0.9


@pytest.mark.parametrize(("every", "height"), [(10, 0.1), (20, 0.1), (30, 0.05)])
def test_a_saw_tooth_within_half_a_minute_is_steady(every, height):
    steadiness = ends(lambda at, rng: 1 - height * ((at + rng.integers(every)) % every / every), 0.01, 20)
    assert len(steadiness) == 20
    assert np.mean([steady for _, steady in steadiness]) >= 0.9


@pytest.mark.parametrize(("jump", "noise"), [(0.03, 0.005), (0.05, 0.01), (0.10, 0.02)])
def test_jumps_in_the_window_are_found(jump, noise):
    refused = 0
    for seed in range(50):
        rates = series(120, noise=noise, seed=seed)
        rates[60 + np.random.default_rng(seed).integers(6, 54) :] *= 1 + jump
        refused += not judge_steady(rates.tolist(), None).steady
    assert refused >= 46


def test_a_dip_at_the_end_may_be_a_change() -> None:
    rates = series(75)
    rates[-4:] *= 0.5
    assert "throughput changed 4 s before the end" in judge_steady(rates.tolist(), None).detail
    rates[-10:-6], rates[-4:] = rates[-4:], rates[:4]
    told = judge_steady(rates.tolist(), None)
    assert told.steady
    assert told.detail.startswith("Steady over the last 60 s except 4 s of dips: ")


def test_dips_that_are_half_of_the_time_are_no_dips() -> None:
    rates = series()
    rates[40:] *= np.where(np.arange(20) % 2, 0.5, 1.0)
    assert not judge_steady(rates.tolist(), None).steady


def test_in_a_short_window_nothing_is_left_out() -> None:
    rates = series(29)
    rates[10:14] *= 0.5
    assert not judge_steady(rates.tolist(), None, window=29).steady


def test_a_warm_up_is_not_accepted_before_two_full_minutes_that_overlap() -> None:
    assert has_warmed_up([1000.0] * ACCEPTED_FROM, 0.0).steady
    said = has_warmed_up([1000.0] * (ACCEPTED_FROM - 1), 0.0)
    assert (said.steady, said.detail) == (
        False,
        "Not steady: 72 s of load are too few (the rule asks for 73 s).",
    )
    assert not has_warmed_up([1000.0] * ACCEPTED_FROM, 0.02).steady
    assert has_warmed_up([500.0] * 13 + [1000.0] * 60, 0.0).detail.endswith(", 13 s ago.")


@pytest.mark.parametrize(
    ("least", "most", "seconds"),
    [(60, 100, [73, 86, 99, 100]), (90, 116, [90, 103, 116]), (30, 60, [60]), (73, 73, [73])],
)
def test_looks_are_13_s_apart_and_the_last_is_at_the_cap(least, most, seconds):
    assert list(interim_seconds(least, most)) == seconds


@pytest.mark.parametrize(
    ("jit", "all_threads", "done"), [(0.19, 1.0, True), (0.2, 1.0, False), (0.0, 0.0, False)]
)
def test_compiled_means_that_the_jit_takes_less_than_a_fifth(jit, all_threads, done):
    assert has_compiled(jit, all_threads) is done


@pytest.mark.parametrize(
    ("used", "waited", "done"), [(0.1, 0.39, True), (0.1, 0.41, False), (0.04, 0.9, True)]
)
def test_a_jit_that_gets_no_cpu_has_not_compiled(used, waited, done):
    assert has_compiled(used, 1.0, waited) is done


def test_a_jit_that_compiles_again_has_to_be_quiet_for_longer() -> None:
    assert not has_compiled(0.1, 5.9, least=6.0)
    assert has_compiled(0.1, 6.0, least=6.0)


@pytest.mark.parametrize(
    ("noise", "jump", "least", "most"),
    [(0.02, 0.0, 0.0, 0.08), (0.05, 0.0, 0.0, 0.08), (0.01, 0.1, 0.9, 1.0)],
)
def test_a_quick_window_is_held_against_its_own_noise(
    noise: float, jump: float, least: float, most: float
) -> None:
    """Six seconds: a cap on the allowance refused 41 % of flat windows at 2 % noise, and 73 % at 5 %."""
    chance = np.random.default_rng(8)
    refused = 0
    for _ in range(200):
        level = np.ones(21)
        level[15 + chance.integers(1, 6) :] += jump
        rates = 1000 * (level + chance.normal(0.0, noise, 21))
        refused += not judge_steady(rates.tolist(), None, 6).steady
    assert least <= refused / 200 <= most


@pytest.mark.parametrize("seconds", [8, 20, 60])
def test_what_is_said_to_be_seen_in_a_window_is_seen_and_half_of_it_is_not(seconds: int) -> None:
    """Also of a window of a minute, of which nothing is said. What was before it is flat, and shows its noise."""
    noise, trials = 0.02, 150
    change = visible_change(seconds, noise)
    assert change is not None

    def refused(size: float) -> float:
        chance = np.random.default_rng(seconds)
        rise = np.concatenate([np.ones(60), 1 + size * (np.arange(seconds) + 0.5) / seconds])
        rates = 1000 * (rise + chance.normal(0.0, noise, (trials, len(rise))))
        return sum(not judge_steady(each.tolist(), None, seconds).steady for each in rates) / trials

    assert refused(change) >= 0.6
    assert refused(1.5 * change) >= 0.9
    assert refused(change / 2) <= 0.5


def test_a_short_window_is_told_with_the_noise_that_it_has() -> None:
    assert window_note(60, [0.02]) == ""
    assert window_note(8, [0.02]) == (
        "Windows of 8 s detect that throughput rose or fell by 9.5 % (80 % power) where it varies by 2.0 % from second"
        " to second; smaller changes count as steady."
    )
    assert "by 4.8, 9.5 or 24 % (80 % power) where it varies by 1.0, 2.0 or 5.0 % from second" in window_note(
        8, [0.01, 0.02, 0.05]
    )
    assert window_note(5, [0.02]).startswith("Windows of 5 s are too short")
    assert window_note(8, []) == ""
    rates = series(seconds=400, noise=0.03)
    assert series_noise(rates.tolist(), 400) == pytest.approx((0.03, 0.0), rel=0.15, abs=0.1)
    # A rise is no noise, and no correlation.
    assert series_noise((rates + np.arange(400)).tolist(), 400) == pytest.approx(
        (0.025, 0.0), rel=0.25, abs=0.1
    )
    assert series_noise([1.0] * 5, 60) is None
    assert series_noise([0.0] * 10, 60) is None
    assert series_noise([1.0] * 10, 60) == (0.0, 0.0)


def correlated(seconds: int, correlation: float, count: int, seed: int = 4) -> NDArray[np.float64]:
    """Noise of standard deviation 1 in which each second follows the one before."""
    drawn = np.random.default_rng(seed).normal(0.0, 1.0, (count, seconds))
    for second in range(1, seconds):
        drawn[:, second] *= math.sqrt(1 - correlation**2)
        drawn[:, second] += correlation * drawn[:, second - 1]
    return drawn


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.5])
@pytest.mark.parametrize("seconds", [8, 20, 60])
def test_flat_windows_whose_seconds_follow_each_other_are_steady(seconds: int, correlation: float) -> None:
    """Steps taken as independent refused 18 and 31 % of those of 8 and 20 s at a correlation of 0.5."""
    rates = 1000 * (1 + 0.02 * correlated(seconds + 60, correlation, 300))
    refused = sum(not judge_steady(own.tolist(), None, seconds).steady for own in rates)
    assert refused <= 30 + 8  # 10 %, and chance


@pytest.mark.parametrize("seconds", [8, 20])
def test_a_rise_is_found_whether_seconds_follow_each_other_or_not(seconds: int) -> None:
    """Twice the change that can be seen, over the window, and as steep in the warm-up before it."""
    for correlation in (0.0, 0.5):
        change = visible_change(seconds, 0.02, correlation)
        assert change is not None
        rise = 1 + 2 * change * (np.arange(seconds + 15) - 15) / seconds
        rates = 1000 * (rise + 0.02 * correlated(seconds + 15, correlation, 100))
        assert sum(not judge_steady(own.tolist(), None, seconds).steady for own in rates) >= 80


def test_the_correlation_of_seconds_is_told_apart_from_a_warm_up() -> None:
    """A server that comes up within 20 s, and then a flat window: its curve looks like a little correlation."""
    comes_up = 1 - 0.3 * np.exp(-np.arange(35) / 5.0)
    for level, correlation, low, high in (
        (comes_up, 0.0, 0.0, 0.4),
        (1.0, 0.0, 0.0, 0.2),
        (1.0, 0.5, 0.3, 0.6),
    ):
        rates = 1000 * (level + 0.02 * correlated(35, correlation, 100))
        known = [noise for own in rates if (noise := series_noise(own.tolist(), 20)) is not None]
        assert low <= np.median([estimate for _, estimate in known]) <= high
    assert "(correlation with the second before: 0.5)" in window_note(8, [0.02], 0.5)
    white, follows = visible_change(8, 0.02), visible_change(8, 0.02, 0.5)
    assert white is not None
    assert follows is not None
    assert follows > 1.2 * white
