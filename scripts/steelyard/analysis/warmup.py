# SPDX-License-Identifier: Apache-2.0
"""Whether a server has warmed up: no change point, no slope, a quiet JIT (docs/explanation/warm-up.md).

The slope rule and noise. Least squares over 60 s has a standard error of its own: 0.45 %/min for every percent of
noise from second to second. Holding the bare estimate against 1 %/min would refuse most steady servers on a noisy
host; accepting whatever is not significantly beyond it would accept any ramp there. So the limit is widened by the
slope's own 95 % error, but never by more than 2 % of the level over the window. The few seconds of a quick session
cannot show so little: there a slope counts that the noise from second to second, before them as well, does not explain.

Dips. A full collection stops a server for a second or more, again and again, and is part of its steady state. Seconds
that differ from the running median by more than the noise does, and after which throughput is what it was, are left
out, as Barrett et al. leave out outliers. What lasts to the end is a change.

Looking again and again finds a flat minute in most rises. So the warm-up ends only where two looks in a row, over a
full minute each, are steady; `scripts/bench/steady_rule.py` simulates the rule as it is used.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.changepoint import changes
from steelyard.analysis.paired import t_quantile
from steelyard.results.figures import percent

PENALTY = 15.0
"""Penalty of a change point / ln(number of points) (Barrett et al., OOPSLA 2017)."""
SLOPE_LIMIT = 0.01
"""Largest slope per minute, as a share of the level."""
SLOPE_ALLOWANCE = 0.02
"""Most that the slope's own error may add to the limit, as a share of the level over the judged stretch, where that has
`DIP_MEDIAN` x 2 seconds or more."""
JIT_LIMIT = 0.02
"""JIT compiler threads' share of the servers' CPU budget."""
COMPILING = 0.2
"""JIT compiler threads' share of the servers' own CPU from which servers still compile what they are asked for. Seen
beside 8 to 48 users: 0.26 and more until throughput came up, and below 0.2 within seconds of that."""
COMPILED_OVER = 3.0
"""Seconds over which that is judged, at least."""
COMPILED_CPU: Mapping[str, float] = {"openj9": 6.0}
"""CPU seconds of each server over which that is judged, at least, by JVM. OpenJ9 compiles again what it has seen to be
hot: from 10 CPU seconds of load on its JIT was quiet for 3 to 6 of them, at a fortieth of the throughput that came with
27 (OpenJ9 21, ping, a busy host)."""
MIN_SEGMENT = 3
"""Seconds that a change has to last; two points have too little variance to speak of."""
MIN_POINTS = 2 * MIN_SEGMENT
"""Seconds below which nothing can be said."""
WINDOW = 60
"""Seconds that a look at the warm-up judges."""
BETWEEN_LOOKS = 13
"""Seconds between looks: no part of what a server may do every 10, 15, 20, 30 or 60 s, for then all looks could meet a
collection at the same place, at their edge."""
ACCEPTED_FROM = WINDOW + BETWEEN_LOOKS
"""Seconds of load before which no warm-up is accepted."""
DIP_MEDIAN = 15
"""Seconds of the running median that tells dips, which last less than half of it. In a window shorter than twice that
nothing is left out: there a dip is a good part of what is measured."""
DIP_NOISE = 4.0
"""Noise (standard deviations, from the median deviation) beyond which a second is a dip."""
DIP_SHARE = 0.25
"""Share of the seconds beyond which they are no dips but the way that the server runs; then none is left out."""
NORMAL_MEDIAN = 0.6745
"""Median deviation of normal noise / its standard deviation."""
_POWER = 0.8416
"""Standard errors beyond a limit at which 80 % of estimates are beyond it."""
VARIANCE_FLOOR = SLOPE_LIMIT**2 / 12
"""Variance (of the level) below which segments count as equal: that of a straight rise at the slope's limit over a
minute, so that no change point is found in what the slope rule allows."""


@dataclass(frozen=True, slots=True)
class Steadiness:
    """What the last seconds of a series show."""

    steady: bool
    detail: str
    """One sentence with the figures."""


def judge_steady(
    rates: Sequence[float], jit_share: float | None, window: int = WINDOW, compiled: bool = False
) -> Steadiness:
    """Judge the last `window` seconds of a throughput series.

    Args:
        rates: throughput of each second, requests/s; what is before the window helps to tell dips.
        jit_share: CPU of JIT threads / CPU budget of the servers, lately; None: it cannot be told and is not judged.
        window: seconds to judge; a shorter series is judged as far as it goes, and the detail says so.
        compiled: the share is of the servers' own CPU, and is held against `COMPILING` as their warm-up was.
    """
    limit_jit, of = (COMPILING, "the servers' CPU") if compiled else (JIT_LIMIT, "the CPU budget")
    series = np.asarray(rates[-(window + DIP_MEDIAN) :], dtype=np.float64)
    last = series[-window:]
    seconds = len(last)
    if seconds < MIN_POINTS:
        return Steadiness(False, f"Not steady: {seconds} s of load are too few to judge.")
    level = float(np.median(last))
    if not level > 0:  # also not a number
        return Steadiness(False, "Not steady: the servers answered nothing for half of the time.")
    kept = np.flatnonzero(
        ~_dips(series / level)[-seconds:] if seconds >= 2 * DIP_MEDIAN else np.ones(seconds)
    )
    relative = last[kept] / level
    change = last_change(relative)
    slope, allowance = _slope(relative, kept, seconds, _step_noise(series / level))
    limit = SLOPE_LIMIT + allowance
    faults = []
    if change is not None:
        faults.append(f"throughput changed {seconds - kept[-change]} s before the end")
    if not abs(slope) <= limit:
        faults.append(f"the slope of {slope * 100:+.1f} %/min is beyond {limit * 100:.1f} %/min")
    if jit_share is not None and not jit_share < limit_jit:
        faults.append(f"JIT threads use {jit_share * 100:.1f} % of {of}")
    stretch = f"the last {seconds} s" if seconds >= window else f"{seconds} s (the rule asks for {window} s)"
    if len(kept) < seconds:
        stretch += f" except {seconds - len(kept)} s of dips"
    if faults:
        return Steadiness(False, f"Not steady over {stretch}: {'; '.join(faults)}.")
    jit = "JIT not visible" if jit_share is None else f"JIT {jit_share * 100:.1f} % of {of}"
    slopes = f"slope {slope * 100:+.1f} %/min (limit {limit * 100:.1f} %/min)"
    return Steadiness(True, f"Steady over {stretch}: no change point, {slopes}, {jit}.")


def visible_change(seconds: int, noise: float) -> float | None:
    """How far throughput has to rise or fall over a window, evenly and as a share of its level, so that in 80 % of
    trials the slope rule says so; None: too few seconds to say anything.

    A short window sees little: of 8 s at a noise of 2 % from second to second a change of 8.3 % is found, of a minute
    one of 3.5 %. What is smaller passes as steady.

    Args:
        seconds: of the window.
        noise: standard deviation from second to second, as a share of the level.
    """
    if seconds < MIN_POINTS:
        return None
    error = noise / math.sqrt(seconds * (seconds**2 - 1) / 12)
    allowance = t_quantile(0.975, seconds - 2) * error
    if seconds >= 2 * DIP_MEDIAN:
        allowance = min(allowance, SLOPE_ALLOWANCE / seconds)
    return seconds * (SLOPE_LIMIT / 60 + allowance + _POWER * error)


def window_note(seconds: int, noises: Sequence[float]) -> str:
    """What windows of a length show of throughput that moves while it is measured, one sentence; nothing of a full
    minute, which the rule is made for.

    Args:
        seconds: of the window.
        noises: from second to second; of a session that has run its own, else some that there may be.
    """
    changes = {noise: visible_change(seconds, noise) for noise in noises}
    if seconds >= WINDOW or not changes:
        return ""
    if None in changes.values():
        return f"Windows of {seconds} s are too short to show whether throughput moved while it was measured."
    return (
        f"Windows of {seconds} s detect that throughput rose or fell by {_alternatives(changes.values())} (80 % power)"
        f" where it varies by {_alternatives(changes)} from second to second; smaller changes count as steady."
    )


def _alternatives(shares: Iterable[float | None]) -> str:
    """`4.2, 8.3 or 20 %`."""
    *others, last = (percent(share) for share in shares if share is not None)
    first = ", ".join(text.removesuffix(" %") for text in others)
    return f"{first} or {last}" if first else last


def series_noise(rates: Sequence[float]) -> float | None:
    """Standard deviation of throughput from second to second, as a share of its median, by the median of its steps: no
    rise and no jump is in it. None of too few seconds, or where nothing was served for half of the time."""
    if len(rates) < MIN_POINTS or (level := float(np.median(rates))) <= 0:
        return None
    return _step_noise(np.asarray(rates) / level)


def _step_noise(relative: NDArray[np.float64]) -> float:
    """From step to step, and by their median: neither a rise nor a jump is noise."""
    return float(np.median(np.abs(np.diff(relative)))) / (NORMAL_MEDIAN * math.sqrt(2))


def last_change(relative: NDArray[np.float64]) -> int | None:
    """Seconds from the last change point to the end; None without one."""
    begins = changes(relative, MIN_SEGMENT, PENALTY, VARIANCE_FLOOR)
    return len(relative) - begins[-1] if begins else None


def interim_seconds(at_least: float, at_most: float) -> Iterator[float]:
    """Seconds of load at which a warm-up is looked at, the cap last."""
    second = max(at_least, float(ACCEPTED_FROM))
    while second < at_most:
        yield second
        second += BETWEEN_LOOKS
    yield at_most


def has_warmed_up(rates: Sequence[float], jit_share: float | None) -> Steadiness:
    """Whether the warm-up may end now: this look and the one before it are steady, each over a full minute.

    Args:
        rates: throughput of each second from the end of the ramp until now, requests/s.
        jit_share: as in `judge_steady`, over the last minute.
    """
    if len(rates) < ACCEPTED_FROM:
        return Steadiness(
            False, f"Not steady: {len(rates)} s of load are too few (the rule asks for {ACCEPTED_FROM} s)."
        )
    now = judge_steady(rates, jit_share)
    if not now.steady:
        return now
    before = judge_steady(rates[:-BETWEEN_LOOKS], None)
    return now if before.steady else Steadiness(False, f"{before.detail[:-1]}, {BETWEEN_LOOKS} s ago.")


def has_compiled(jit_seconds: float, cpu_seconds: float, least: float = 0.0) -> bool:
    """Whether servers have compiled what they are asked for, by what their JIT threads and all their threads used;
    `least`: CPU seconds below which nothing can be said."""
    return cpu_seconds > 0 and cpu_seconds >= least and jit_seconds < COMPILING * cpu_seconds


def warm_up_ends(rates: Sequence[float], at_least: float, at_most: float) -> int | None:
    """The warm-up loop over a series that is known: seconds after which it is accepted, None: it reaches its cap."""
    ends = (int(second) for second in interim_seconds(at_least, at_most))
    return next((end for end in ends if has_warmed_up(rates[:end], None).steady), None)


def _dips(relative: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which seconds are dips or bursts after which throughput is what it was (at least two DIP_MEDIAN long)."""
    n = len(relative)
    medians = np.median(np.lib.stride_tricks.sliding_window_view(relative, DIP_MEDIAN), axis=1)
    off = np.abs(relative - medians[np.clip(np.arange(n) - DIP_MEDIAN // 2, 0, n - DIP_MEDIAN)])
    noise = max(float(np.median(off)) / NORMAL_MEDIAN, math.sqrt(VARIANCE_FLOOR))
    dips = off > DIP_NOISE * noise
    # What lasts to an end of the series, long enough to be seen as a change, may be one.
    for side in (dips, dips[::-1]):
        run = int(np.argmin(side)) if not side.all() else n
        if run >= MIN_SEGMENT:
            side[:run] = False
    return dips if dips.sum() <= DIP_SHARE * n else np.zeros(n, dtype=np.bool_)


def _slope(
    relative: NDArray[np.float64], at: NDArray[np.intp], length: int, noise: float
) -> tuple[float, float]:
    """Least-squares slope per minute, and what its error adds to the limit per minute.

    Args:
        relative: shares of the level.
        at: the second of each.
        length: seconds of the stretch.
        noise: standard deviation from second to second, for a stretch too short to tell its own from a jump.
    """
    n = len(relative)
    seconds = at - at.mean()
    spread = float(seconds @ seconds)
    slope = float(seconds @ relative) / spread
    if length < 2 * DIP_MEDIAN:
        return slope * 60, t_quantile(0.975, n - 2) * noise / math.sqrt(spread) * 60
    residuals = relative - relative.mean() - slope * seconds
    error = math.sqrt(float(residuals @ residuals) / (n - 2) / spread)
    return slope * 60, min(t_quantile(0.975, n - 2) * error, SLOPE_ALLOWANCE / length) * 60
