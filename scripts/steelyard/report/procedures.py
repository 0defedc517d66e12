# SPDX-License-Identifier: Apache-2.0
"""Charts over time: traces of the trials, curves of a ramp-up, answers after a start."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from steelyard.measure.curves import SHARES
from steelyard.report.canvas import (
    INK,
    SERIES,
    STEPS,
    WIDE,
    Chart,
    TickFormatter,
    annotate,
    arm_tag,
    canvas,
    finish,
    legend_text,
    plot_area,
    rows,
    with_style,
)
from steelyard.report.charts import GROUP_INK
from steelyard.report.tables import CPU_GROUPS
from steelyard.report.view import View
from steelyard.results import figures
from steelyard.results.schema import Trial

MAX_TRACE_POINTS = 40_000
"""Points of all warm-up traces together; longer traces are thinned to means so that the page stays small."""
MAX_CURVE_POINTS = 20_000
"""Points of all curves of a ramp-up that the page tells one by one."""
_SMALL = 340
"""Width of a chart that stands beside two others, in CSS pixels."""
_LINE = 13
"""Height of a line of points, in CSS pixels."""


@with_style
def traces(view: View) -> list[Chart]:
    """Warm-up and measurement of every trial, one chart per arm, all with the same scales."""
    shown = [trial for trial in view.trials if trial.trace and not trial.curves]
    if not shown:
        return []
    step = math.ceil(sum(len(trial.trace) for trial in shown) / MAX_TRACE_POINTS)
    last = max(trial.trace[-1][0] for trial in shown)
    top = max(rate for trial in shown for _, rate in trial.trace)
    by_arm = {arm.name: [trial for trial in shown if trial.arm == arm.name] for arm in view.arms}
    return [_traces(view, arm, trials, step, (last, top)) for arm, trials in by_arm.items() if trials]


def _traces(view: View, arm: str, trials: list[Trial], step: int, ends: tuple[float, float]) -> Chart:
    axes = canvas(190, _SMALL)
    index = view.arm_index(arm)
    phases = [trial.phases for trial in trials if {"measure", "ramp"} <= trial.phases.keys()]
    windows = [[at - times["ramp"][1] for at in times["measure"]] for times in phases]
    if windows:
        start, end = map(fmean, zip(*windows, strict=True))
        axes.axvspan(start, end, color=INK["grid"], alpha=0.55, lw=0)
        annotate(
            axes, "measured", ((start + end) / 2, 0), (0, 5), ha="center", fontsize=10.5, color=INK["muted"]
        )
    for trial in trials:
        parts = [trial.trace[i : i + step] for i in range(0, len(trial.trace), step)]
        points = [tuple(map(fmean, zip(*part, strict=True))) for part in parts]
        style: dict[str, Any] = {"color": INK["accent"], "lw": 0.9, "alpha": 0.6}
        if trial.state != "valid":
            style = {"color": INK["void"], "lw": 1.1, "ls": (0, (4, 2))}
        tip = f"{view.arm_label(arm)}, block {trial.block}: {trial.state}"
        axes.plot(*zip(*points, strict=True), gid=arm_tag(index, tip), **style)
    axes.set_xlim(0, ends[0])
    axes.set_ylim(0, ends[1] * 1.05)
    axes.set_xlabel("seconds since the end of the ramp")
    axes.yaxis.set_major_formatter(TickFormatter())
    void = sum(trial.state == "void" for trial in trials)
    text = figures.count(len(trials), "trial") + (f", {void} void (dashed)" if void else "")
    described = f"Requests per second over time; {text}; the measurement window is shaded."
    return finish(axes, f"trace-{arm}", f"{view.arm_label(arm)}: {text}", described)


def _curves(view: View, arm: str, name: str) -> list[list[float]]:
    return [curve for trial in view.of_arm(arm, valid=True) if (curve := trial.curves.get(name))]


def _middles(values: Sequence[float]) -> list[float]:
    """Where the points of a per-second series lie: in the middle of their second."""
    return [i + 0.5 for i in range(len(values))]


@with_style
def ramp_times(view: View) -> Chart | None:
    """When shares of the best arm's level were reached; None for other procedures, or where no arm reached one."""
    arms = [arm.name for arm in view.arms if _curves(view, arm.name, "throughput")]
    summaries = {
        share: {arm: view.summary(f"time_to_{share}_of_best", arm) for arm in arms} for share in SHARES
    }
    times = {f"{share} %": {arm: s.values for arm, s in of.items() if s} for share, of in summaries.items()}
    title, absent = "time to shares of the best arm's level, s", "not in every trial"
    return _strips(view, "ramp-times", title, times, arms, absent) if any(times.values()) else None


