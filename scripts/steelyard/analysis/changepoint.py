# SPDX-License-Identifier: Apache-2.0
"""Where a series of throughput changed last, in mean or in variance (limits: warmup.py).

Of all ways to cut the series into segments the one with the least cost, by dynamic programming over where the last
segment begins (optimal partitioning: Jackson et al., IEEE Signal Processing Letters 2005). PELT (Killick et al., JASA
2012) prunes the same search; over the hundred points of a look there is nothing to gain by that.
"""

import math

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.warmup import MIN_SEGMENT, PENALTY, VARIANCE_FLOOR


def last_change(relative: NDArray[np.float64]) -> int | None:
    """Seconds from the last change point to the end; None without one.

    A segment costs twice the negative log-likelihood of a normal one, mean and variance free, up to a constant.
    """
    length = len(relative)
    values = relative - 1  # centred, so that the difference of sums loses no digits
    sums = np.concatenate(([0.0], np.cumsum(values)))
    squares = np.concatenate(([0.0], np.cumsum(values * values)))
    least = np.full(length + 1, np.inf)
    least[0] = 0.0
    begins = 0
    for end in range(MIN_SEGMENT, length + 1):
        start = np.arange(end - MIN_SEGMENT + 1)
        n = end - start
        mean = (sums[end] - sums[start]) / n
        variance = np.maximum((squares[end] - squares[start]) / n - mean * mean, VARIANCE_FLOOR)
        cost = least[start] + n * np.log(variance) + PENALTY * math.log(length)
        begins = int(cost.argmin())
        least[end] = cost[begins]
    return length - begins if begins else None
