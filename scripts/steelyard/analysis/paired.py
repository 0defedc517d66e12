# SPDX-License-Identifier: Apache-2.0
"""The statistics of paired log ratios: one small fast core for reports, gate and self-check.

A value here is log(arm / baseline) of one block; the blocks are the sample (docs/explanation/estimates.md).
"""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import scipy

LEVEL = 0.05
"""Two-sided level of tests; intervals cover 1 - LEVEL."""
POWER = 0.80
"""Power at which the smallest detectable effect is stated."""
SURE = 0.95
"""Confidence of the bound of a standard deviation that was itself estimated from a few blocks."""
TIED = 1e-12
"""Values that differ by no more than rounding have shown no spread at all."""
CLEARLY = 0.01
"""Level of the remarks beside an interval: lower than that of tests, as each arm may get several."""
_FURTHEST = 100.0
"""Log ratio at which factors are held: they say nothing there, and from 709.8 on they fit no floating-point number."""
_TWO_GROUPS = {6: 0.032, 8: 0.065, 10: 0.0915, 12: 0.1137, 15: 0.138, 20: 0.17}
"""1 % quantiles, by number of values, of what the best split leaves unexplained in normal samples (200,000 each)."""


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Student's t over blocks. All figures are on the scale of the values, the log scale for ratios."""

    n: int
    mean: float
    sd: float
    low: float
    high: float
    p: float
    """Two-sided p of "no difference"; 1 where the values are tied."""

    @property
    def is_tied(self) -> bool:
        """All values agree: their spread is below what was resolved, and so unknown, not zero."""
        return self.sd == 0

    def bound(self, upper: bool, level: float = LEVEL) -> float:
        """One-sided bound of the mean effect: it lies on the other side with probability `level`."""
        half = t_quantile(1 - level, self.n - 1) * self.sd / math.sqrt(self.n)
        return self.mean + half if upper else self.mean - half


def ratio_of(log: float) -> float:
    """exp(log), held at e^-100 and e^100: in two blocks a bound may lie beyond every number.

    Their interval is 255 standard errors wide on either side at the level of 20 comparisons.
    """
    return math.exp(max(-_FURTHEST, min(_FURTHEST, log)))


def fraction_of(log: float) -> float:
    """The relative change exp(log) - 1, held where `ratio_of` is."""
    return math.expm1(max(-_FURTHEST, min(_FURTHEST, log)))


@lru_cache(maxsize=4096)
def t_quantile(q: float, df: int) -> float:
    """Quantile of Student's t, remembered because a session asks for the same few again and again."""
    return float(scipy.special.stdtrit(df, q))


def paired_test(logs: Sequence[float], level: float = LEVEL) -> PairedTest | None:
    """Mean log ratio (or mean of any figures) with its 1 - `level` interval; None with fewer than two blocks.

    Blocks that agree exactly (`tied`) give an interval of width 0, and a p of 1: nothing is shown by them.
    """
    n = len(logs)
    if n < 2:
        return None
    mean = math.fsum(logs) / n
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in logs) / (n - 1))
    sd = sd if sd > TIED else 0.0
    error = sd / math.sqrt(n)
    half = t_quantile(1 - level / 2, n - 1) * error
    p = 2 * float(scipy.special.stdtr(n - 1, -abs(mean) / error)) if error else 1.0
    return PairedTest(n, mean, sd, mean - half, mean + half, p)


def sign_flip_p(values: Sequence[float]) -> float:
    """One-sided p of a mean as far above zero as this one, where each value could as well have had the other sign.

    Fisher's randomisation test (The Design of Experiments, 1935, section 21): exact for up to 12 values, by 4,096 drawn
    signs for more (Dwass, Annals of Mathematical Statistics, 1957). It takes no normal distribution for granted: one
    start of another kind among few makes Student's t find what is not there.
    """
    flipped = _signs(len(values)) @ np.asarray(values, dtype=float)
    least = math.fsum(values) - TIED
    return float(np.count_nonzero(flipped >= least)) / len(flipped)


