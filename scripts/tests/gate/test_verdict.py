# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from scipy import stats

from steelyard.analysis.estimates import estimate
from steelyard.analysis.paired import sign_flip_p
from steelyard.errors import BadInput
from steelyard.gate.verdict import decide

WOBBLE = np.array([-1.0, 1.0, -0.5, 0.5, -0.2, 0.2])


def by_block(values):
    return {(block, 0): value for block, value in enumerate(values)}


BASE = by_block([100.0] * 6)


def candidate(change, spread=0.005, metric="throughput"):
    """An estimate with this relative change and spread over six blocks."""
    logs = math.log1p(change) + spread * WOBBLE
    return estimate(metric, "new", by_block(100 * np.exp(logs)), BASE)


def judged(logs):
    """An estimate with these log ratios."""
    return estimate("throughput", "new", by_block(100 * np.exp(logs)), by_block([100.0] * len(logs)))


def one_sided(change, spread, upper):
    logs = math.log1p(change) + spread * WOBBLE
    half = stats.t.ppf(0.95, 5) * stats.sem(logs)
    return logs.mean() + half if upper else logs.mean() - half


@pytest.mark.parametrize(
    ("change", "better", "outcome"),
    [
        (0.0, "higher", "pass"),
        (0.10, "higher", "pass"),
        (-0.10, "higher", "regression"),
        (0.10, "lower", "regression"),
        (-0.10, "lower", "pass"),
        (-0.029, "higher", "regression"),
    ],
)
def test_outcomes(change, better, outcome):
    verdict = decide(candidate(change), better, 0.03)
    assert verdict.outcome == outcome
    assert verdict.sentence.startswith(f"{outcome}: throughput is ")


def test_pass_is_decided_by_the_one_sided_bound() -> None:
    bound = -math.expm1(one_sided(-0.01, 0.005, upper=False))
    said = decide(candidate(-0.01), "higher", 0.03).sentence
    assert "throughput is 1.0 % worse" in said
    assert f"bound {100 * bound:.1f} %" in said
    assert decide(candidate(-0.01), "higher", 1.05 * bound).outcome == "pass"
    assert decide(candidate(-0.01), "higher", bound - 1e-9).outcome != "pass"


def test_bound_of_a_metric_that_should_be_low() -> None:
    bound = math.expm1(one_sided(0.01, 0.005, upper=True))
    assert "throughput is 1.0 % worse" in decide(candidate(0.01), "lower", 0.03).sentence
    assert decide(candidate(0.01), "lower", 1.05 * bound).outcome == "pass"
    assert decide(candidate(0.01), "lower", bound - 1e-9).outcome != "pass"


def test_small_certain_harm_passes_within_the_margin() -> None:
    """Beyond zero and above half of the margin, yet the bound is below the margin: METHOD says pass."""
    assert decide(candidate(-0.02, spread=0.001), "higher", 0.03).outcome == "pass"


def test_regression_needs_a_wholly_harmful_interval() -> None:
    """The same estimate with more and more spread: pass, regression, inconclusive."""
    outcomes = [decide(candidate(-0.025, spread), "higher", 0.03).outcome for spread in (0.001, 0.015, 0.05)]
    assert outcomes == ["pass", "regression", "inconclusive"]
    assert candidate(-0.025, 0.015).high < 1 < candidate(-0.025, 0.05).high


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_answers_follow_the_rules_on_any_data(better):
    rng = np.random.default_rng(9)
    seen = set()
    for _ in range(500):
        n, margin = int(rng.integers(2, 12)), float(rng.uniform(0.005, 0.1))
        logs = rng.normal(rng.normal(0, 0.05), rng.uniform(0.001, 0.05), n)
        harmful = logs if better == "lower" else -logs
        found = estimate("m", "new", by_block(np.exp(logs) * 100.0), by_block([100.0] * n))
        verdict = decide(found, better, margin)
        bound = harmful.mean() + stats.t.ppf(0.95, n - 1) * stats.sem(harmful)
        low = harmful.mean() - stats.t.ppf(0.975, n - 1) * stats.sem(harmful)
        limit = math.log1p(margin) if better == "lower" else -math.log1p(-margin)
        asks, values, level = (
            ("pass", limit - harmful, 0.05) if bound < limit else ("regression", harmful, 0.025)
        )
        agrees = sign_flip_p(values.tolist()) <= max(level, 0.5**n)
        expected = asks if agrees and (bound < limit or low > 0) else "inconclusive"
        assert verdict.outcome == expected
        if expected == "regression":
            assert -math.expm1(-harmful.mean()) >= margin / 2 * 0.99
        seen.add(expected)
    assert seen == {"pass", "regression", "inconclusive"}


