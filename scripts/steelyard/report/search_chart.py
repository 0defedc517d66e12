# SPDX-License-Identifier: Apache-2.0
"""The path of a search: the value of each trial, how it went, and the bracket that shrinks about the result."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullLocator

from steelyard.analysis.search import bracket
from steelyard.report.canvas import (
    ABOVE,
    INK,
    SERIES,
    STEPS,
    WIDE,
    Chart,
    TickFormatter,
    arm_tag,
    canvas,
    finish,
    legend_text,
    with_style,
)
from steelyard.report.charts import set_level_axis, styled_series
from steelyard.report.view import View
from steelyard.results import figures
from steelyard.results.analysis import SearchResult, SearchRun
from steelyard.spec.search import Varied
from steelyard.units import MIB


@dataclass(frozen=True)
class _Measure:
    """How the values of a search are drawn and told."""

    unit: str
    scale: float = 1.0
    integer: bool = True
    """Whether only whole ones can be set."""

    def text(self, value: float) -> str:
        """A value, without its unit."""
        return figures.number(value * self.scale, 0 if self.integer else 1)

    def ticks(self, axes: Axes) -> None:
        """Ticks at values that can be set."""
        axes.yaxis.set_major_locator(MaxNLocator(6, steps=STEPS, integer=self.integer))


_MEASURES: Mapping[Varied, _Measure] = {
    "users": _Measure("users"),
    "memory": _Measure("MiB", scale=1 / MIB),
    "rate": _Measure("arrivals/s", integer=False),
}

_LOOKS: dict[str, dict[str, Any]] = {
    "passed": {"marker": "o", "mfc": INK["accent"], "mec": INK["accent"], "ms": 7},
    "failed": {"marker": "X", "mfc": INK["void"], "mec": INK["surface"], "ms": 9.5, "mew": 0.8},
    "measured": {"marker": "D", "mfc": INK["accent"], "mec": INK["accent"], "ms": 6},
    "void": {"marker": "o", "mfc": INK["surface"], "mec": INK["muted"], "ms": 6},
}


def found_text(result: SearchResult) -> str:
    """What was found, with its unit; empty: nothing to state."""
    measure = _MEASURES[result.varies]
    return "" if result.value is None else f"{measure.text(result.value)} {measure.unit}"


@with_style
def search_paths(view: View) -> list[Chart]:
    """One chart for each search that has a trial; those of an arm have the same scales."""
    return [_path(view, result, run) for result in view.analysis.searches for run in result.runs if run.steps]


@with_style
def all_searches(view: View) -> Chart | None:
    """All searches in one chart, trial by trial, and what was found; None without a search, or of several kinds."""
    results = [result for result in view.analysis.searches if any(run.steps for run in result.runs)]
    varied = {result.varies for result in results}
    if len(varied) != 1:
        return None
    measure = _MEASURES[varied.pop()]
    axes, words = canvas(300, WIDE), []
    longest = max(len(run.steps) for result in results for run in result.runs)
    for place, result in enumerate(results):
        words.append(_draw_searches(view, axes, result, longest + 1 + 0.6 * place))
    values = [step.value * measure.scale for result in results for run in result.runs for step in run.steps]
    low, high = min(values), max(values)
    if high > 8 * low:
        axes.set_yscale("log", base=2)
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        measure.ticks(axes)
    axes.yaxis.set_major_formatter(TickFormatter())
    axes.set_xlim(0.4, longest + 0.8 + 0.6 * len(results))
    axes.set_xticks([*range(1, longest + 1, max(1, longest // 10)), longest + 0.7 + 0.3 * len(results)])
    axes.set_xticklabels([*(f"{tick:.0f}" for tick in axes.get_xticks()[:-1]), "found"])
    axes.set_xlabel("trial of the search")
    crosses = "" if view.holds_share else " (crosses failed)"
    title = f"{measure.unit} that each search tried{crosses}, and what was found"
    return finish(axes, "all-searches", title, f"{'; '.join(words)}.")


def _draw_searches(view: View, axes: Axes, result: SearchResult, end: float) -> str:
    """The searches of an arm, and its result at the right end; in words what was found."""
    index, label, measure = view.arm_index(result.arm), view.arm_label(result.arm), _MEASURES[result.varies]
    color, marker, dash = SERIES[index % len(SERIES)]
    for run in result.runs:
        places, values = [*range(1, len(run.steps) + 1)], [step.value * measure.scale for step in run.steps]
        axes.plot(places, values, color=color, ls=dash, lw=1, alpha=0.55, gid=arm_tag(index))
        for place, value, step in zip(places, values, run.steps, strict=True):
            tip = f"{label}, block {run.block}, trial {place}: {measure.text(step.value)} {measure.unit} {step.outcome}"
            style: dict[str, Any] = {"color": color, "ms": 5.5, "zorder": 4, "gid": arm_tag(index, tip)}
            if step.outcome in ("failed", "void"):
                style |= {"mfc": INK["surface"], "mew": 1.3}
            axes.plot(place, value, "x" if step.outcome == "failed" else marker, **style)
    if result.value is None:
        return f"{label}: nothing to state"
    result_text = found_text(result)
    if result.low is not None and result.high is not None:
        result_text += f", 95 % CI {measure.text(result.low)} to {measure.text(result.high)}"
        ends = [result.low * measure.scale, result.high * measure.scale]
        axes.plot([end] * 2, ends, color=color, lw=3, gid=arm_tag(index, f"{label}: {result_text}"))
    style = {
        "color": color,
        "ms": 9,
        "mfc": INK["surface"],
        "mew": 2,
        "gid": arm_tag(index, f"{label}: {result_text}"),
    }
    axes.plot(end, result.value * measure.scale, marker, zorder=5, **style)
    return f"{label}: {result_text}"


@with_style
def search_levels(view: View) -> Chart | None:
    """What the searches found over the levels: each block's search a point, the interval of each arm; None where the
    searches are not all of one kind, or of one arm."""
    results = {result.arm: result for result in view.analysis.searches if result.value is not None}
    varied = {result.varies for result in results.values()}
    if len(results) < 2 or len(varied) > 1:
        return None
    measure = _MEASURES[varied.pop()]
    scale = measure.scale
    axes, words = canvas(300), []
    for series, arms, (color, marker, dash) in styled_series(view):
        line = []
        for result in (results[arm] for arm in arms if arm in results):
            place = view.axis.position[result.arm]
            assert result.value is not None
            line.append((place, result.value * scale))
            values = [run.value * scale for run in result.runs if run.value is not None]
            axes.plot([place] * len(values), values, marker, mfc="none", mec=color, ms=4.5, zorder=4)
            if result.low is not None and result.high is not None:
                axes.plot([place] * 2, [result.low * scale, result.high * scale], color=color, lw=2)
            words.append(f"{view.arm_label(result.arm)}: {measure.text(result.value)}")
        if line:
            label = legend_text(series) or None
            axes.plot(*zip(*line, strict=True), color=color, ls=dash, lw=1.1, alpha=0.6, label=label)
    set_level_axis(view, axes)
    axes.set_ylim(bottom=0)
    measure.ticks(axes)
    axes.yaxis.set_major_formatter(TickFormatter())
    title = f"{measure.unit} that the searches found, over {view.axis.label or 'arms'}"
    return finish(axes, "search-levels", title, f"{'; '.join(words)}.")


def _path(view: View, result: SearchResult, run: SearchRun) -> Chart:
    axes = canvas(250, width=340)
    measure = _MEASURES[result.varies]
    scale = measure.scale
    if result.low is not None and result.high is not None:
        axes.axhspan(result.low * scale, result.high * scale, color=INK["accent"], alpha=0.13, lw=0)
    if result.value is not None:
        axes.axhline(result.value * scale, color=INK["accent"], lw=1.3, ls=(0, (6, 3)))
    for place in range(1, len(run.steps) + 1):
        judged = [step for step in run.steps[:place] if step.outcome in ("passed", "failed")]
        sides = bracket(judged, falling=result.varies == "memory").sides
        if sides is not None:
            ends = (sides[0] * scale, sides[1] * scale)
            axes.fill_between([place - 0.5, place + 0.5], *ends, color=INK["muted"], alpha=0.24, lw=0)
    values = [step.value * scale for step in run.steps]
    axes.plot(range(1, len(values) + 1), values, color=INK["muted"], lw=0.9)
    for outcome, style in _LOOKS.items():
        places = [place for place, step in enumerate(run.steps, 1) if step.outcome == outcome]
        if places:
            points = [values[place - 1] for place in places]
            axes.plot(places, points, ls="none", zorder=4, label=outcome, **style)
    known = [x for x in (result.value, result.low, result.high) if x is not None]
    known += [step.value for run in result.runs for step in run.steps]
    low, high = min(known) * scale, max(known) * scale
    if high > 8 * low:
        axes.set_yscale("log", base=2)
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_ylim(low / 1.3, high * 1.2)
    else:
        measure.ticks(axes)
        axes.set_ylim(low - 0.08 * (high - low), high + 0.08 * (high - low))
    axes.yaxis.set_major_formatter(TickFormatter())
    longest = max(len(run.steps) for run in result.runs)
    axes.set_xlim(0.4, longest + 0.6)
    axes.xaxis.set_major_locator(MaxNLocator(min(longest, 10), integer=True))
    axes.set_xlabel("trial of the search")
    axes.legend(**ABOVE, ncols=4, fontsize=10.5, columnspacing=1)
    tried = "; ".join(f"{measure.text(step.value)} {step.outcome}" for step in run.steps)
    over = "" if result.value is None else f" Over all blocks: {measure.text(result.value)} {measure.unit}."
    title = f"{view.arm_label(result.arm)}, block {run.block}: {measure.unit}"
    return finish(axes, f"search-{result.arm}-{run.block}", title, f"In order: {tried}.{over}")
