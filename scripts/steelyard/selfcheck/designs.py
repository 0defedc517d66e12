# SPDX-License-Identifier: Apache-2.0
"""The designs that METHOD warns of, on the same simulated hosts: how often they call a difference that is not there.

They are no part of the harness, so only the hosts' levels are simulated, not whole trials.
"""

import numpy as np
import scipy
from numpy.typing import NDArray

from steelyard.analysis.paired import LEVEL
from steelyard.engines.synthetic import HostModel


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
