# SPDX-License-Identifier: Apache-2.0
"""The line of a running trial's throughput, as what an SVG needs (pure): drawn every two seconds, so by no library."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.results import figures


@dataclass(frozen=True)
class Plot:
    """Places in per cent of the width from the left, and of the height from the top."""

    line: str
    area: str
    end: tuple[float, float]
    rows: Sequence[tuple[float, str]]
    """Height and figure of each line of the grid."""
    columns: Sequence[tuple[float, str]]
    """Place and text of each time below the axis."""
    seconds: int


def plot_rates(rates: Sequence[tuple[float, float]]) -> Plot | None:
    """The plot of throughput over time; None with fewer than two points.

    Args:
        rates: epoch second and requests per second, in order.
    """
    if len(rates) < 2:
        return None
    first, last = rates[0][0], rates[-1][0]
    highest = max(rate for _, rate in rates) or 1.0
    step = nice_step(highest, 3)
    top = step * math.ceil(highest / step)

    def x(second: float) -> float:
        return round((second - first) / (last - first) * 100, 2)

    def y(rate: float) -> float:
        return round((1 - rate / top) * 100, 2)

    points = [(x(second), y(rate)) for second, rate in rates]
    line = "M" + "L".join(f"{a} {b}" for a, b in points)
    ago = nice_step(last - first)
    return Plot(
        line=line,
        area=f"{line}L100 100L0 100Z",
        end=points[-1],
        rows=[(y(n * step), figures.number(n * step)) for n in range(round(top / step) + 1)],
        columns=[(x(last - n * ago), f"{n * ago:g} s ago") for n in range(1, int((last - first) / ago) + 1)],
        seconds=round(last - first) + 1,
    )


def nice_step(span: float, steps: int = 4) -> float:
    """A distance between ticks that people read easily, of which about so many fit into a span."""
    rough = span / steps
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next(factor for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
