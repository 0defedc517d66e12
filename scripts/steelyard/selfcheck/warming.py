# SPDX-License-Identifier: Apache-2.0
"""Warm-ups of a known truth through the real rule, looked at again and again as a trial does."""

from collections import Counter

import numpy as np

from steelyard.selfcheck.trials import RATE, SPEC, Truth, rates_of, warmed_up


def run_series(rise: float, noise: float, series: int, rng: np.random.Generator) -> Counter[str]:
    """Series that rise by `rise` a minute all the time, with `noise` from second to second; counted: accepted ones."""
    warmup = SPEC.load.warmup
    truth = Truth(RATE, 0.0, 0.0, 0.0)
    drawn = (rates_of(truth, int(warmup.at_most), noise, rng, rise) for _ in range(series))
    return Counter(sessions=series, accepted=sum(warmed_up(rates.tolist(), warmup)[1] for rates in drawn))
