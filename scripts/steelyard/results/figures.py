# SPDX-License-Identifier: Apache-2.0
"""Figures as people read them, in sentences, tables and charts alike: the one place where numbers become text.

Thousands separators, a real minus sign, MiB, per cent, a dash for what was not measured. Sizes and durations as
experiment files write them are in `steelyard.units`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from steelyard.results.analysis import MetricInfo
from steelyard.units import MIB, format_size

DASH = "\N{EN DASH}"
"""Stands where there is no figure."""
MINUS = "\N{MINUS SIGN}"
_MOST_DIGITS = 6
"""Decimals of a change beyond which nobody looks."""
DOUBLING = 1.0
"""Relative change above which what could be detected, or could not be ruled out, is no longer told by its size."""


class RatioInterval(Protocol):
    """A ratio of two arms and its interval; None: there is none."""

    @property
    def ratio(self) -> float | None:
        """The ratio."""

    @property
    def low(self) -> float | None:
        """Its lower end."""

    @property
    def high(self) -> float | None:
        """Its upper end."""


def scale(metric: MetricInfo) -> float:
    """What a raw figure is multiplied by before it is shown: bytes become MiB, shares become per cent."""
    return {"bytes": 1 / MIB, "share": 100.0}.get(metric.unit, 1.0)


def unit(metric: MetricInfo) -> str:
    """The unit that goes with `value`."""
    return {"bytes": "MiB", "share": "%"}.get(metric.unit, metric.unit)


def value(metric: MetricInfo, raw: float | None) -> str:
    """A figure of this metric, without its unit."""
    digits = max(0, metric.digits - 2) if metric.unit == "share" else metric.digits
    return number(raw if raw is None else raw * scale(metric), digits)


def with_unit(metric: MetricInfo, raw: float | None) -> str:
    """A figure of this metric with its unit: `31,200 req/s`, `510 MiB`, `0.02 %`."""
    if metric.unit == "bytes" and raw is not None and math.isfinite(raw):
        return format_size(raw)
    text = value(metric, raw)
    return text if text == DASH else f"{text} {unit(metric)}".rstrip()


def number(raw: float | None, digits: int = 0) -> str:
    """A number with thousands separators and a real minus sign.

    Args:
        raw: the number; None, NaN and infinities become a dash.
        digits: decimals; a figure that would show as nothing but zeros gets two significant digits instead.
    """
    if raw is None or not math.isfinite(raw):
        return DASH
    if raw != 0 and float(f"{raw:.{digits}f}") == 0:
        digits = min(9, 1 - math.floor(math.log10(abs(raw))))
    return _signs(f"{raw:,.{digits}f}")


def percent(fraction: float | None, digits: int | None = None, sign: bool = False) -> str:
    """A fraction as per cent: `3.1 %`, `120 %`; changes beyond tenfold as a factor, which nobody reads above 1,000.

    Args:
        fraction: None, NaN and infinities become a dash.
        digits: decimals; left out: two below 0.1 % (more where these are zeros), one below 10 %, else none.
        sign: put a plus before gains.
    """
    if fraction is None or not math.isfinite(fraction):
        return DASH
    if fraction > 9 and not sign:
        return "over 900 %"
    if fraction >= 999:
        return "over \N{MULTIPLICATION SIGN} 1,000"
    if fraction > 9:
        return f"\N{MULTIPLICATION SIGN} {fraction + 1:.3g}"
    points = 100 * fraction
    if digits is None:
        digits = int(abs(points) < 9.95) + int(0 < abs(points) < 0.095)
        digits = _widen(digits, [1 + fraction])
    text = _signs(f"{points:,.{digits}f}")
    return f"{'+' if sign and points > 0 and text.strip('0.,') else ''}{text} %"


def _signs(text: str) -> str:
    """A real minus; `-0.0` is `0.0` for a reader."""
    return text.replace("-", "" if not text.strip("-0.,") else MINUS)


def change(ratio: float, digits: int | None = None) -> str:
    """A ratio as a signed change: `+188 %`, `-3.1 %`, `x 12` beyond tenfold; one decimal below 10 %."""
    return percent(ratio - 1, _widen(_digits(ratio), [ratio]) if digits is None else digits, sign=True)


def margin_text(fraction: float) -> str:
    """A margin as it was asked for, to three significant digits: `3.0 %`, `12.5 %`."""
    return percent(fraction, max(int(fraction < 0.0995), len(f"{100 * fraction:.3g}".partition(".")[2])))


def beside_margin(fraction: float, forbidden: float) -> str:
    """A floor or a bound that is not the margin, with as many decimals as it takes to tell the two apart."""
    least = int(fraction < 0.0995)
    apart = (
        digits
        for digits in range(least, _MOST_DIGITS + 1)
        if round(100 * fraction, digits) != round(100 * forbidden, digits)
    )
    return percent(fraction, next(apart, least))


def limit(fraction: float | None) -> str:
    """The size of a change that could be detected, or not be ruled out: `3.1 %`; above a doubling `over 100 %`."""
    return f"over {percent(DOUBLING)}" if fraction is not None and fraction > DOUBLING else percent(fraction)


def not_ruled_out(largest: float) -> str:
    """What is left open by an interval that holds "no difference"; of more than a doubling the size says nothing."""
    if largest > DOUBLING:
        return "not even a doubling is ruled out"
    return f"cannot rule out a difference of up to {percent(largest)}"


def span(low: float | None, high: float | None) -> str:
    """From one such size to another: `2.0 to 15 %`; a single one where both are the same or the other is not known."""
    ends = list(dict.fromkeys(limit(end) for end in (low, high) if end is not None))
    return " to ".join([*(end.removesuffix(" %") for end in ends[:-1]), *ends[-1:]])


def interval(low: float, high: float, digits: int | None = None) -> str:
    """An interval of ratios: `+170 to +207 %`."""
    digits = _digits(low, high) if digits is None else digits
    # An interval that leaves out "no difference" must not seem to reach it.
    if not low <= 1 <= high:
        digits = _widen(digits, [low, high])
    first, last = (change(end, digits) for end in (low, high))
    return f"{first.removesuffix(' %') if last.endswith(' %') else first} to {last}"


def _is_nothing(ratio: float, digits: int) -> bool:
    """Whether a change shows as 0 with so many decimals."""
    return round(100 * abs(ratio - 1), digits) == 0


def effect(estimate: RatioInterval | None) -> str:
    """The relative effect of an arm against the baseline: `+188 %`."""
    if estimate is None or estimate.ratio is None:
        return DASH
    return change(estimate.ratio, _digits_of(estimate))


def bounds(estimate: RatioInterval | None) -> str:
    """The interval of the relative effect: `+183 to +193 %`; empty when there is none."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    return interval(estimate.low, estimate.high, _digits_of(estimate))


