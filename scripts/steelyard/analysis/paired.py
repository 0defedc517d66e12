# SPDX-License-Identifier: Apache-2.0
"""The statistics of paired log ratios: one small fast core for reports, gate and self-check.

A value here is log(arm / baseline) of one block; the blocks are the sample (METHOD, "Estimates").
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

LEVEL = 0.05
"""Two-sided level of tests; intervals cover 1 - LEVEL."""
POWER = 0.80
"""Power at which the smallest detectable effect is stated."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Student's t over blocks. All figures are on the scale of the values, the log scale for ratios."""

    n: int
    mean: float
    sd: float
    low: float
    high: float
    p: float
    """Two-sided p of "no difference"."""

    def bound(self, upper: bool, level: float = LEVEL) -> float:
        """One-sided bound of the mean effect: it lies on the other side with probability `level`."""
        half = t_quantile(1 - level, self.n - 1) * self.sd / math.sqrt(self.n)
        return self.mean + half if upper else self.mean - half


@lru_cache(maxsize=4096)
def t_quantile(q: float, df: int) -> float:
    """Quantile of Student's t, remembered because a session asks for the same few again and again."""
    return float(scipy.stats.t.ppf(q, df))


def paired(logs: Sequence[float]) -> Paired | None:
    """Mean log ratio (or mean of any figures) with its 95 % interval; None with fewer than two blocks.

    Blocks that agree exactly (standard deviation 0) give an interval of width 0 and p of 0, or of 1 at no effect.
    """
    n = len(logs)
    if n < 2:
        return None
    mean = math.fsum(logs) / n
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in logs) / (n - 1))
    error = sd / math.sqrt(n)
    half = t_quantile(1 - LEVEL / 2, n - 1) * error
    p = 2 * float(scipy.special.stdtr(n - 1, -abs(mean) / error)) if error else float(mean == 0)
    return Paired(n, mean, sd, mean - half, mean + half, p)


@lru_cache(maxsize=4096)
def detectable_in_sd(n: int, power: float = POWER, level: float = LEVEL) -> float:
    """Smallest effect, in standard deviations of the log ratio, that n blocks find with the given power.

    The statistic of the two-sided one-sample t test is noncentral t with noncentrality effect * sqrt(n) and n - 1
    degrees of freedom (Cohen, 1988, chapter 2). Its tail is integrated here over the distribution of the sample
    standard deviation: scipy's own is not a number in the far tail, which few blocks need.
    """
    df = n - 1
    nodes, weights = np.polynomial.legendre.leggauss(400)  # Gauss's quadrature, over -1 to 1
    scaled = t_quantile(1 - level / 2, df) * np.sqrt(scipy.stats.chi2.ppf((nodes + 1) / 2, df) / df)

    def excess(noncentrality: float) -> float:
        rejected = scipy.special.ndtr(noncentrality - scaled) + scipy.special.ndtr(-noncentrality - scaled)
        return float(weights @ rejected) / 2 - power

    return float(scipy.optimize.brentq(excess, 0.0, 1e6, xtol=1e-9)) / math.sqrt(n)


def detectable_effect(n: int, sd: float) -> float | None:
    """Smallest detectable relative change as a fraction, stated for a rise (a fall needs slightly less)."""
    return math.expm1(detectable_in_sd(n) * sd) if n >= 2 else None


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction (Scandinavian Journal of Statistics, 1979); missing values are passed over."""
    present = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    running = 0.0
    for rank, (p, index) in enumerate(present):
        running = max(running, min(1.0, p * (len(present) - rank)))
        corrected[index] = running
    return corrected


def share_interval(hits: int, n: int) -> tuple[float, float]:
    """Exact 95 % interval of a share (Clopper and Pearson, Biometrika, 1934)."""
    found = scipy.stats.binomtest(hits, n).proportion_ci(1 - LEVEL, method="exact")
    return float(found.low), float(found.high)
