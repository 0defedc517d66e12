# SPDX-License-Identifier: Apache-2.0
"""Whether a server has warmed up: no change point, no slope, a quiet JIT (METHOD, "One trial", step 3).

The slope rule and noise. Least squares over 60 s has a standard error of its own: 0.45 %/min for every percent of
noise from second to second. Holding the bare estimate against 1 %/min would refuse most steady servers on a noisy
host; accepting whatever is not significantly beyond it would accept any ramp there. So the limit is widened by the
slope's own 95 % error, but never by more than 2 % of the level over the window. `selfcheck` shows what that gives.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.paired import t_quantile

PENALTY = 15.0
"""Penalty of a change point / ln(number of points) (Barrett et al., OOPSLA 2017)."""
SLOPE_LIMIT = 0.01
"""Largest slope per minute, as a share of the level."""
SLOPE_ALLOWANCE = 0.02
"""Most that the slope's own error may add to the limit, as a share of the level over the judged stretch."""
JIT_LIMIT = 0.02
"""JIT compiler threads' share of the servers' CPU budget."""
MIN_SEGMENT = 3
"""Seconds that a change has to last; two points have too little variance to speak of."""
MIN_POINTS = 2 * MIN_SEGMENT
"""Seconds below which nothing can be said."""
VARIANCE_FLOOR = SLOPE_LIMIT**2 / 12
"""Variance (of the level) below which segments count as equal: that of a straight rise at the slope's limit over a
minute, so that no change point is found in what the slope rule allows."""


@dataclass(frozen=True, slots=True)
class Steadiness:
    """What the last seconds of a series show."""

    steady: bool
    detail: str
    """One sentence with the figures."""


def judge_steady(rates: Sequence[float], jit_share: float | None, window: int = 60) -> Steadiness:
    """Judge the last `window` seconds of a throughput series.

    Args:
        rates: throughput of each second from the end of the ramp, requests/s.
        jit_share: CPU of JIT threads / CPU budget of the servers, lately; None: it cannot be told and is not judged.
        window: seconds to judge; a shorter series is judged as far as it goes, and the detail says so.
    """
    last = np.asarray(rates[-window:], dtype=np.float64)
    seconds = len(last)
    if seconds < MIN_POINTS:
        return Steadiness(False, f"Not steady: {seconds} s of load are too few to judge.")
    level = float(np.median(last))
    if not level > 0:  # also not a number
        return Steadiness(False, "Not steady: the servers answered nothing for half of the time.")
    # The library takes longer to load than the rest of the command line, most of which judges nothing.
    from steelyard.analysis.changepoint import last_change  # noqa: PLC0415

    relative = last / level
    change = last_change(relative)
    slope, allowance = _slope(relative)
    limit = SLOPE_LIMIT + allowance
    faults = []
    if change is not None:
        faults.append(f"throughput changed {change} s before the end")
    if not abs(slope) <= limit:
        faults.append(f"the slope of {slope * 100:+.1f} %/min is beyond {limit * 100:.1f} %/min")
    if jit_share is not None and not jit_share < JIT_LIMIT:
        faults.append(f"JIT threads use {jit_share * 100:.1f} % of the CPU budget")
    stretch = f"the last {seconds} s" if seconds >= window else f"{seconds} s (the rule asks for {window} s)"
    if faults:
        return Steadiness(False, f"Not steady over {stretch}: {'; '.join(faults)}.")
    jit = "JIT not visible" if jit_share is None else f"JIT {jit_share * 100:.1f} % of the CPU budget"
    slopes = f"slope {slope * 100:+.1f} %/min (limit {limit * 100:.1f} %/min)"
    return Steadiness(True, f"Steady over {stretch}: no change point, {slopes}, {jit}.")


def _slope(relative: NDArray[np.float64]) -> tuple[float, float]:
    """Least-squares slope per minute, and what its error adds to the limit per minute."""
    n = len(relative)
    seconds = np.arange(n) - (n - 1) / 2
    spread = float(seconds @ seconds)
    slope = float(seconds @ relative) / spread
    residuals = relative - relative.mean() - slope * seconds
    error = math.sqrt(float(residuals @ residuals) / (n - 2) / spread)
    allowance = min(t_quantile(0.975, n - 2) * error, SLOPE_ALLOWANCE / n)
    return slope * 60, allowance * 60