@lru_cache(maxsize=64)
def _signs(n: int) -> Any:
    """Signs of n values, a row for each way; the first row is as they are."""
    if n <= 12:
        return 1.0 - 2.0 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
    drawn = np.random.PCG64(n).random_raw(4095 * n).reshape(4095, n) >> np.uint64(63)
    return np.vstack([np.ones(n), 1.0 - 2.0 * drawn])


def _chi_squared_quantile(q: Any, df: int) -> Any:
    """Quantile of chi-squared, for one q or an array; `scipy.stats`, which has it too, takes half a second to load."""
    return 2 * scipy.special.gammaincinv(df / 2, q)


@cache
def _quadrature() -> Any:
    """Gauss's nodes and weights over -1 to 1."""
    return np.polynomial.legendre.leggauss(400)


@lru_cache(maxsize=4096)
def detectable_in_sd(n: int, power: float = POWER, level: float = LEVEL) -> float:
    """Smallest effect, in standard deviations of the log ratio, that n blocks find with the given power.

    The statistic of the two-sided one-sample t test is noncentral t with noncentrality effect * sqrt(n) and n - 1
    degrees of freedom (Cohen, 1988, chapter 2). Its tail is integrated here over the distribution of the sample
    standard deviation: scipy's own is not a number in the far tail, which few blocks need.
    """
    df = n - 1
    nodes, weights = _quadrature()
    scaled = t_quantile(1 - level / 2, df) * np.sqrt(_chi_squared_quantile((nodes + 1) / 2, df) / df)

    def excess(noncentrality: float) -> float:
        rejected = scipy.special.ndtr(noncentrality - scaled) + scipy.special.ndtr(-noncentrality - scaled)
        return float(weights @ rejected) / 2 - power

    return float(scipy.optimize.brentq(excess, 0.0, 1e6, xtol=1e-9)) / math.sqrt(n)


@lru_cache(maxsize=4096)
def sd_bound(n: int, confidence: float = SURE) -> float:
    """Upper confidence bound of a true standard deviation, in standard deviations estimated from n values.

    sqrt((n - 1) / q), q the 1 - confidence quantile of chi-squared with n - 1 degrees of freedom. For planning on an
    estimated deviation: Browne, Statistics in Medicine, 1995; Kieser and Wassmer, Biometrical Journal, 1996.
    """
    return math.sqrt((n - 1) / float(_chi_squared_quantile(1 - confidence, n - 1)))


def detectable_effect(
    n: int, sd: float, comparisons: int = 1, estimated_from: int | None = None
) -> float | None:
    """Smallest detectable relative change as a fraction, stated for a rise (a fall needs slightly less).

    Args:
        n: blocks of the session.
        sd: standard deviation of the log ratio.
        comparisons: that are judged together, each at Bonferroni's level (`adjusted`).
        estimated_from: number of blocks that sd was estimated from: its upper bound is taken then, and with
            confidence `SURE` the power is at least what is stated. None: sd is taken as the true one.

    Returns:
        None with fewer than two blocks, without a spread, or beyond every figure.
    """
    if n < 2 or sd <= TIED or (estimated_from is not None and estimated_from < 2):
        return None
    change = detectable_in_sd(n, level=LEVEL / comparisons) * sd
    change *= 1.0 if estimated_from is None else sd_bound(estimated_from)
    return math.expm1(change) if change < _FURTHEST else None


def fewest_blocks(
    effect: float, sd: float, most: int, comparisons: int = 1, estimated_from: int | None = None
) -> int | None:
    """Fewest blocks, at most `most`, in which a relative change can be detected; None: not even in those.

    What is detectable falls with each block. `effect` is a fraction; the other arguments are `detectable_effect`'s.
    """

    def is_enough(blocks: int) -> bool:
        detectable = detectable_effect(blocks, sd, comparisons, estimated_from)
        return detectable is not None and detectable <= effect

    fewest = bisect_left(range(2, most + 1), True, key=is_enough) + 2
    return fewest if fewest <= most else None


