# SPDX-License-Identifier: Apache-2.0
"""The charts of the report, one function each; a chart that would be empty is None."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from steelyard.analysis import figures
from steelyard.analysis.sentences import SURVIVED, beyond_noise
from steelyard.report.canvas import INK, SERIES, STEPS, Chart, canvas, finish, styled
from steelyard.report.tables import CPU_GROUPS, GROUP_LABELS, QUANTILES, latency_figure
from steelyard.report.view import View, mean_interval
from steelyard.results.analysis import MetricInfo
from steelyard.results.schema import Trial

MAX_TRACE_POINTS = 40_000
"""Points of all warm-up traces together; longer traces are thinned to means so that the page stays small."""
_ABOVE: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.3}
"""Where a legend stands: over the axes, at the right, in words that matplotlib 3.6 (Debian, ppc64le image) knows."""


@styled
def overview(view: View) -> list[Chart]:
    """Two to a row: the first two metrics over the levels, their effects below; then each further metric."""
    shown = [metric for metric in view.charted if metric.name != SURVIVED]
    over = [over_levels(view, metric) for metric in shown]
    effects = [forest(view, metric) for metric in shown]
    rest = [chart for pair in zip(over[2:], effects[2:], strict=True) for chart in pair]
    return [chart for chart in (*over[:2], *effects[:2], *rest) if chart is not None]


def over_levels(view: View, metric: MetricInfo) -> Chart | None:
    """A metric over the levels: each trial a point, mean and 95 % interval of each arm, void trials crossed."""
    axis, times = view.axis, figures.scale(metric)
    drawn = canvas(300)
    axes = drawn.axes
    words = []
    for index, (series, arms) in enumerate(axis.series.items()):
        color, marker, dash = (
            SERIES[index % len(SERIES)] if len(axis.series) > 1 else (INK["accent"], "o", "-")
        )
        shift = (index - (len(axis.series) - 1) / 2) * 0.24
        line = []
        for arm in arms:
            _points(view, axes, metric, arm, shift, (color, marker))
            summary = view.summary(metric.name, arm)
            if summary is None:
                words.append(f"{view.arm_label(arm)}: no valid trial")
                continue
            place = _place(view, arm, shift)
            bounds = mean_interval(summary)
            if bounds is not None:
                axes.plot([place] * 2, [b * times for b in bounds], color=color, lw=2, solid_capstyle="butt")
            axes.plot(place, summary.mean * times, "_", color=color, ms=17, mew=2.4, zorder=3)
            line.append((place, summary.mean * times))
            words.append(f"{view.arm_label(arm)}: {figures.with_unit(metric, summary.mean)}")
        if line and axis.numeric:
            axes.plot(*zip(*line, strict=True), color=color, ls=dash, lw=1.1, alpha=0.6, zorder=2)
        if series:
            axes.plot([], [], color=color, marker=marker, ls=dash, ms=5, lw=1.1, label=series)
    if not any(view.points(metric.name, arm.name) for arm in view.arms):
        return None
    _levels_axis(view, axes)
    cut = _cut_axis(axes)
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=STEPS))
    axes.yaxis.set_major_formatter(FuncFormatter(_tick([float(tick) for tick in axes.get_yticks()])))
    if len(axis.series) > 1:
        axes.legend(frameon=False, fontsize=11, labelcolor=INK["text"], loc="best")
    over = axis.label or "arms"
    unit = figures.unit(metric)
    title = f"{metric.label}{', ' * bool(unit)}{unit}, over {over}" + " (axis not from zero)" * cut
    return finish(drawn, f"over-{metric.name}", title, f"Means by arm. {'; '.join(words)}.")


def _points(
    view: View, axes: Axes, metric: MetricInfo, arm: str, shift: float, look: tuple[str, str]
) -> None:
    """Trials of an arm, spread by block so that none hides another and drift over the session shows."""
    times, blocks = figures.scale(metric), view.analysis.blocks_planned
    spread_over = (0.6 if view.axis.numeric else 0.34) / len(view.axis.series)
    color, marker = look
    mean = summary.mean if (summary := view.summary(metric.name, arm)) else None
    for block, raw, valid in view.points(metric.name, arm):
        spread = ((block - 1) / (blocks - 1) - 0.5) * spread_over if blocks > 1 else 0.0
        place = _place(view, arm, shift + spread)
        if valid:
            axes.plot(place, raw * times, marker, mfc="none", mec=color, alpha=0.8, ms=4.5, mew=1, zorder=4)
            continue
        axes.plot(place, raw * times, "x", color=INK["void"], ms=7, mew=1.8, zorder=5)
        axes.annotate(
            f"void, block {block}",
            (place, raw * times),
            xytext=(6, 4 if raw > 1.03 * (mean or raw) else -13),
            textcoords="offset points",
            fontsize=10.5,
            color=INK["void"],
            bbox={"fc": INK["surface"], "ec": "none", "pad": 1, "alpha": 0.85},
            zorder=6,
            ha="left" if place <= sum(axes_range(view)) / 2 else "right",
        )


def axes_range(view: View) -> tuple[float, float]:
    """First and last place of the arms."""
    places = [place for place, _ in view.axis.ticks]
    return min(places), max(places)


def _place(view: View, arm: str, shift: float) -> float:
    axis = view.axis
    place = axis.position[arm]
    return place * math.exp(shift * axis.gap) if axis.logarithmic else place + shift * axis.gap


def _levels_axis(view: View, axes: Axes) -> None:
    axis = view.axis
    low, high = axes_range(view)
    if axis.logarithmic:
        axes.set_xscale("log")
        axes.set_xlim(low * math.exp(-0.6 * axis.gap), high * math.exp(0.6 * axis.gap))
    else:
        axes.set_xlim(low - 0.6 * axis.gap, high + 0.6 * axis.gap)
    axes.xaxis.set_major_locator(FixedLocator([place for place, _ in axis.ticks]))
    axes.xaxis.set_minor_locator(NullLocator())
    names = {place: _wrapped(name) for place, name in axis.ticks}
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: names.get(x, "")))
    axes.tick_params(length=0)
    if axis.label:
        axes.set_xlabel(axis.label)


def _wrapped(name: str) -> str:
    return name.replace(", ", "\n")


def _cut_axis(axes: Axes) -> bool:
    """Let the axis start at zero, unless all figures lie close together: then their differences must show."""
    low, high = axes.dataLim.intervaly
    if low > 0.6 * high:
        axes.margins(y=0.15)
        return True
    axes.set_ylim(0, 1.08 * high if high > 0 else 1)
    return False


def _tick(ticks: Sequence[float]) -> Callable[[float, object], str]:
    """Formatter with as many decimals as these ticks need."""
    step = min((abs(b - a) for a, b in pairwise(ticks)), default=1.0)
    digits = next((d for d in range(9) if all(abs(round(t, d) - t) < step / 100 for t in ticks)), 9)
    return lambda y, _position: figures.number(y, digits)


def forest(view: View, metric: MetricInfo) -> Chart | None:
    """Relative effect of each arm against the baseline with its 95 % interval."""
    rows = [
        (arm.name, view.estimate(metric.name, arm.name)) for arm in view.arms if arm.name != view.baseline
    ]
    shown = [(arm, e) for arm, e in rows if e is not None and e.ratio is not None]
    if not shown:
        return None
    drawn = canvas(64 + 34 * len(shown))
    axes = drawn.axes
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    axes.axvline(0, color=INK["muted"], lw=1.2)
    words = []
    for row, (arm, e) in enumerate(shown):
        center = 100 * ((e.ratio or 1) - 1)
        if e.low is not None and e.high is not None:
            axes.plot(
                [100 * (e.low - 1), 100 * (e.high - 1)],
                [row, row],
                color=INK["accent"],
                lw=2.4,
                solid_capstyle="butt",
            )
        face = INK["accent"] if beyond_noise(e) else INK["surface"]
        axes.plot(center, row, "o", ms=8, mfc=face, mec=INK["accent"], mew=1.8, zorder=4)
        axes.annotate(
            figures.effect(e),
            (center, row),
            xytext=(0, 8),
            textcoords="offset points",
            ha="center",
            fontsize=11,
        )
        words.append(f"{view.arm_label(arm)}: {figures.effect(e)}, interval {figures.bounds(e) or 'unknown'}")
    axes.set_ylim(len(shown) - 0.5, -0.75)
    axes.set_yticks(range(len(shown)), [_wrapped(view.arm_label(arm)) for arm, _ in shown])
    axes.tick_params(length=0)
    axes.spines["left"].set_visible(False)
    axes.margins(x=0.12)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=STEPS))
    axes.xaxis.set_major_formatter(FuncFormatter(_signed_percent))
    title = f"{metric.label}: change against {view.arm_label(view.baseline)}"
    return finish(drawn, f"forest-{metric.name}", title, "; ".join(words) + ".")


def _signed_percent(x: float, _position: object) -> str:
    return figures.percent(x / 100, 0 if abs(x) >= 5 or x == int(x) else 1, sign=True)


@styled
def traces(view: View) -> list[Chart]:
    """Warm-up and measurement of every trial, one chart per arm, all with the same scales."""
    shown = [trial for trial in view.trials if trial.trace and not trial.curves]
    if not shown:
        return []
    step = math.ceil(sum(len(trial.trace) for trial in shown) / MAX_TRACE_POINTS)
    last = max(trial.trace[-1][0] for trial in shown)
    top = max(rate for trial in shown for _, rate in trial.trace)
    charts = []
    for arm in view.arms:
        trials = [trial for trial in shown if trial.arm == arm.name]
        if not trials:
            continue
        drawn = canvas(190, width=340)
        axes = drawn.axes
        windows = [window for trial in trials if (window := measure_window(trial)) is not None]
        if windows:
            start, end = (sum(side) / len(windows) for side in zip(*windows, strict=True))
            axes.axvspan(start, end, color=INK["grid"], alpha=0.55, lw=0)
            axes.annotate(
                "measured",
                ((start + end) / 2, 0),
                xytext=(0, 5),
                textcoords="offset points",
                ha="center",
                fontsize=10.5,
                color=INK["muted"],
            )
        for trial in trials:
            _trace(axes, trial, step)
        axes.set_xlim(0, last)
        axes.set_ylim(0, top * 1.05)
        axes.set_xlabel("seconds since the end of the ramp")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: figures.number(y)))
        axes.tick_params(length=0)
        void = sum(trial.state == "void" for trial in trials)
        text = f"{figures.count(len(trials), 'trial')}" + (f", {void} void (dashed)" if void else "")
        charts.append(
            finish(
                drawn,
                f"trace-{arm.name.replace('.', '-')}",
                f"{view.arm_label(arm.name)}: {text}",
                f"Requests per second over time; {text}; the measurement window is shaded.",
            )
        )
    return charts


def measure_window(trial: Trial) -> tuple[float, float] | None:
    """Start and end of the measurement on the clock of the trace; None when there was none."""
    if "measure" not in trial.phases or "ramp" not in trial.phases:
        return None
    zero = trial.phases["ramp"][1]
    start, end = trial.phases["measure"]
    return start - zero, end - zero


def _trace(axes: Axes, trial: Trial, step: int) -> None:
    parts = [trial.trace[i : i + step] for i in range(0, len(trial.trace), step)]
    seconds = [sum(second for second, _ in part) / len(part) for part in parts]
    rates = [sum(rate for _, rate in part) / len(part) for part in parts]
    if trial.state == "valid":
        axes.plot(seconds, rates, color=INK["accent"], lw=0.9, alpha=0.6)
    else:
        axes.plot(seconds, rates, color=INK["void"], lw=1.1, ls=(0, (4, 2)))


@styled
def latency(view: View, operation: str, key: str) -> Chart | None:
    """Median, p90, p99 and longest latency of one operation in each arm, on a logarithmic scale."""
    found = {arm.name: view.latencies(arm.name, operation) for arm in view.arms}
    points = {
        arm: {name: ms for name in QUANTILES if (ms := latency_figure(items, name)) is not None and ms > 0}
        for arm, items in found.items()
    }
    points = {arm: values for arm, values in points.items() if values}
    if not points:
        return None
    drawn = canvas(76 + 34 * len(points))
    axes = drawn.axes
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    looks: dict[str, dict[str, Any]] = {
        "p50": {"marker": "o", "mfc": INK["accent"]},
        "p90": {"marker": "D", "mfc": INK["accent"]},
        "p99": {"marker": "s", "mfc": INK["surface"]},
        "max": {"marker": "|", "mfc": INK["accent"]},
    }
    for row, values in enumerate(points.values()):
        axes.plot(
            [min(values.values()), max(values.values())], [row, row], color=INK["accent"], lw=1, alpha=0.5
        )
        for name, ms in values.items():
            label = name if row == 0 else None
            axes.plot(ms, row, ls="none", ms=7, mec=INK["accent"], mew=1.6, label=label, **looks[name])
    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,g}"))
    axes.set_xlabel("ms (logarithmic)")
    axes.set_yticks(range(len(points)), [_wrapped(view.arm_label(arm)) for arm in points])
    axes.set_ylim(len(points) - 0.5, -0.6)
    axes.tick_params(length=0)
    axes.spines["left"].set_visible(False)
    axes.legend(**_ABOVE, ncols=4, frameon=False, fontsize=11, handletextpad=0.1, columnspacing=1)
    words = [
        f"{view.arm_label(arm)}: "
        + ", ".join(f"{name} {figures.short(ms)} ms" for name, ms in values.items())
        for arm, values in points.items()
    ]
    return finish(drawn, key, f"latency of {operation}, ms", "; ".join(words) + ".")


@styled
def cpu_by_group(view: View) -> Chart | None:
    """CPU per 1,000 requests of each arm, stacked by thread group."""
    groups = [group for group in CPU_GROUPS if view.named(f"cpu_per_1k_{group}")]
    arms = [a.name for a in view.arms if any(view.summary(f"cpu_per_1k_{g}", a.name) for g in groups)]
    if not groups or not arms:
        return None
    drawn = canvas(76 + 34 * len(arms))
    axes = drawn.axes
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    left = [0.0] * len(arms)
    means = {
        group: [s.mean if (s := view.summary(f"cpu_per_1k_{group}", arm)) else 0.0 for arm in arms]
        for group in groups
    }
    total = max(sum(column) for column in zip(*means.values(), strict=True)) or 1.0
    for index, group in enumerate(CPU_GROUPS, start=1):
        if group not in means:
            continue
        axes.barh(
            range(len(arms)),
            means[group],
            left=left,
            height=0.62,
            color=INK[f"s{index}"],
            edgecolor=INK["surface"],
            linewidth=1.2,
            label=GROUP_LABELS[group],
        )
        for row, mean in enumerate(means[group]):
            if mean > 0.14 * total:
                axes.text(
                    left[row] + mean / 2,
                    row,
                    GROUP_LABELS[group],
                    ha="center",
                    va="center",
                    fontsize=10.5,
                    color=INK["surface"],
                )
        left = [a + b for a, b in zip(left, means[group], strict=True)]
    axes.set_yticks(range(len(arms)), [_wrapped(view.arm_label(arm)) for arm in arms])
    axes.set_ylim(len(arms) - 0.5, -0.5)
    axes.set_xlim(0, total * 1.04)
    axes.tick_params(length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("CPU seconds per 1,000 requests")
    axes.legend(
        **_ABOVE,
        ncols=5,
        frameon=False,
        fontsize=11,
        handlelength=0.9,
        handletextpad=0.4,
        columnspacing=1,
    )
    words = [
        f"{view.arm_label(arm)}: "
        + ", ".join(f"{GROUP_LABELS[group]} {figures.number(means[group][row], 4)}" for group in groups)
        for row, arm in enumerate(arms)
    ]
    return finish(
        drawn, "cpu-groups", "CPU seconds per 1,000 requests by thread group", "; ".join(words) + "."
    )
