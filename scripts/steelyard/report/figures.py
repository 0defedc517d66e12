# SPDX-License-Identifier: Apache-2.0
"""Figures as people read them: thousands separators, MiB, per cent, a dash for what was not measured."""

import math

from steelyard.results.analysis import Estimate, MetricInfo
from steelyard.units import MIB

DASH = "\N{EN DASH}"
"""Stands where there is no figure."""
_MINUS = "\N{MINUS SIGN}"
_BYTES = {"bytes", "byte", "B"}
_SHARES = {"share", "fraction"}


def scale(metric: MetricInfo) -> float:
    """What a raw figure is multiplied by before it is shown: bytes become MiB, shares become per cent."""
    if metric.unit in _BYTES:
        return 1 / MIB
    return 100.0 if metric.unit in _SHARES else 1.0


def unit(metric: MetricInfo) -> str:
    """The unit that goes with `value`."""
    if metric.unit in _BYTES:
        return "MiB"
    return "%" if metric.unit in _SHARES else metric.unit


def value(metric: MetricInfo, raw: float | None) -> str:
    """A figure of this metric, without its unit."""
    if raw is None:
        return DASH
    digits = max(0, metric.digits - 2) if metric.unit in _SHARES else metric.digits
    return number(raw * scale(metric), digits)


def with_unit(metric: MetricInfo, raw: float | None) -> str:
    """A figure of this metric with its unit."""
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
    if raw != 0 and abs(raw) < 0.5 * 10**-digits:
        digits = min(9, 1 - math.floor(math.log10(abs(raw))))
    return signed_zero(f"{raw:,.{digits}f}").replace("-", _MINUS)


def signed_zero(text: str) -> str:
    """`-0.0` is `0.0` for a reader."""
    return text.lstrip("-") if text.startswith("-") and not text.strip("-0.,") else text


def percent(fraction: float | None, digits: int | None = None, sign: bool = False) -> str:
    """A fraction as per cent; `sign` puts a plus before gains.

    Without `digits`: two decimals below 0.1 %, one below 20 %, else none.
    """
    if fraction is None or not math.isfinite(fraction):
        return DASH
    points = 100 * fraction
    if digits is None:
        digits = _digits(points)
    text = signed_zero(f"{points:,.{digits}f}").replace("-", _MINUS)
    plus = "+" if sign and text.strip("0.,") and points > 0 else ""
    return f"{plus}{text} %"


def _digits(points: float) -> int:
    return 2 if 0 < abs(points) < 0.1 else 1 if abs(points) < 20 else 0


def effect(estimate: Estimate | None) -> str:
    """The relative effect of an arm against the baseline: `+188 %`."""
    if estimate is None or estimate.ratio is None:
        return DASH
    return percent(estimate.ratio - 1, effect_digits(estimate), sign=True)


def interval(estimate: Estimate | None) -> str:
    """The 95 % interval of the relative effect: `+183 to +193 %`; empty when there is none."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    digits = effect_digits(estimate)
    low = percent(estimate.low - 1, digits, sign=True).removesuffix(" %")
    return f"{low} to {percent(estimate.high - 1, digits, sign=True)}"


def effect_digits(estimate: Estimate) -> int:
    """Decimals of an effect and its bounds, the same for all three: one where any is below 10 %, else none."""
    known = [ratio for ratio in (estimate.ratio, estimate.low, estimate.high) if ratio is not None]
    return 1 if any(abs(ratio - 1) < 0.0995 for ratio in known) else 0


def probability(p: float | None) -> str:
    """A p-value."""
    if p is None or not math.isfinite(p):
        return DASH
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def plain(raw: float | None, digits: int = 8) -> str:
    """A number for machines: `digits` significant digits, no exponent for ordinary sizes; empty when missing."""
    if raw is None or not math.isfinite(raw):
        return ""
    return f"{float(f'{raw:.{digits}g}'):.12g}"


def count(items: int, singular: str, plural: str | None = None) -> str:
    """`1 trial`, `3 trials`."""
    return f"{items:,} {singular if items == 1 else plural or singular + 's'}"