@with_style
def ramp_curves(view: View) -> Chart | None:
    """Throughput from the first second of load on; None for other procedures."""
    shown = {
        index: curves
        for index, arm in enumerate(view.arms)
        if (curves := _curves(view, arm.name, "throughput"))
    }
    if not shown:
        return None
    axes = canvas(295, WIDE)
    words = []
    for index, curves in shown.items():
        arm = view.arms[index].name
        color, marker, dash = SERIES[index % len(SERIES)]
        seconds = [*zip(*curves, strict=False)]  # those that all trials have
        middle = [median(values) for values in seconds]
        if len(curves) > 1:
            band = ([*map(min, seconds)], [*map(max, seconds)])
            axes.fill_between(_middles(middle), *band, color=color, alpha=0.16, lw=0, gid=arm_tag(index))
        axes.plot(_middles(middle), middle, color=color, ls=dash, lw=1.7, gid=arm_tag(index))
        marks = _marks(view, arm, len(curves))
        style: dict[str, Any] = {"color": color, "marker": marker, "ms": 6, "mfc": INK["surface"], "mew": 1.8}
        label = view.arm_label(arm)
        for share, place in marks.items():
            tip = f"{label}: {share} % of its own level after {place[0]:.1f} s"
            axes.plot(*place, zorder=4, gid=arm_tag(index, tip), **style)
        texts = ", ".join(f"{share} % at {place[0]:.1f} s" for share, place in marks.items())
        end = f"ends at {figures.number(middle[-1])} req/s"
        words.append(f"{label}: {texts or 'no level'}, {end}")
    axes.set_xlim(0, max(len(curve) for curves in shown.values() for curve in curves))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("seconds since the first second of load")
    axes.yaxis.set_major_formatter(TickFormatter())
    title = "throughput from the first second of load on, req/s"
    drawn = finish(axes, "ramp-up", title, f"Median over trials. {'; '.join(words)}.")
    return replace(drawn, series=_series(view, axes, shown))


def _series(view: View, axes: Axes, shown: Mapping[int, list[list[float]]]) -> str:
    """The points of every trial for the script of the page: of long sessions every n-th second."""
    points = sum(len(curve) for curves in shown.values() for curve in curves)
    step = math.ceil(points / MAX_CURVE_POINTS)
    arms = []
    for index, curves in shown.items():
        blocks = [
            t.block for t in view.of_arm(view.arms[index].name, valid=True) if t.curves.get("throughput")
        ]
        thinned = [[round(rate) for rate in curve[::step]] for curve in curves]
        middle = [round(median(values)) for values in zip(*thinned, strict=False)]
        arm = {"arm": index, "name": view.arm_label(view.arms[index].name), "median": middle}
        arms.append(arm | {"blocks": blocks, "trials": thinned})
    placed = {**plot_area(axes), "step": step, "unit": "req/s", "arms": arms}
    return json.dumps(placed, separators=(",", ":"))


def _marks(view: View, arm: str, trials: int) -> dict[int, tuple[float, float]]:
    """Where the arm comes up to shares of its own level: medians over its trials; nothing where one has no level."""
    level = view.summary("steady_level", arm)
    marks = {}
    for share in SHARES:
        times = view.summary(f"time_to_{share}", arm)
        if level is not None and times is not None and level.n == times.n == trials:
            marks[share] = (median(times.values), share / 100 * median(level.values))
    return marks