def spreads_differ(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Standard deviation of one arm / that of the other, over the same blocks, where they clearly differ; else None.

    Pitman's and Morgan's test (both Biometrika, 1939): sums and differences of the pairs correlate just where the
    deviations differ, however the pairs themselves correlate.
    """
    if (n := len(first)) < 4:
        return None
    mine, others = np.subtract(first, np.mean(first)), np.subtract(second, np.mean(second))
    a, b, both = float(mine @ mine), float(others @ others), float(mine @ others)
    if min(a, b) <= TIED:
        return None
    # (a - b) / sqrt((a + b)^2 - 4 both^2) is r of sums and differences.
    t = abs(a - b) * math.sqrt((n - 2) / max(4 * (a * b - both * both), TIED**2))
    return math.sqrt(a / b) if t > t_quantile(1 - CLEARLY / 2, n - 2) else None


def two_groups(values: Sequence[float]) -> float | None:
    """The middle of the gap between two groups of at least two values each, where there clearly are two; else None.

    The test for clusters of Engelman and Hartigan (Journal of the American Statistical Association, 1969): the share of
    the sum of squares that the best split in two leaves unexplained, against normal samples of the same size (over 20:
    of 20, which is stricter). A single outlier makes no group.
    """
    if (n := len(values)) < min(_TWO_GROUPS):
        return None
    ordered = np.sort(values)
    centred = ordered - ordered.mean()
    total = float(centred @ centred)
    if total <= TIED:
        return None
    sizes = np.arange(2, n - 1)
    between = centred.cumsum()[1:-2] ** 2 * n / (sizes * (n - sizes))
    best = int(between.argmax())
    if 1 - between[best] / total > np.interp(n, [*_TWO_GROUPS], [*_TWO_GROUPS.values()]):
        return None
    return float(ordered[best + 1] + ordered[best + 2]) / 2


def arm_levels(values: Mapping[str, Mapping[Any, float]]) -> dict[str, float]:
    """Level of each arm on the log scale, up to a common constant; arms with a figure that has no logarithm left out.

    Of least squares: by their means, an arm that lacks a bad block would look better than the others.
    """
    return _fit_arms_and_blocks(values)[0]


def residual_variance(values: Mapping[str, Mapping[Any, float]]) -> float | None:
    """Variance of the logarithms beyond what arms and blocks differ by on average; None: too few figures."""
    _, squares, freedom = _fit_arms_and_blocks(values)
    return squares / freedom if freedom > 0 else None


def _fit_arms_and_blocks(
    values: Mapping[str, Mapping[Any, float]],
) -> tuple[dict[str, float], float, int]:
    """Levels of the arms by least squares over arms and blocks (Yates, Empire Journal of Experimental Agriculture,
    1933), the sum of squares that they leave, and its degrees of freedom."""
    usable = {arm: by_block for arm, by_block in values.items() if by_block and min(by_block.values()) > 0}
    arms, blocks = [*usable], sorted({block for by_block in usable.values() for block in by_block})
    cells = [(arm, block) for arm, by_block in usable.items() for block in by_block]
    design = [[*(a == arm for a in arms), *(b == block for b in blocks)] for arm, block in cells]
    if not cells:
        return {}, 0.0, 0
    logs = np.array([math.log(usable[arm][block]) for arm, block in cells])
    matrix = np.array(design, dtype=float)
    levels, _, rank, _ = np.linalg.lstsq(matrix, logs, rcond=None)
    left = logs - matrix @ levels
    return dict(zip(arms, map(float, levels), strict=False)), float(left @ left), len(cells) - int(rank)


def adjust_p(p: float | None, comparisons: int) -> float | None:
    """p as one of so many comparisons (Bonferroni): below 5 % just where the interval at 5 %/comparisons leaves out
    "no difference".

    The intervals are simultaneous: all of a family hold their truths together in at least 95 % (O. J. Dunn, Journal of
    the American Statistical Association, 1961). Holm's step-down test rejects a little more, but has no intervals that
    go with it and say anything: those that invert it leave what it rejects without a bound on the far side
    (K. Strassburger and F. Bretz, Statistics in Medicine, 2008; O. Guilbaud, Biometrical Journal, 2008).
    """
    return None if p is None else min(1.0, comparisons * p)
