# SPDX-License-Identifier: Apache-2.0
"""Where a series changes, in mean or in variance: throughput while a server warms up, figures over commits.

Of all ways to cut the series into segments the one with the least cost, by dynamic programming over where the last
segment begins (optimal partitioning: Jackson et al., IEEE Signal Processing Letters 2005). PELT (Killick et al., JASA
2012) prunes the same search; over the hundred points of a look there is nothing to gain by that.
"""

import math

import numpy as np
from numpy.typing import NDArray


def changes(relative: NDArray[np.float64], shortest: int, penalty: float, floor: float) -> list[int]:
    """Where each segment but the first begins.

    A segment costs twice the negative log-likelihood of a normal one, mean and variance free, up to a constant.

    Args:
        relative: the series, about 1.
        shortest: points of a segment, at least.
        penalty: of a change point / ln(number of points).
        floor: variance below which segments count as equal.
    """
    length = len(relative)
    values = relative - 1  # centred, so that the difference of sums loses no digits
    sums = np.concatenate(([0.0], np.cumsum(values)))
    squares = np.concatenate(([0.0], np.cumsum(values * values)))
    least = np.full(length + 1, np.inf)
    least[0] = 0.0
    begins = np.zeros(length + 1, dtype=np.int64)
    for end in range(shortest, length + 1):
        start = np.arange(end - shortest + 1)
        n = end - start
        mean = (sums[end] - sums[start]) / n
        variance = np.maximum((squares[end] - squares[start]) / n - mean * mean, floor)
        cost = least[start] + n * np.log(variance) + penalty * math.log(length)
        begins[end] = cost.argmin()
        least[end] = cost[begins[end]]
    begins_at = [int(begins[length])]
    while begins_at[0]:
        begins_at.insert(0, int(begins[begins_at[0]]))
    return begins_at[1:]
