# SPDX-License-Identifier: Apache-2.0
"""Throughput from the first second of load on: the level that it comes to, when, and what was lost on the way (pure).

The steady level is the median of the last quarter of the curve. The median because a pause or a burst of single
seconds must not move the level that every other second is held against; the last quarter because it is the furthest
from the start that still has enough seconds (15 of 60) for the median's own error to be small. A curve that still
rises there has no steady level yet: what is found is too low, and `is_rising` says so.

A share of a level is reached when the running median over five seconds first comes up to it (Tukey, Exploratory Data
Analysis, 1977, chapter 7: a running median follows a rise without a lag and passes over outliers of up to two seconds).
"""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

SHARES = (50, 80, 90, 95)
"""Per cent of a level whose times are told."""
SMOOTH = 5
"""Seconds of the running median."""
RISING = 0.05
"""A curve whose last eighth lies higher than the eighth before by more than this share still rises."""
_FEWEST = 8
"""Seconds below which a curve has no level."""


def steady_level(curve: Sequence[float]) -> float | None:
    """Median of the last quarter; None for a curve too short to have a level, or one that ends at nothing."""
    if len(curve) < _FEWEST:
        return None
    return median(curve[-(len(curve) // 4) :]) or None


def is_rising(curve: Sequence[float]) -> bool:
    """Whether the second half of the last quarter is clearly above its first half."""
    half = len(curve) // 8
    if len(curve) < _FEWEST:
        return False
    return median(curve[-half:]) > (1 + RISING) * median(curve[-2 * half : -half])


def running_median(curve: Sequence[float]) -> list[float]:
    """Median over `SMOOTH` seconds about each; towards the ends over fewer, still about the second itself."""
    reach = SMOOTH // 2
    spans = [min(reach, i, len(curve) - 1 - i) for i in range(len(curve))]
    return [median(curve[i - span : i + span + 1]) for i, span in enumerate(spans)]


def time_to(curve: Sequence[float], rate: float) -> float | None:
    """Seconds from the start of the load until throughput first comes up to a rate; None: it never does.

    A point of the curve is the mean of its second and lies in the middle of it; between points, and from nothing at the
    start, throughput is taken to rise in a straight line.
    """
    smooth = running_median(curve)
    points = [(0.0, 0.0), *((i + 0.5, value) for i, value in enumerate(smooth))]
    for (before, low), (after, high) in pairwise(points):
        if high >= rate:
            return before + (after - before) * (rate - low) / (high - low) if high > low else after
    return None


def lost_requests(curve: Sequence[float], rate: float) -> float:
    """Requests that a server at this rate from the first second on would have served beyond those that were."""
    return rate * len(curve) - sum(curve)
