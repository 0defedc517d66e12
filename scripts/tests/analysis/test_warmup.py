# SPDX-License-Identifier: Apache-2.0
import re

import numpy as np
import pytest

from steelyard.analysis.warmup import judge_steady


def series(seconds=60, ramp=0.0, noise=0.01, seed=1):
    rng = np.random.default_rng(seed)
    return 1000 * (1 + ramp * np.arange(seconds) / 60 + rng.normal(0, noise, seconds))


def share_steady(count=100, **kind):
    return sum(judge_steady(series(seed=seed, **kind).tolist(), None).steady for seed in range(count)) / count


def test_flat_is_steady():
    found = judge_steady(series().tolist(), 0.001)
    assert found.steady
    assert found.detail.startswith("Steady over the last 60 s: no change point, slope ")
    assert found.detail.endswith("JIT 0.1 % of the CPU budget.")


def test_flat_without_any_noise_is_steady():
    found = judge_steady([1000.0] * 60, 0.0)
    assert found.steady
    assert "slope +0.0 %/min (limit 1.0 %/min)" in found.detail


def test_a_step_is_found_where_it_is():
    rates = series()
    rates[40:] *= 1.1
    found = judge_steady(rates.tolist(), None)
    assert not found.steady
    assert "throughput changed 20 s before the end" in found.detail


def test_a_change_of_variance_alone_is_found():
    rates = series(noise=0.001)
    rates[30:] = series(noise=0.05, seed=2)[30:]
    said = re.search(r"throughput changed (\d+) s before the end", judge_steady(rates.tolist(), None).detail)
    assert int(said[1]) == pytest.approx(30, abs=3)


def test_only_the_window_is_judged():
    rates = np.concatenate([series() / 2, series(seed=2)])
    assert judge_steady(rates.tolist(), None).steady
    assert not judge_steady(rates[:-5].tolist(), None).steady


def test_slope_is_measured_per_minute():
    found = judge_steady(series(ramp=0.05, noise=1e-4).tolist(), None)
    assert not found.steady
    # Relative to the median of the window, which lies 2.5 % above its beginning.
    assert f"the slope of {100 * 0.05 / 1.025:+.1f} %/min is beyond 1.0 %/min" in found.detail
    assert judge_steady(series(ramp=-0.05, noise=1e-4).tolist(), None).steady is False


def test_no_change_point_in_what_the_slope_rule_allows():
    assert judge_steady(series(ramp=0.0095, noise=1e-5).tolist(), None).steady


def test_truth_is_told_at_usual_noise():
    """One percent of noise from second to second, one look at 60 s."""
    assert share_steady() >= 0.95
    assert share_steady(ramp=0.05) <= 0.05
    assert share_steady(ramp=0.10, noise=0.05) <= 0.10


def test_noise_does_not_hide_any_ramp():
    """The allowance for noise is bounded: what it may add is 2 % of the level, however noisy the host."""
    found = judge_steady(series(noise=0.5).tolist(), None)
    assert re.search(r"(limit|beyond) 3\.0 %/min", found.detail)


@pytest.mark.parametrize(("share", "steady"), [(None, True), (0.0199, True), (0.02, False), (0.5, False)])
def test_jit_has_to_be_quiet(share, steady):
    found = judge_steady(series().tolist(), share)
    assert found.steady is steady
    assert "JIT" in found.detail


def test_short_series_are_judged_as_far_as_they_go():
    found = judge_steady(series(seconds=20).tolist(), None)
    assert found.steady
    assert found.detail.startswith("Steady over 20 s (the rule asks for 60 s): ")


@pytest.mark.parametrize("rates", [[], [1000.0] * 5])
def test_too_short_to_say(rates):
    found = judge_steady(rates, None)
    assert not found.steady
    assert "too few" in found.detail


def test_silent_servers_are_not_steady():
    assert not judge_steady([0.0] * 60, None).steady
    assert not judge_steady([float("nan")] * 60, None).steady
