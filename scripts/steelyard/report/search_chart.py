# SPDX-License-Identifier: Apache-2.0
"""The path of a search: the value of each trial, how it went, and the bracket that shrinks about the result."""

from typing import Any

from matplotlib.ticker import MaxNLocator, NullLocator

from steelyard.analysis import figures
from steelyard.analysis.search import bracket
from steelyard.report.canvas import ABOVE, INK, SERIES, STEPS, Chart, canvas, finish, styled, wrapped
from steelyard.report.view import View
from steelyard.results.analysis import SearchResult, SearchRun
from steelyard.units import MIB

_LOOKS: dict[str, dict[str, Any]] = {
    "passed": {"marker": "o", "mfc": INK["accent"], "mec": INK["accent"], "ms": 7},
    "failed": {"marker": "X", "mfc": INK["void"], "mec": INK["surface"], "ms": 9.5, "mew": 0.8},
    "measured": {"marker": "D", "mfc": INK["accent"], "mec": INK["accent"], "ms": 6},
    "void": {"marker": "o", "mfc": INK["surface"], "mec": INK["muted"], "ms": 6},
}


@styled
def search_paths(view: View) -> list[Chart]:
    """One chart for each search that has a trial; those of an arm have the same scales."""
    return [_path(view, result, run) for result in view.analysis.searches for run in result.runs if run.steps]


@styled
def search_levels(view: View) -> Chart | None:
    """What the searches found over the levels: each block's search a point, the interval of each arm; None where the
    searches are not all of one kind, or of one arm."""
    results = {result.arm: result for result in view.analysis.searches if result.value is not None}
    varied = {result.varies for result in results.values()}
    if len(results) < 2 or len(varied) > 1:
        return None
    scale = 1 / MIB if varied == {"memory"} else 1.0
    axes, words = canvas(300), []
    for index, (series, arms) in enumerate(view.axis.series.items()):
        look = SERIES[index % len(SERIES)] if len(view.axis.series) > 1 else (INK["accent"], "o", "-")
        color, marker, dash = look
        line = []
        for result in (results[arm] for arm in arms if arm in results):
            place = view.axis.position[result.arm]
            assert result.value is not None
            line.append((place, result.value * scale))
            found = [run.value * scale for run in result.runs if run.value is not None]
            axes.plot([place] * len(found), found, marker, mfc="none", mec=color, ms=4.5, zorder=4)
            if result.low is not None and result.high is not None:
                axes.plot([place] * 2, [result.low * scale, result.high * scale], color=color, lw=2)
            words.append(f"{view.arm_label(result.arm)}: {figures.number(result.value * scale, 1)}")
        if line:
            axes.plot(*zip(*line, strict=True), color=color, ls=dash, lw=1.1, alpha=0.6, label=series or None)
    if len(view.axis.series) > 1:
        axes.legend(loc="best")
    low, high = view.axis.ends
    axes.set_xlim(low - 0.6, high + 0.6)
    axes.set_ylim(bottom=0)
    axes.set_xticks(list(view.axis.ticks), [wrapped(name) for name in view.axis.ticks.values()])
    axes.set_xlabel(view.axis.label)
    axes.yaxis.set_major_formatter(lambda y, _: figures.number(y, 0 if y >= 10 else 1))
    (kind,) = varied
    unit = {"memory": "MiB", "rate": "arrivals/s"}.get(kind, kind)
    title = f"{unit} that the searches found, over {view.axis.label or 'arms'}"
    return finish(axes, "search-levels", title, f"{'; '.join(words)}.")


def _path(view: View, result: SearchResult, run: SearchRun) -> Chart:
    axes = canvas(250, width=340)
    memory = result.varies == "memory"
    scale = 1 / MIB if memory else 1.0
    unit = {"memory": "MiB", "rate": "arrivals/s"}.get(result.varies, result.varies)
    if result.low is not None and result.high is not None:
        axes.axhspan(result.low * scale, result.high * scale, color=INK["accent"], alpha=0.13, lw=0)
    if result.value is not None:
        axes.axhline(result.value * scale, color=INK["accent"], lw=1.3, ls=(0, (6, 3)))
    for place in range(1, len(run.steps) + 1):
        judged = [step for step in run.steps[:place] if step.outcome in ("passed", "failed")]
        sides = bracket(judged, falling=memory).sides
        if sides is not None:
            ends = (sides[0] * scale, sides[1] * scale)
            axes.fill_between([place - 0.5, place + 0.5], *ends, color=INK["muted"], alpha=0.24, lw=0)
    values = [step.value * scale for step in run.steps]
    axes.plot(range(1, len(values) + 1), values, color=INK["muted"], lw=0.9)
    for outcome, look in _LOOKS.items():
        places = [place for place, step in enumerate(run.steps, 1) if step.outcome == outcome]
        if places:
            points = [values[place - 1] for place in places]
            axes.plot(places, points, ls="none", zorder=4, label=outcome, **look)
    known = [x for x in (result.value, result.low, result.high) if x is not None]
    known += [step.value for run in result.runs for step in run.steps]
    low, high = min(known) * scale, max(known) * scale
    if high > 8 * low:
        axes.set_yscale("log", base=2)
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_ylim(low / 1.3, high * 1.2)
    else:
        axes.yaxis.set_major_locator(MaxNLocator(6, steps=STEPS))
        axes.set_ylim(low - 0.08 * (high - low), high + 0.08 * (high - low))
    axes.yaxis.set_major_formatter(lambda y, _: figures.number(y, 0 if y >= 10 else 1))
    longest = max(len(run.steps) for run in result.runs)
    axes.set_xlim(0.4, longest + 0.6)
    axes.xaxis.set_major_locator(MaxNLocator(min(longest, 10), integer=True))
    axes.set_xlabel("trial of the search")
    axes.legend(**ABOVE, ncols=4, fontsize=10.5, columnspacing=1)
    tried = "; ".join(
        f"{figures.number(y, 1)} {step.outcome}" for y, step in zip(values, run.steps, strict=True)
    )
    over = (
        "" if result.value is None else f" Over all blocks: {figures.number(result.value * scale, 1)} {unit}."
    )
    title = f"{view.arm_label(result.arm)}, block {run.block}: {unit}"
    return finish(axes, f"search-{result.arm}-{run.block}", title, f"In order: {tried}.{over}")
