# SPDX-License-Identifier: Apache-2.0
"""Where a series of throughput changed last, in mean or in variance (limits: warmup.py)."""

import math
from itertools import accumulate

import numpy as np
import ruptures
from numpy.typing import NDArray
from ruptures.base import BaseCost

from steelyard.analysis.warmup import MIN_SEGMENT, PENALTY, VARIANCE_FLOOR


class _NormalCost(BaseCost):  # type: ignore[misc]  # ruptures has no types
    """Twice the negative log-likelihood of a normal segment, mean and variance free, up to a constant.

    From running sums each segment costs O(1); the library's own normal cost takes ten times as long.
    """

    model = "normal-mean-variance"
    min_size = MIN_SEGMENT

    def fit(self, signal: NDArray[np.float64]) -> "_NormalCost":
        values = signal.ravel().tolist()
        self.signal = signal
        self._sums = [0.0, *accumulate(values)]
        self._squares = [0.0, *accumulate(value * value for value in values)]
        return self

    def error(self, start: int, end: int) -> float:
        n = end - start
        mean = (self._sums[end] - self._sums[start]) / n
        variance = (self._squares[end] - self._squares[start]) / n - mean * mean
        return n * math.log(max(variance, VARIANCE_FLOOR))


def last_change(relative: NDArray[np.float64]) -> int | None:
    """Seconds from the last change point to the end (PELT: Killick et al., JASA 2012)."""
    # Centred, so that the difference of sums in the cost loses no digits.
    search = ruptures.Pelt(custom_cost=_NormalCost(), min_size=MIN_SEGMENT, jump=1).fit(relative[:, None] - 1)
    ends = search.predict(pen=PENALTY * math.log(len(relative)))
    return len(relative) - ends[-2] if len(ends) > 1 else None