def factors(value: float, low: float | None, high: float | None) -> tuple[str, str]:
    """A ratio as a factor, and the ends of its interval (empty without one), with the same decimals: three, or more
    until an interval without 1 does not seem to reach it and none of them shows as 0."""
    known = [figure for figure in (value, low, high) if figure is not None]
    holds_1 = low is not None and high is not None and low <= 1 <= high
    digits = 3 if holds_1 else 2 + _widen(1, known)
    if 0 < min(known) < 0.5 * 10**-digits:
        digits = min(9, 1 - math.floor(math.log10(min(known))))
    interval_text = f"{number(low, digits)} to {number(high, digits)}" if len(known) > 2 else ""
    return number(value, digits), interval_text


def _digits(*ratios: float | None) -> int:
    """Decimals of an effect and its bounds, the same for all of them: one where any is below 10 %, else none."""
    return int(any(ratio is not None and abs(ratio - 1) < 0.0995 for ratio in ratios))


def _digits_of(estimate: RatioInterval) -> int:
    """The same, with as many as show neither the effect nor the ends of an interval without "no difference" as 0."""
    ratio, low, high = estimate.ratio, estimate.low, estimate.high
    ratios = [] if ratio is None else [ratio]
    if low is not None and high is not None and not low <= 1 <= high:
        ratios += [low, high]
    return _widen(_digits(ratio, low, high), ratios)


def _widen(digits: int, ratios: Sequence[float]) -> int:
    """So many decimals, or more until none of the changes shows as 0; what is 0 with the most of them is 0."""
    changes = [ratio for ratio in ratios if not _is_nothing(ratio, _MOST_DIGITS)]
    while any(_is_nothing(ratio, digits) for ratio in changes):
        digits += 1
    return digits


def pools_text(pools: Mapping[str, int]) -> str:
    """Huge pages by their size in KiB, as `HostFacts` has them: `12 of 2 MiB, 1 of 1,024 MiB`; empty: none."""
    return ", ".join(f"{pages} of {format_size(1024 * int(size))}" for size, pages in pools.items())


def probability(p: float | None) -> str:
    """A p-value."""
    if p is None or not math.isfinite(p):
        return DASH
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def short(raw: float | None) -> str:
    """Milliseconds or seconds with three significant digits or so."""
    return number(raw, sum(raw < limit for limit in (10, 100)) if raw is not None else 2)


def plain(raw: float | None, digits: int = 8) -> str:
    """A number for machines: `digits` significant digits, no exponent for ordinary sizes; empty when missing."""
    if raw is None or not math.isfinite(raw):
        return ""
    return f"{float(f'{raw:.{digits}g}'):.12g}"


def count(items: int, singular: str) -> str:
    """`1 trial`, `3 trials`."""
    return f"{items:,} {singular if items == 1 else f'{singular}s'}"


def capital(text: str) -> str:
    """The text with its first letter large and the rest as it is (`RSS` stays)."""
    return text[:1].upper() + text[1:]