def test_wide_interval_is_inconclusive_and_says_what_is_open() -> None:
    verdict = decide(candidate(-0.01, spread=0.05), "higher", 0.03)
    assert verdict.outcome == "inconclusive"
    assert "cannot be ruled out and the margin is 3.0 %" in verdict.sentence


def test_gain_reads_as_a_gain() -> None:
    assert "throughput is 10 % better" in decide(candidate(0.10), "higher", 0.03).sentence


@pytest.mark.parametrize("value", [90.0, 100.0])
def test_blocks_that_agree_exactly_show_nothing(value):
    verdict = decide(estimate("gc", "new", dict.fromkeys(BASE, value), BASE), "higher", 0.03)
    assert verdict.outcome == "inconclusive"
    assert "no spread was seen" in verdict.sentence


@pytest.mark.parametrize("blocks", [0, 1])
def test_too_few_blocks(blocks):
    few = estimate("throughput", "new", by_block([90.0] * blocks), BASE)
    verdict = decide(few, "higher", 0.03)
    assert verdict.outcome == "inconclusive"
    assert "run more blocks" in verdict.sentence


@pytest.mark.parametrize("margin", [0.0, -0.1, 1.0, 3.0, math.nan])
def test_margin_has_to_make_sense(margin):
    with pytest.raises(BadInput, match="give a fraction"):
        decide(candidate(0.0), "higher", margin)


def test_metric_without_direction() -> None:
    with pytest.raises(BadInput, match="no better direction"):
        decide(candidate(0.0), "neither", 0.03)


def test_where_starts_of_one_arm_fall_into_two_groups_the_verdict_keeps_its_level() -> None:
    """30 % of the baseline's starts are 4 % slow, and its mean is the candidate's: t alone errs in 9 %."""
    rng = np.random.default_rng(11)
    logs = rng.normal(0.0, 0.01, (1000, 6)) + 0.04 * ((rng.random((1000, 6)) < 0.3) - 0.3)
    outcomes = [decide(judged(own), "higher", 0.01, passing=0.001).outcome for own in logs]
    assert outcomes.count("regression") / 1000 <= 0.06
    assert np.mean(stats.ttest_1samp(logs, 0.0, axis=1).pvalue < 0.05) > 0.075


def test_a_verdict_that_void_trials_would_change_is_none() -> None:
    fine = [0.001, -0.001, 0.002, -0.002, 0.001, -0.001]
    slow = [0.001, -0.1, 0.002, -0.1, 0.001, -0.001]
    assert decide(judged(fine), "higher", 0.03).outcome == "pass"
    left_in = judged(fine).model_copy(update={"left_in": [math.exp(log) for log in slow]})
    found = decide(left_in, "higher", 0.03)
    assert found.outcome == "inconclusive"
    assert "with the void trials left in" in found.sentence
    same = judged(fine).model_copy(update={"left_in": [math.exp(log) for log in reversed(fine)]})
    assert decide(same, "higher", 0.03).outcome == "pass"


@pytest.mark.parametrize("change", [0.0, -0.10])
def test_unequal_voids_are_inconclusive_whatever_the_figures_say(change):
    why = "8 of 14 trials of new are void, and 0 of 14 of old beside them"
    verdict = decide(candidate(change).model_copy(update={"unequal": why}), "higher", 0.03)
    assert (verdict.outcome, verdict.sentence) == ("inconclusive", f"inconclusive: {why}.")
