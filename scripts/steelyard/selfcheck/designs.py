# SPDX-License-Identifier: Apache-2.0
"""What is simulated without whole trials: the designs that METHOD warns of, and the warm-up rule.

The designs are no part of the harness: on the levels of the same hosts they call differences that are not there. The
rule looks once, at 60 s, at series whose truth is known.
"""

import numpy as np
import scipy
from numpy.typing import NDArray

from steelyard.analysis.paired import LEVEL
from steelyard.analysis.warmup import judge_steady
from steelyard.engines.synthetic import HostModel

SECONDS = 60


def all_a_then_all_b(host: HostModel, runs: int, sessions: int, seed: np.random.SeedSequence) -> int:
    """False alarms of Welch's t when all runs of A come first, then all of B, in one session."""
    path = host.paths(np.random.default_rng(seed), sessions, 2 * runs)
    return _alarms(path[:, :runs], path[:, runs:])


def stored_baseline(host: HostModel, runs: int, sessions: int, seed: np.random.SeedSequence) -> int:
    """False alarms of Welch's t when B is compared with A's figures from another session.

    Both are taken from the first half of a session, so that the drift within them is that of the design above.
    """
    path = host.paths(np.random.default_rng(seed), 2 * sessions, 2 * runs)[:, :runs]
    return _alarms(path[:sessions], path[sessions:])


def _alarms(a: NDArray[np.float64], b: NDArray[np.float64]) -> int:
    return int((scipy.stats.ttest_ind(a, b, axis=1, equal_var=False).pvalue < LEVEL).sum())


def judged_steady(ramp: float, noise: float, series: int, seed: np.random.SeedSequence) -> int:
    """Number of series that are judged steady.

    Shares of the level are `ramp`, the true rise per minute, and `noise`, the standard deviation between seconds.
    """
    rng = np.random.default_rng(seed)
    level = 1 + ramp * np.arange(SECONDS) / 60
    drawn = 1000 * (level + rng.normal(0.0, noise, (series, SECONDS)))
    return sum(judge_steady(rates.tolist(), None).steady for rates in drawn)
