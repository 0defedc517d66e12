# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from scipy import stats

from steelyard.analysis.paired import detectable_effect, detectable_in_sd, holm, paired

# Student (Biometrika, 1908): additional hours of sleep of ten patients, second drug minus first.
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]


def test_students_own_example():
    found = paired(SLEEP)
    assert found is not None
    assert found.mean == pytest.approx(1.58)
    assert found.p == pytest.approx(0.002833, abs=1e-6)
    assert (found.low, found.high) == pytest.approx((0.7001142, 2.4598858), abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 6, 50])
def test_agrees_with_scipy(n):
    logs = np.random.default_rng(n).normal(0.01, 0.02, n)
    found = paired(logs.tolist())
    reference = stats.ttest_1samp(logs, 0.0)
    assert found is not None
    assert found.p == pytest.approx(reference.pvalue, rel=1e-9)
    expected = reference.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    bound = stats.ttest_1samp(logs, 0.0, alternative="less").confidence_interval(0.95).high
    assert found.bound(upper=True) == pytest.approx(bound)
    assert found.bound(upper=False) == pytest.approx(2 * found.mean - bound)


def test_fewer_than_two_blocks_have_no_interval():
    assert paired([]) is None
    assert paired([0.1]) is None


def test_blocks_that_agree_exactly():
    same = paired([0.0, 0.0, 0.0])
    moved = paired([0.5, 0.5])
    assert same is not None
    assert (same.p, same.low, same.high) == (1.0, 0.0, 0.0)
    assert moved is not None
    assert (moved.p, moved.low, moved.high) == (0.0, 0.5, 0.5)


def test_holm_textbook():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_passes_over_missing_and_stays_below_one():
    assert holm([None, 0.6, None, 0.7]) == [None, 1.0, None, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize("n", [2, 3, 6, 10, 34, 100])
def test_detectable_effect_has_its_power(n):
    noncentrality = detectable_in_sd(n) * math.sqrt(n)
    critical = stats.t.ppf(0.975, n - 1)
    power = stats.nct.sf(critical, n - 1, noncentrality) + stats.nct.cdf(-critical, n - 1, noncentrality)
    assert power == pytest.approx(0.80, abs=1e-6)


def test_detectable_effect_by_simulation():
    rng = np.random.default_rng(5)
    n, sd, sessions = 6, 0.01, 20_000
    effect = detectable_effect(n, sd)
    assert effect is not None
    logs = rng.normal(math.log1p(effect), sd, (sessions, n))
    power = (stats.ttest_1samp(logs, 0.0, axis=1).pvalue < 0.05).mean()
    assert power == pytest.approx(0.80, abs=4 * math.sqrt(0.16 / sessions))


def test_detectable_effect_edges():
    assert detectable_effect(1, 0.1) is None
    assert detectable_effect(5, 0.0) == 0.0
