# SPDX-License-Identifier: Apache-2.0
"""The last change point, against a search of every way to cut the series."""

import math
from collections.abc import Iterator

import numpy as np
import pytest

from steelyard.analysis.warmup import MIN_SEGMENT, PENALTY, VARIANCE_FLOOR, last_change


def cuts(length: int) -> Iterator[list[int]]:
    """Every list of segment lengths."""
    yield [length]
    for first in range(MIN_SEGMENT, length - MIN_SEGMENT + 1):
        yield from ([first, *rest] for rest in cuts(length - first))


def cost(values: np.ndarray, segments: list[int]) -> float:
    parts = np.split(values, np.cumsum(segments)[:-1])
    penalty = PENALTY * math.log(len(values)) * (len(parts) - 1)
    return penalty + sum(len(part) * math.log(max(part.var(), VARIANCE_FLOOR)) for part in parts)


@pytest.mark.parametrize("seed", range(60))
def test_it_is_that_of_the_best_of_all_cuts(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = 1 + random.normal(0, 0.01, 18)
    if seed % 3:
        values[random.integers(3, 15) :] += random.choice([0.0, 0.2, 0.5])
    if seed % 2:
        values[: random.integers(3, 15)] *= random.choice([0.5, 0.8])
    best = min(cuts(len(values)), key=lambda segments: cost(values, segments))
    assert last_change(values) == (best[-1] if len(best) > 1 else None)


def test_the_cases_hold_changes_and_none() -> None:
    step = np.repeat([1.0, 1.5], 12) + np.random.default_rng(1).normal(0, 0.01, 24)
    assert last_change(step) == 12
    assert last_change(step[12:]) is None
    assert last_change(step[:2]) is None
