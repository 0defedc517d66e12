# SPDX-License-Identifier: Apache-2.0
"""What chance may do to counts of operations: exact intervals of shares and of ratios (pure).

Operations come in sessions, and a session does what its part of the mix does: the fewer sessions, the less the counts
tell. Sessions are therefore the sampling unit; what that costs against operations drawn one by one is the design effect
(L. Kish, Survey Sampling, 1965), and an interval is the exact one of C. Clopper and E. Pearson (Biometrika 26, 1934)
for the counts divided by it (E. Korn and B. Graubard, Survey Methodology 24, 1998, who also show that it holds where
few were counted).
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import scipy

from steelyard.workload.journey import MixPart, mix_counts

FALSE_ALARM = 0.001
"""Probability that chance alone takes a figure beyond the allowance of its rule."""


class Interval(NamedTuple):
    """What the true figure may be."""

    low: float
    high: float

    def beyond(self, low: float, high: float) -> float:
        """How far all of it lies outside of limits; 0: it meets them."""
        return max(low - self.high, self.low - high, 0.0)


def exact_interval(hits: float, of: float, level: float = 0.05) -> tuple[float, float]:
    """Exact 1 - `level` interval of a share (Clopper and Pearson, Biometrika, 1934); counts need not be whole."""
    misses = of - hits
    low = float(scipy.special.betaincinv(hits, misses + 1, level / 2)) if hits > 0 else 0.0
    high = float(scipy.special.betainccinv(hits + 1, misses, level / 2)) if misses > 0 else 1.0
    return low, high


def quantile(figures: int = 1) -> float:
    """Standard errors that chance exceeds in one of some figures, on either side, with `FALSE_ALARM` in all."""
    return -float(scipy.special.ndtri(FALSE_ALARM / (2 * figures)))


def share_interval(count: float, of: float, effect: float = 1.0, figures: int = 1) -> Interval:
    """Of the share that was drawn `count` times in `of` drawings.

    Args:
        effect: design effect, at least 1.
        figures: that are looked at with `FALSE_ALARM` in all (Bonferroni).
    """
    return Interval(*exact_interval(count / effect, of / effect, FALSE_ALARM / figures))


def ratio_interval(count: float, per: float, effect: float = 1.0, figures: int = 1) -> Interval:
    """Of the ratio of two rates, of which `count` and `per` were counted.

    Given their sum, one of two Poisson counts is a share of it (J. Przyborowski and H. Wilenski, Biometrika 31, 1940).
    """
    low, high = share_interval(count, count + per, effect, figures)
    return Interval(low / (1 - low), high / (1 - high) if high < 1 else math.inf)


def share_effect(parts: Sequence[MixPart], operation: str) -> float:
    """Design effect of an operation's share in all requests."""
    counts = mix_counts(parts)
    requests = sum(counts.values())
    share = counts.get(operation, 0.0) / requests if requests else 0.0
    if not 0 < share < 1:
        return 1.0
    # What a request adds to the numerator of the share's error.
    contrast = {name: float(name == operation) - share for name in counts}
    return max(1.0, _variance(parts, contrast) / (requests * share * (1 - share)))


def ratio_effect(parts: Sequence[MixPart], operation: str, per: str) -> float:
    """Design effect of the ratio of two operations' counts, against Poisson counts."""
    counts = mix_counts(parts)
    if not counts.get(operation) or not counts.get(per):
        return 1.0
    ratio = counts[operation] / counts[per]
    plain = counts[operation] * (1 + ratio)
    return max(1.0, _variance(parts, {operation: 1.0, per: -ratio}) / plain)


def _variance(parts: Sequence[MixPart], contrast: Mapping[str, float]) -> float:
    """Mean square, added over the parts, of the sum of a contrast over a session's requests (W. Cochran, Sampling
    Techniques, 1977, on ratio estimates).

    A session draws each of its requests from the shares of its part: given that there are n, the sum has the mean n a
    and the variance n v. Sessions that end by chance have lengths of a geometric distribution: of the mean m their mean
    square is m (2 m - 1). Of sessions of one length it is less, so that what they vary by is overrated, at most twice.
    """
    total = 0.0
    for part in parts:
        length = sum(part.operations.values())
        shares = {name: count / length for name, count in part.operations.items() if length > 0}
        mean = sum(share * contrast.get(name, 0.0) for name, share in shares.items())
        square = sum(share * contrast.get(name, 0.0) ** 2 for name, share in shares.items())
        total += float(part.times) * length * (square - mean**2 + max(2 * length - 1, 1) * mean**2)
    return total
