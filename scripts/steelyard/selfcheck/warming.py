# SPDX-License-Identifier: Apache-2.0
"""Series of a known truth through the real warm-up rule, looked at again and again as a trial does."""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.warmup import judge_steady, warm_up_ends
from steelyard.selfcheck.trials import SECONDS, SPEC

WARMS = 40.0
TOO_COLD = 0.02
"""A warm-up that ends with more of its throughput lacking has ended too early."""


@dataclass(frozen=True, slots=True)
class ThroughputModel:
    """Throughput second by second, as shares of its level."""

    noise: float
    rise: float = 0.0
    """A minute, all the time."""
    cold: float = 0.0
    """Share that is lacking at first; shrinks to its 2.7th part every WARMS seconds."""
    dip: int = 0
    """Every so many seconds one second lacks half of its requests, as by a full collection."""
    jump: float = 0.0
    """By so much throughput falls in the middle."""
    sag: float = 0.0
    """By so much it is lower in the middle third."""

    def draw(self, seconds: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """One series of that length."""
        t = np.arange(seconds)
        level = 1 + self.rise * t / 60 - self.cold * np.exp(-t / WARMS)
        level -= 0.5 * (t % self.dip == int(rng.integers(self.dip))) if self.dip else 0.0
        level -= self.jump * (t >= seconds // 2)
        level -= self.sag * (t >= seconds // 3) * (t < 2 * seconds // 3)
        return 1000 * (level + rng.normal(0.0, self.noise, seconds))


def run_warm_ups(model: ThroughputModel, series: int, rng: np.random.Generator) -> Counter[str]:
    """How many are accepted before the cap, and how many of those too early."""
    warmup = SPEC.load.warmup
    tally = Counter(sessions=series)
    for _ in range(series):
        rates = model.draw(int(warmup.at_most), rng)
        end = warm_up_ends(rates.tolist(), warmup.at_least, warmup.at_most)
        tally["accepted"] += end is not None
        tally["too early"] += end is not None and model.cold * math.exp(-end / WARMS) > TOO_COLD
    return tally


def run_windows(model: ThroughputModel, series: int, rng: np.random.Generator) -> Counter[str]:
    """How many measurement windows are judged steady."""
    steady = sum(judge_steady(model.draw(int(SECONDS), rng).tolist(), None).steady for _ in range(series))
    return Counter(sessions=series, steady=steady)
