# SPDX-License-Identifier: Apache-2.0
"""Whether a server has warmed up: no change point, no slope, a quiet JIT (docs/explanation/warm-up.md).

The slope rule and noise. Least squares over 60 s has a standard error of its own: 0.45 %/min for every percent of
noise from second to second. Holding the bare estimate against 1 %/min would refuse most steady servers on a noisy
host; accepting whatever is not significantly beyond it would accept any ramp there. So the limit is widened by the
slope's own 95 % error, but never by more than 2 % of the level over the window. The few seconds of a quick session
cannot show so little: there a slope counts that the noise from second to second, before them as well, does not explain.
Seconds follow each other: one below the rest comes with others below. Of so few seconds a slope varies more then than
their steps let expect (31 % of flat windows of 20 s were refused at a correlation of 0.5 of neighbours), so the
correlation is estimated and counted in. A minute's limit and cap refuse 9 % there without it.

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
ASKING = 0.5
"""As COMPILING, of the CPU that these threads asked for: what they used and the time that they waited for it. With more
users than CPUs they get few, and a server that still interprets looks as if it had compiled. Seen beside 16 to 64 users
(AcmeAir, 2 CPUs): 0.8 and more at 0.12 to 0.2 used until throughput came up, and below 0.5 within seconds of that."""
COMPILED = 0.05
"""As COMPILING: below this little is left to compile, however long these threads wait for a CPU. Seen with two JVMs of
ping on 2 CPUs, at their full throughput: 0.01 to 0.06 used, 0.25 to 1 asked for."""
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
CORRELATION_VARIANCE = 3.0
"""Variance of an estimated correlation of neighbours, times the steps that it is estimated from (2 to 3, simulated)."""
MOST_CORRELATED = 0.7
"""Correlation beyond which noise and a trend cannot be told apart in so few seconds."""
_ESTIMATED = 0.5
"""Standard errors that it takes more, as noise and correlation are estimated from few seconds (simulated)."""
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
    correlation = _correlation(np.asarray(rates[-(window + WINDOW) :]) / level, seconds)
    noise = _step_noise(series / level) / math.sqrt(1 - correlation)
    slope, allowance = _slope(relative, kept, seconds, noise, correlation)
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


def visible_change(seconds: int, noise: float, correlation: float = 0.0) -> float | None:
    """How far throughput has to rise or fall over a window, evenly and as a share of its level, so that in 80 % of
    trials the slope rule says so; None: too few seconds to say anything.

    A short window sees little: of 8 s at a noise of 2 % from second to second a change of 9.5 % is found, of a minute
    one of 3.5 %. What is smaller passes as steady.

    Args:
        seconds: of the window.
        noise: standard deviation of seconds, as a share of the level.
        correlation: of each with the one before.
    """
    if seconds < MIN_POINTS:
        return None
    at = np.arange(seconds)
    error = _slope_error(at, noise, correlation)
    if seconds < 2 * DIP_MEDIAN:
        allowance = (t_quantile(0.975, seconds - 2) + _ESTIMATED) * error
    else:
        white = t_quantile(0.975, seconds - 2) * _slope_error(at, noise, 0.0)
        allowance = min(white, SLOPE_ALLOWANCE / seconds)
    return seconds * (SLOPE_LIMIT / 60 + allowance + _POWER * error)


def window_note(seconds: int, noises: Sequence[float], correlation: float = 0.0) -> str:
    """What windows of a length show of throughput that moves while it is measured, one sentence; nothing of a full
    minute, which the rule is made for.

    Args:
        seconds: of the window.
        noises: from second to second; of a session that has run its own, else some that there may be.
        correlation: of each second with the one before, where a session has shown it.
    """
    changes = {noise: visible_change(seconds, noise, correlation) for noise in noises}
    if seconds >= WINDOW or not changes:
        return ""
    if None in changes.values():
        return f"Windows of {seconds} s are too short to show whether throughput moved while it was measured."
    follows = f" (correlation with the second before: {correlation:.1f})" if correlation >= 0.05 else ""
    return (
        f"Windows of {seconds} s detect that throughput rose or fell by {_alternatives(changes.values())} (80 % power)"
        f" where it varies by {_alternatives(changes)} from second to second{follows}; smaller changes count as steady."
    )


def _alternatives(shares: Iterable[float | None]) -> str:
    """`4.8, 9.5 or 24 %`."""
    *others, last = (percent(share) for share in shares if share is not None)
    first = ", ".join(text.removesuffix(" %") for text in others)
    return f"{first} or {last}" if first else last


def series_noise(rates: Sequence[float], window: int) -> tuple[float, float] | None:
    """Standard deviation of throughput in the last `window` seconds, as a share of its median, and the correlation of
    each second with the one before, for which those before the window help: no rise and no jump is in them. None of too
    few seconds, or where nothing was served for half of the time."""
    if len(rates) < MIN_POINTS or (level := float(np.median(rates[-window:]))) <= 0:
        return None
    relative = np.asarray(rates) / level
    correlation = _correlation(relative, window)
    return _step_noise(relative[-window:]) / math.sqrt(1 - correlation), correlation


def _step_noise(relative: NDArray[np.float64]) -> float:
    """Standard deviation if seconds are independent, by the median of steps: neither a rise nor a jump is noise."""
    return float(np.median(np.abs(np.diff(relative)))) / (NORMAL_MEDIAN * math.sqrt(2))


def _correlation(relative: NDArray[np.float64], window: int) -> float:
    """Correlation of each second with the one before (a first-order autoregression), between 0 and `MOST_CORRELATED`.

    By steps, of which neighbours correlate by (correlation - 1) / 2, whatever the level is. They are taken from the
    median of their stretch (the window, and `DIP_MEDIAN` seconds each before it), so that a rise is none, and jumps are
    left out. What it is beyond its own error counts (James and Stein, 1961): of few steps it is rarely above 0.
    """
    steps = np.diff(relative)
    begins = range(len(steps) - window, MIN_SEGMENT, -DIP_MEDIAN)
    centered = np.concatenate([part - np.median(part) for part in np.split(steps, sorted(begins))])
    usual = np.abs(centered) <= DIP_NOISE * float(np.median(np.abs(centered))) / NORMAL_MEDIAN
    both = usual[1:] & usual[:-1]
    centered[~usual] = 0.0
    variance = float(centered @ centered) / int(usual.sum())
    if not (variance > 0 and both.any()):
        return 0.0
    estimate = 1 + 2 * float(centered[1:] @ centered[:-1]) / int(both.sum()) / variance
    if estimate <= 0:
        return 0.0
    return min(max(0.0, estimate - CORRELATION_VARIANCE / len(steps) / estimate), MOST_CORRELATED)


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


def has_compiled(jit_seconds: float, cpu_seconds: float, waited: float = 0.0, least: float = 0.0) -> bool:
    """Whether servers have compiled what they are asked for.

    Args:
        jit_seconds: CPU seconds that their JIT threads used.
        cpu_seconds: that all their threads used.
        waited: seconds that JIT threads waited for a CPU; 0 where the kernel does not tell.
        least: CPU seconds below which nothing can be said.
    """
    if cpu_seconds <= 0 or cpu_seconds < least:
        return False
    used, asked = jit_seconds / cpu_seconds, (jit_seconds + waited) / cpu_seconds
    return used < COMPILED or (used < COMPILING and asked < ASKING)


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
    relative: NDArray[np.float64], at: NDArray[np.intp], length: int, noise: float, correlation: float
) -> tuple[float, float]:
    """Least-squares slope per minute, and what its error adds to the limit per minute.

    Args:
        relative: shares of the level.
        at: the second of each.
        length: seconds of the stretch.
        noise: standard deviation of seconds, for a stretch too short to tell its own from a jump.
        correlation: of each second with the one before, for such a stretch.
    """
    n = len(relative)
    seconds = at - at.mean()
    spread = float(seconds @ seconds)
    slope = float(seconds @ relative) / spread
    if length < 2 * DIP_MEDIAN:
        return slope * 60, t_quantile(0.975, n - 2) * _slope_error(at, noise, correlation) * 60
    residuals = relative - relative.mean() - slope * seconds
    error = math.sqrt(float(residuals @ residuals) / (n - 2) / spread)
    return slope * 60, min(t_quantile(0.975, n - 2) * error, SLOPE_ALLOWANCE / length) * 60


def _slope_error(at: NDArray[np.intp], noise: float, correlation: float) -> float:
    """Standard error of a least-squares slope, per second, of noise that follows itself."""
    seconds = at - at.mean()
    follows = np.power(correlation, np.abs(np.subtract.outer(at, at)))
    return noise * math.sqrt(float(seconds @ follows @ seconds)) / float(seconds @ seconds)
