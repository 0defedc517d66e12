# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from scipy import stats

from steelyard.analysis.paired import (
    adjust_p,
    arm_levels,
    detectable_effect,
    detectable_in_sd,
    paired_test,
    sign_flip_p,
    spreads_differ,
    two_groups,
)

# Student (Biometrika, 1908): additional hours of sleep of ten patients, second drug minus first.
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]


def test_students_own_example() -> None:
    test = paired_test(SLEEP)
    assert test is not None
    assert test.mean == pytest.approx(1.58)
    assert test.p == pytest.approx(0.002833, abs=1e-6)
    assert (test.low, test.high) == pytest.approx((0.7001142, 2.4598858), abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 6, 50])
def test_agrees_with_scipy(n):
    logs = np.random.default_rng(n).normal(0.01, 0.02, n)
    test = paired_test(logs.tolist())
    reference = stats.ttest_1samp(logs, 0.0)
    assert test is not None
    assert test.p == pytest.approx(reference.pvalue, rel=1e-9)
    expected = reference.confidence_interval(0.95)
    assert (test.low, test.high) == pytest.approx((expected.low, expected.high))
    bound = stats.ttest_1samp(logs, 0.0, alternative="less").confidence_interval(0.95).high
    assert test.bound(upper=True) == pytest.approx(bound)
    assert test.bound(upper=False) == pytest.approx(2 * test.mean - bound)


def test_fewer_than_two_blocks_have_no_interval() -> None:
    assert paired_test([]) is None
    assert paired_test([0.1]) is None


def test_blocks_that_agree_exactly() -> None:
    """Also where rounding alone keeps them apart; their p shows nothing."""
    same = paired_test([0.0, 0.0, 0.0])
    moved = paired_test([math.log(0.3 / 0.1), math.log(0.6 / 0.2), math.log(3.0)])
    assert same is not None
    assert (same.is_tied, same.p, same.low, same.high) == (True, 1.0, 0.0, 0.0)
    assert moved is not None
    assert (moved.is_tied, moved.p, moved.low) == (True, 1.0, moved.high)


def test_bonferroni_passes_over_missing_and_stays_below_one() -> None:
    assert adjust_p(0.01, 4) == pytest.approx(0.04)
    assert (adjust_p(0.6, 2), adjust_p(None, 2), adjust_p(0.03, 1)) == (1.0, None, 0.03)


@pytest.mark.parametrize("n", [2, 3, 6, 10, 34, 100])
def test_detectable_effect_has_its_power(n):
    noncentrality = detectable_in_sd(n) * math.sqrt(n)
    critical = stats.t.ppf(0.975, n - 1)
    power = stats.nct.sf(critical, n - 1, noncentrality) + stats.nct.cdf(-critical, n - 1, noncentrality)
    assert power == pytest.approx(0.80, abs=1e-6)


def test_detectable_effect_by_simulation() -> None:
    rng = np.random.default_rng(5)
    n, sd, sessions = 6, 0.01, 20_000
    effect = detectable_effect(n, sd)
    assert effect is not None
    logs = rng.normal(math.log1p(effect), sd, (sessions, n))
    power = (stats.ttest_1samp(logs, 0.0, axis=1).pvalue < 0.05).mean()
    assert power == pytest.approx(0.80, abs=4 * math.sqrt(0.16 / sessions))


def test_detectable_effect_edges() -> None:
    assert detectable_effect(1, 0.1) is None
    assert detectable_effect(5, 0.0) is None
    assert detectable_effect(2, 50.0) is None


@pytest.mark.parametrize("n", [3, 6, 10, 20])
def test_power_is_as_stated_although_the_deviation_is_estimated(n):
    """The effect stated from the deviation seen is missed too often in every other session; by its bound, in 5 %."""
    rng = np.random.default_rng(n)
    true = detectable_effect(n, 0.01, comparisons=4)
    seen = rng.normal(0.0, 0.01, (4000, n)).std(axis=1, ddof=1)
    by_sight = np.mean([detectable_effect(n, sd, 4) >= true for sd in seen])
    by_bound = np.mean([detectable_effect(n, sd, 4, n) >= true for sd in seen])
    assert by_sight < 0.5
    assert by_bound == pytest.approx(0.95, abs=0.015)


