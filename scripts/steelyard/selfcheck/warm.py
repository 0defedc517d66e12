# SPDX-License-Identifier: Apache-2.0
"""How often the warm-up rule judges known series rightly, looking once at 60 s."""

import numpy as np

from steelyard.analysis.warmup import judge_steady

SECONDS = 60


def judged_steady(ramp: float, noise: float, series: int, seed: np.random.SeedSequence) -> int:
    """Number of series that are judged steady.

    Args:
        ramp: true rise per minute as a share of the level.
        noise: standard deviation from second to second as a share of the level.
        series: number of series.
        seed: source of chance.
    """
    rng = np.random.default_rng(seed)
    level = 1 + ramp * np.arange(SECONDS) / 60
    drawn = 1000 * (level + rng.normal(0.0, noise, (series, SECONDS)))
    return sum(judge_steady(rates.tolist(), None).steady for rates in drawn)
