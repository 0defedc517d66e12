# SPDX-License-Identifier: Apache-2.0
"""The path of a search: the value of each trial, how it went, and the bracket that shrinks about the result."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from steelyard.analysis import figures
from steelyard.report.canvas import INK, STEPS, Chart, canvas, finish, styled
from steelyard.units import MIB

_LOOKS: dict[str, dict[str, Any]] = {
    "passed": {"marker": "o", "mfc": INK["accent"], "mec": INK["accent"], "ms": 7},
    "failed": {"marker": "X", "mfc": INK["void"], "mec": INK["surface"], "ms": 9.5, "mew": 0.8},
    "measured": {"marker": "D", "mfc": INK["accent"], "mec": INK["accent"], "ms": 6},
    "void": {"marker": "o", "mfc": INK["surface"], "mec": INK["muted"], "ms": 6},
}


class Tried(NamedTuple):
    """One trial of a search."""

    value: float
    outcome: str
    """`passed`, `failed`, `measured` or `void`."""


class Found(NamedTuple):
    """What the searches of an arm found over blocks, with its interval; None: there is no such figure."""

    value: float | None
    low: float | None
    high: float | None


@styled
def search_paths(
    key: str, label: str, varies: str, paths: dict[int, Sequence[Tried]], found: Found
) -> list[Chart]:
    """One chart for each block, all with the same scales.

    Args:
        key: begins the identifiers on the page.
        label: the arm.
        varies: `users`, `rate` or `memory` (bytes; then smaller values are harder).
        paths: trials in their order, by block.
        found: what came out.
    """
    scale = 1 / MIB if varies == "memory" else 1.0
    shown = {block: [Tried(x * scale, how) for x, how in path] for block, path in paths.items() if path}
    if not shown:
        return []
    values = [one.value for path in shown.values() for one in path]
    values += [x * scale for x in found if x is not None]
    span = (min(values), max(values))
    longest = max(len(path) for path in shown.values())
    result = Found(*(None if x is None else x * scale for x in found))
    unit = {"memory": "MiB", "rate": "arrivals/s"}.get(varies, varies)
    return [
        _path(f"{key}-{block}", f"{label}, block {block}", unit, path, result, span, longest)
        for block, path in shown.items()
    ]


def _path(
    key: str,
    title: str,
    unit: str,
    path: Sequence[Tried],
    found: Found,
    span: tuple[float, float],
    longest: int,
) -> Chart:
    drawn = canvas(250, width=340)
    axes = drawn.axes
    if found.low is not None and found.high is not None:
        axes.axhspan(found.low, found.high, color=INK["accent"], alpha=0.13, lw=0)
    if found.value is not None:
        axes.axhline(found.value, color=INK["accent"], lw=1.3, ls=(0, (6, 3)))
    for place, passed, failed in _brackets(path, unit == "MiB"):
        axes.fill_between([place - 0.5, place + 0.5], passed, failed, color=INK["muted"], alpha=0.24, lw=0)
    axes.plot(range(1, len(path) + 1), [one.value for one in path], color=INK["muted"], lw=0.9)
    for outcome, look in _LOOKS.items():
        points = [(place, one.value) for place, one in enumerate(path, 1) if one.outcome == outcome]
        if points:
            axes.plot(*zip(*points, strict=True), ls="none", zorder=4, label=outcome, **look)
    low, high = span
    if high > 8 * low:
        axes.set_yscale("log", base=2)
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_ylim(low / 1.3, high * 1.2)
    else:
        axes.yaxis.set_major_locator(MaxNLocator(6, steps=STEPS))
        axes.set_ylim(low - 0.08 * (high - low), high + 0.08 * (high - low))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: figures.number(y, 0 if y >= 10 else 1)))
    axes.set_xlim(0.4, longest + 0.6)
    axes.xaxis.set_major_locator(MaxNLocator(min(longest, 10), integer=True))
    axes.set_xlabel("trial of the search")
    axes.tick_params(length=0)
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1, 1),
        borderaxespad=0.2,
        ncols=4,
        frameon=False,
        fontsize=10.5,
        handletextpad=0.1,
        columnspacing=1,
    )
    tried = "; ".join(f"{figures.number(one.value, 1)} {one.outcome}" for one in path)
    over = f" Over all blocks: {figures.number(found.value, 1)} {unit}." if found.value is not None else ""
    return finish(drawn, key, f"{title}: {unit}", f"In order: {tried}.{over}")


def _brackets(path: Sequence[Tried], falling: bool) -> Iterator[tuple[int, float, float]]:
    """What each trial left: the hardest value that passed and the easiest that failed, while they do not cross."""
    harder, easier = (min, max) if falling else (max, min)
    passed: list[float] = []
    failed: list[float] = []
    for place, one in enumerate(path, 1):
        if one.outcome in ("passed", "failed"):
            (passed if one.outcome == "passed" else failed).append(one.value)
        if passed and failed and (harder(passed) > easier(failed)) == falling:
            yield place, harder(passed), easier(failed)