def test_detectable_effect_among_several_comparisons() -> None:
    """One arm of four has the effect: found as one of four in 80 % of sessions; the uncorrected one in far fewer."""
    rng = np.random.default_rng(11)
    n, sd, sessions = 6, 0.01, 4000

    def found(comparisons):
        effects = np.array([math.log1p(detectable_effect(n, sd, comparisons)), 0.0, 0.0, 0.0])[:, None]
        p = stats.ttest_1samp(rng.normal(effects, sd, (sessions, 4, n)), 0.0, axis=2).pvalue
        return np.mean(p[:, 0] * 4 < 0.05)

    assert found(4) == pytest.approx(0.80, abs=0.02)
    assert found(1) < 0.6


def test_spreads_that_differ_are_called_so_seldom_by_chance_and_often_in_truth() -> None:
    """Pairs share the drift of their block: correlation must not matter."""
    rng = np.random.default_rng(3)
    block = rng.normal(0.0, 0.02, (4000, 10))
    one, other = (block + rng.normal(0.0, 0.01, (4000, 10)) for _ in range(2))
    called = [spreads_differ(a, b) for a, b in zip(one, other, strict=True)]
    assert np.mean([ratio is not None for ratio in called]) == pytest.approx(0.01, abs=0.006)
    wide = rng.normal(0.0, 0.01, (500, 10))
    called = [spreads_differ(6 * a, b) for a, b in zip(wide, other[:500] - block[:500], strict=True)]
    assert np.mean([ratio is not None and ratio > 1 for ratio in called]) > 0.9
    assert spreads_differ([1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0]) is None
    assert spreads_differ([1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 4.0, 5.0]) is None
    assert spreads_differ([1.0, 2.0, 3.0], [1.0, 20.0, 30.0]) is None


@pytest.mark.parametrize("n", [6, 7, 9, 11, 14, 17, 20, 30])
def test_two_groups_are_called_so_seldom_by_chance(n):
    """In normal samples as stated, in heavy-tailed ones no more often."""
    rng = np.random.default_rng(n)
    for draw in (rng.normal(size=(4000, n)), rng.standard_t(3, size=(4000, n))):
        assert np.mean([two_groups(values) is not None for values in draw]) < 0.017


@pytest.mark.parametrize(("n", "apart", "least"), [(6, 12.0, 0.6), (10, 8.0, 0.8), (20, 5.0, 0.8)])
def test_two_groups_are_found(n, apart, least):
    """Each start is fast or slow by the toss of a coin; `apart` in standard deviations of either kind."""
    rng = np.random.default_rng(n)
    draw = rng.normal(size=(1000, n)) + apart * (rng.random((1000, n)) < 0.5)
    assert np.mean([two_groups(values) is not None for values in draw]) > least


def test_two_groups_are_told_by_the_gap_between_them() -> None:
    assert two_groups([1.0, 5.1, 1.1, 5.0, 0.9, 5.2]) == pytest.approx(3.05)
    assert two_groups([1.0, 1.1, 0.9, 1.05, 0.95, 5.0]) is None
    assert two_groups([1.0, 1.0, 5.0, 5.0]) is None
    assert two_groups([1.0] * 8) is None


def test_standing_accounts_for_blocks_that_an_arm_lacks() -> None:
    """Arm b lacks the slow block: its mean is the highest, and it is below a in each block that they share."""
    levels = arm_levels(
        {"a": {1: 100.0, 2: 102.0, 3: 50.0}, "b": {1: 99.0, 2: 101.0}, "c": {1: 0.0}, "d": {}}
    )
    assert levels.keys() == {"a", "b"}
    assert levels["a"] - levels["b"] == pytest.approx(math.log(100 * 102 / (99 * 101)) / 2)
    assert arm_levels({}) == {}


def test_signs_are_flipped_in_every_way() -> None:
    """Six values on one side: one of 64 ways. Darwin's plants (Fisher, The Design of Experiments, 1935, section 21):
    of 32,768 ways of 15 pairs 863 have as large a sum as that seen, on one side."""
    assert sign_flip_p([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) == 1 / 64
    assert sign_flip_p([-1.0, -2.0, -3.0]) == 1.0
    darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert sign_flip_p(darwin) == pytest.approx(863 / 32768, abs=0.006)
    assert sign_flip_p(darwin) == sign_flip_p(darwin)
