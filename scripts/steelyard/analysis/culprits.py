# SPDX-License-Identifier: Apache-2.0
"""Which methods really cost more in one arm than in the other: a test over starts, with an error rate for all together.

Starts of one JVM differ: compilers inline differently, data lie elsewhere. So the unit is a start, and what a profile
of one start shows of its slices says nothing here. All labels of starts are exchanged with each other, and a method is
named where its difference is larger than nearly every largest difference of any method under exchanged labels:
single-step maxT (Westfall and Young, Resampling-Based Multiple Testing, 1993), which holds the chance of a single false
name in all methods together at the level. Differences are weighed by their spread, to which the median spread of all
methods is added, so that a method that hardly costs or hardly varies does not lead (Tusher and others, PNAS 98(9),
2001).
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.analysis.profiles import ProfileData, own_costs

LEVEL = 0.05
"""Chance that equal arms have a method named."""
LEAST_STARTS = 4
"""Starts of each arm: of fewer than four and four no exchange reaches the level."""
SHARE = 0.002
"""Part of the whole below which a method is not looked at."""
_EXCHANGES = 2000
"""Most exchanges of labels; where there are more, so many are drawn."""

Matrix = npt.NDArray[np.float64]


class Culprit(NamedTuple):
    """A method whose cost differs, per 1,000 requests in the profile's unit."""

    method: str
    baseline: float
    arm: float
    p: float
    """Adjusted for all methods."""


def culprits(baseline: Sequence[ProfileData], arm: Sequence[ProfileData], seed: int = 0) -> list[Culprit]:
    """The methods that are named, the most certain first; none where there are too few starts to name any, or nothing
    was sampled.

    Args:
        baseline: a profile of each of its starts.
        arm: another arm's, of the same event.
        seed: of the exchanges, where not all are made.
    """
    if min(len(baseline), len(arm)) < LEAST_STARTS:
        return []
    costs = [_mean_costs(data) for data in (*baseline, *arm)]
    names = sorted(
        {name for cost in costs for name, value in cost.items() if value >= SHARE * sum(cost.values())}
    )
    if not names:  # of `lock` where no thread waited
        return []
    matrix = np.array([[cost.get(name, 0.0) for name in names] for cost in costs])
    first = len(baseline)
    statistics = np.abs(_statistics(matrix, _exchanges(len(costs), first, seed)))
    observed, largest = statistics[0], statistics.max(axis=1)
    p = np.array([np.mean(largest >= value * (1 - 1e-9)) for value in observed])
    means = matrix[:first].mean(axis=0), matrix[first:].mean(axis=0)
    named = [
        (p[i], -observed[i], Culprit(name, float(means[0][i]), float(means[1][i]), float(p[i])))
        for i, name in enumerate(names)
        if p[i] <= LEVEL
    ]
    return [culprit for *_, culprit in sorted(named)]


def _mean_costs(data: ProfileData) -> dict[str, float]:
    """Own cost of each method of one start, per 1,000 requests."""
    total: dict[str, float] = {}
    for slice_costs in own_costs(data):
        for name, cost in slice_costs.items():
            total[name] = total.get(name, 0.0) + cost * data.per_thousand
    return total


def _statistics(matrix: Matrix, masks: Matrix) -> Matrix:
    """Difference of the means of two groups of starts, over its standard error and the median of all: a row for each
    mask, a column for each method."""
    centred = matrix - matrix.mean(axis=0)  # or the squares would leave no digits for the spread
    means, variances = [], []
    for group in (masks, 1 - masks):
        size = group[0].sum()
        mean = group @ centred / size
        squares = group @ centred**2 / size - mean**2
        means.append(mean)
        variances.append(np.maximum(squares, 0) / (size - 1))
    spread = np.sqrt(variances[0] + variances[1])
    statistics: Matrix = (means[1] - means[0]) / (spread + np.median(spread, axis=1, keepdims=True) + 1e-12)
    return statistics


def _exchanges(size: int, first: int, seed: int) -> Matrix:
    """Ways to call `first` of so many starts the baseline, a row of zeros and ones each; the true one comes first."""
    if comb(size, first) <= _EXCHANGES:
        chosen = list(combinations(range(size), first))
    else:
        generator = np.random.default_rng(seed)
        drawn = [tuple(generator.permutation(size)[:first]) for _ in range(_EXCHANGES - 1)]
        chosen = [tuple(range(first)), *drawn]
    masks = np.zeros((len(chosen), size))
    np.put_along_axis(masks, np.array(chosen), 1, axis=1)
    return masks