def _strips(
    view: View,
    key: str,
    title: str,
    lines: Mapping[str, Mapping[str, Sequence[float]]],
    arms: Sequence[str],
    absent: str = "",
) -> Chart:
    """Rows of seconds from 0, in each row a line of points for every arm: a ring per trial, a bar at the median."""
    axes = rows([*lines], max(len(arms) * len(lines) * _LINE + 12 * len(lines) + 70 + 17 * len(arms), 190))
    step = 0.72 / len(arms)
    for index, arm in enumerate(arms):
        of_session = view.arm_index(arm)
        color, marker, _ = SERIES[of_session % len(SERIES)]
        style: dict[str, Any] = {"color": color, "mfc": "none", "ms": 5, "mew": 1.1, "alpha": 0.75}
        axes.plot([], [], marker, label=legend_text(view.arm_label(arm)), **style)
        for place, (line, values) in enumerate(lines.items()):
            y = place + (index - (len(arms) - 1) / 2) * step
            seconds = values.get(arm, [])
            if seconds:
                said = f"{view.arm_label(arm)}, {line}: "
                for second in seconds:
                    tip = f"{said}{figures.short(second)} s"
                    axes.plot(second, y, marker, gid=arm_tag(of_session, tip), **style)
                middle, ends = median(seconds), [y - 0.42 * step, y + 0.42 * step]
                tip = f"{said}median {figures.short(middle)} s"
                axes.plot([middle] * 2, ends, color=color, lw=2.6, gid=arm_tag(of_session, tip))
            else:
                annotate(axes, absent, (0, y), (5, 0), va="center", fontsize=10, color=color)
    for edge in range(1, len(lines)):
        axes.axhline(edge - 0.5, color=INK["grid"], lw=0.8)
    axes.set_ylim(top=-0.5)
    axes.set_xlim(left=0)
    axes.margins(x=0.06)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=STEPS))
    axes.set_xlabel("seconds")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), handletextpad=0.1)
    words = [
        f"{line}, {view.arm_label(arm)}: {figures.short(median(values[arm]))} s"
        for line, values in lines.items()
        for arm in arms
        if values.get(arm)
    ]
    return finish(axes, key, title, f"Medians over trials. {'; '.join(words)}.")


@with_style
def ramp_cpu(view: View) -> list[Chart]:
    """CPU by thread group from the first second of load on, one chart per arm, all with the same scales."""
    arms = {}
    for arm in view.arms:
        seconds = {g: zip(*_curves(view, arm.name, f"cpu_{g}"), strict=False) for g in GROUP_INK}
        stack = {g: middle for g, values in seconds.items() if (middle := [*map(median, values)])}
        if stack:
            arms[arm.name] = stack
    if not arms:
        return []
    top = max(max(map(sum, zip(*stack.values(), strict=False))) for stack in arms.values())
    last = max(len(values) for stack in arms.values() for values in stack.values())
    return [_cpu_stack(view, arm, stack, (last, top)) for arm, stack in arms.items()]


def _cpu_stack(view: View, arm: str, stack: Mapping[str, list[float]], ends: tuple[float, float]) -> Chart:
    axes = canvas(215, _SMALL)
    shortest = min(stack.values(), key=len)
    series = [values[: len(shortest)] for values in stack.values()]
    labels = [CPU_GROUPS.get(group, "JITServer") for group in stack]
    style: dict[str, Any] = {"edgecolor": INK["surface"], "lw": 0.4, "alpha": 0.92}
    axes.stackplot(
        _middles(shortest), *series, colors=[GROUP_INK[group] for group in stack], labels=labels, **style
    )
    axes.set_xlim(0, ends[0])
    axes.set_ylim(0, ends[1] * 1.05)
    axes.set_xlabel("seconds since the first second of load")
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=STEPS))
    spaces = {"handlelength": 0.8, "handletextpad": 0.35, "columnspacing": 0.8}
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=len(stack), fontsize=10, **spaces)
    spent = ", ".join(f"{CPU_GROUPS.get(g, 'JITServer')} {sum(v):.1f} CPU s" for g, v in stack.items())
    title = f"{view.arm_label(arm)}: cores used"
    return finish(axes, f"ramp-cpu-{arm}", title, f"Median over trials: {spent}.")


@with_style
def start_up(view: View) -> Chart | None:
    """From the start of the servers to their ready message, first response, and each operation's first answer."""
    lines: dict[str, dict[str, list[float]]] = {}
    for trial in view.trials:
        if trial.state != "valid" or not trial.first_answers:
            continue
        of_all = {"ready message": "ready_message_time", "first response": "start_time"}
        slowest = {name: trial.metrics[key] for name, key in of_all.items() if key in trial.metrics}
        for name, seconds in (slowest | trial.first_answers).items():
            lines.setdefault(name, {}).setdefault(trial.arm, []).append(seconds)
    if not lines:
        return None
    ordered = sorted(
        lines.items(), key=lambda line: median(x for seconds in line[1].values() for x in seconds)
    )
    arms = [arm.name for arm in view.arms]
    return _strips(view, "start-up", "seconds from the start of the servers", dict(ordered), arms)
