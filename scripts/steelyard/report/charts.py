# SPDX-License-Identifier: Apache-2.0
"""The charts of figures over the arms, one function each; a chart that would be empty is None."""

from collections.abc import Iterator
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import Locator, LogLocator, MaxNLocator, NullLocator

from steelyard.analysis.paired import paired_test
from steelyard.analysis.sentences import SURVIVED
from steelyard.analysis.wording import beyond_noise
from steelyard.measure.chance import exact_interval
from steelyard.report.canvas import (
    ABOVE,
    INK,
    LEGEND,
    SERIES,
    STEPS,
    WIDE,
    Chart,
    TickFormatter,
    annotate,
    arm_tag,
    canvas,
    draw_bounds,
    finish,
    legend_text,
    percent_ticks,
    place_of_change,
    rows,
    with_style,
    wrap_label,
)
from steelyard.report.tables import CPU_GROUPS, QUANTILES, latency_figure
from steelyard.report.view import View
from steelyard.results import figures
from steelyard.results.analysis import MetricInfo

GROUP_INK = {group: INK[f"s{index}"] for index, group in enumerate([*CPU_GROUPS, "compiler"], start=1)}
"""Colours of the thread groups, and of a compiler server beside them."""


@with_style
def overview(view: View) -> list[Chart]:
    """Two to a row: the first two metrics over the levels, their effects below; then each further metric."""
    shown = [metric for metric in view.charted_metrics if metric.name != SURVIVED]
    over = [over_levels(view, metric) for metric in shown]
    effects = [forest(view, metric) for metric in shown]
    rest = [chart for pair in zip(over[2:], effects[2:], strict=True) for chart in pair]
    return [chart for chart in (*over[:2], *effects[:2], *rest) if chart is not None]


@with_style
def over_primary(view: View) -> Chart | None:
    """The primary metric over the levels; None where there is no figure of it."""
    metric = view.measured_metric(view.analysis.primary)
    return over_levels(view, metric, "first") if metric is not None else None


def over_levels(view: View, metric: MetricInfo, key: str = "over") -> Chart | None:
    """A metric over the levels: each trial a point, mean and 95 % interval of each arm, void trials crossed."""
    if not any(view.points(metric.name, arm.name) for arm in view.arms):
        return None
    axis, times = view.axis, figures.scale(metric)
    axes = canvas(300)
    words = []
    for index, (series, arms, style) in enumerate(styled_series(view)):
        color, marker, dash = style
        shift = (index - (len(axis.series) - 1) / 2) * 0.24
        line = []
        for arm in arms:
            _points(view, axes, metric, arm, shift, style)
            summary = view.summary(metric.name, arm)
            text = figures.with_unit(metric, summary.mean) if summary else view.why_no_mean(metric.name, arm)
            words.append(f"{view.arm_label(arm)}: {text}")
            place = axis.position[arm] + shift
            if summary is None:
                at_the_axis = ("data", "axes fraction")
                style_of_none = {"ha": "center", "color": INK["muted"], "fontsize": 11}
                annotate(axes, text, (place, 0.0), (0, 6), xycoords=at_the_axis, **style_of_none)
                continue
            line.append((place, summary.mean * times))
            interval = paired_test(summary.values)
            tag = arm_tag(view.arm_index(arm), words[-1])
            if interval is not None:
                ends = (interval.low * times, interval.high * times)
                axes.plot([place] * 2, ends, color=color, lw=2, gid=tag)
            axes.plot(*line[-1], "_", color=color, ms=17, mew=2.4, zorder=3, gid=tag)
        if line and axis.numeric:
            axes.plot(*zip(*line, strict=True), color=color, ls=dash, lw=1.1, alpha=0.6, zorder=2)
        if series:
            axes.plot([], [], color=color, marker=marker, ls=dash, ms=5, lw=1.1, label=legend_text(series))
    set_level_axis(view, axes)
    cut = _cut_axis(axes)
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=STEPS))
    axes.yaxis.set_major_formatter(TickFormatter())
    name = ", ".join(filter(None, (metric.label, figures.unit(metric))))
    title = f"{name}, over {axis.label or 'arms'}{' (axis not from zero)' if cut else ''}"
    return finish(axes, f"{key}-{metric.name}", title, f"Means by arm. {'; '.join(words)}.")


def styled_series(view: View) -> Iterator[tuple[str, list[str], tuple[str, str, str]]]:
    """Name, arms and style (colour, marker, dash) of each series along the axis of the levels."""
    single = len(view.axis.series) == 1
    for index, (series, arms) in enumerate(view.axis.series.items()):
        yield series, arms, (INK["accent"], "o", "-") if single else SERIES[index % len(SERIES)]


def set_level_axis(view: View, axes: Axes) -> None:
    """The levels along the horizontal axis, and a legend of several series."""
    axis = view.axis
    low, high = axis.ends
    axes.set_xlim(low - 0.6, high + 0.6)
    axes.set_xticks(list(axis.ticks), [wrap_label(name, axis.room) for name in axis.ticks.values()])
    axes.set_xlabel(wrap_label(axis.label, LEGEND))
    if len(axis.series) > 1:
        axes.legend(loc="best")


def _points(
    view: View, axes: Axes, metric: MetricInfo, arm: str, shift: float, style: tuple[str, str, str]
) -> None:
    """Trials of an arm, spread by block so that none hides another and drift over the session shows."""
    times, blocks = figures.scale(metric), view.analysis.blocks_planned
    spread_over = (0.6 if view.axis.numeric else 0.34) / len(view.axis.series)
    color, marker, _ = style
    mean = summary.mean if (summary := view.summary(metric.name, arm)) else None
    for block, raw, valid in view.points(metric.name, arm):
        spread = ((block - 1) / (blocks - 1) - 0.5) * spread_over if blocks > 1 else 0.0
        place = view.axis.position[arm] + shift + spread
        state = "" if valid else " (void)"
        tip = f"{view.arm_label(arm)}, block {block}: {figures.with_unit(metric, raw)}{state}"
        tag = arm_tag(view.arm_index(arm), tip)
        if valid:
            style_of_trial: dict[str, Any] = {"mfc": "none", "mec": color, "alpha": 0.8, "ms": 4.5, "mew": 1}
            axes.plot(place, raw * times, marker, zorder=4, gid=tag, **style_of_trial)
            continue
        axes.plot(place, raw * times, "x", color=INK["void"], ms=7, mew=1.8, zorder=5, gid=tag)
        annotate(
            axes,
            f"void, block {block}",
            (place, raw * times),
            (6, 4 if raw > 1.03 * (mean or raw) else -13),
            fontsize=10.5,
            color=INK["void"],
            bbox={"fc": INK["surface"], "ec": "none", "pad": 1, "alpha": 0.85},
            zorder=6,
            gid=arm_tag(view.arm_index(arm)),
            ha="left" if place <= sum(view.axis.ends) / 2 else "right",
        )


def _cut_axis(axes: Axes) -> bool:
    """Let the axis hold zero, unless all figures lie close together: then their differences must show."""
    low, high = axes.dataLim.intervaly
    if low > 0.6 * high:
        axes.margins(y=0.15)
        return True
    bottom, top = min(0, 1.08 * low), max(0, 1.08 * high)
    axes.set_ylim(bottom, top if top > bottom else 1)
    return False


def _point(axes: Axes, row: int, center: float, tag: str, face: str = "accent", marker: str = "o") -> None:
    """A result on its row."""
    style: dict[str, Any] = {"ms": 8, "mfc": INK[face], "mec": INK["accent"], "mew": 1.8, "gid": tag}
    axes.plot(center, row, marker, zorder=4, clip_on=False, **style)


_INTERVAL = 2.4
"""Width of an interval's line."""
_NARROW, _DECADES = 4.0, 100.0
"""Ratio of the ends of a logarithmic axis below which 1, 2 and 5 are too few ticks, above which too many."""
_MOST = 1000.0
"""Ratio beyond which a change is drawn at the edge of its chart."""


def forest(view: View, metric: MetricInfo) -> Chart | None:
    """Relative effect of each arm against the baseline with its 95 % interval."""
    compared = {arm.name: view.estimate(metric.name, arm.name) for arm in view.arms}
    shown = {view.arm_label(arm): e for arm, e in compared.items() if e is not None and e.ratio is not None}
    if not shown:
        return None
    axes = rows([*shown], 64 + 34 * len(shown))
    axes.set_ylim(top=-0.75)
    axes.axvline(0, color=INK["muted"], lw=1.2)
    for row, (label, e) in enumerate(shown.items()):
        tag = arm_tag(
            view.arm_index(e.arm), f"{label}: {figures.effect(e)} ({figures.bounds(e) or 'no interval'})"
        )
        draw_bounds(axes, row, [end for end in (e.low, e.high) if end is not None], _MOST, tag, _INTERVAL)
        center, marker = place_of_change(e.ratio or 1, _MOST)
        _point(axes, row, center, tag, "accent" if beyond_noise(e) else "surface", marker)
        above = {"ha": "center", "fontsize": 11, "gid": arm_tag(view.arm_index(e.arm))}
        annotate(axes, figures.effect(e), (center, row), (0, 8), **above)
    axes.margins(x=0.12)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=STEPS))
    axes.xaxis.set_major_formatter(percent_ticks())
    title = f"{metric.label}: change against {view.arm_label(view.baseline)}"
    texts = [
        f"{arm}: {figures.effect(e)}, interval {figures.bounds(e) or 'unknown'}" for arm, e in shown.items()
    ]
    return finish(axes, f"forest-{metric.name}", title, "; ".join(texts) + ".")


@with_style
def survival(view: View) -> Chart | None:
    """The share of trials that lived, with what it speaks for; one line for each arm."""
    summaries = {arm.name: view.summary(SURVIVED, arm.name) for arm in view.arms}
    shown = {arm: summary for arm, summary in summaries.items() if summary is not None}
    if not shown:
        return None
    axes = rows([view.arm_label(arm) for arm in shown], 76 + 52 * len(shown), WIDE)
    words = []
    for row, (arm, summary) in enumerate(shown.items()):
        lived = round(summary.mean * summary.n)
        low, high = exact_interval(lived, summary.n)
        lived_text = f"{lived} of {summary.n}, {figures.percent(low, 0)} to {figures.percent(high, 0)}"
        words.append(f"{view.arm_label(arm)}: {lived_text}")
        tag = arm_tag(view.arm_index(arm), words[-1])
        axes.plot([100 * low, 100 * high], [row] * 2, color=INK["accent"], lw=_INTERVAL, gid=tag)
        _point(axes, row, 100 * summary.mean, tag)
    axes.set_xlim(-1, 101)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g} %")
    return finish(axes, "survival", "share of trials that lived to the end", "; ".join(words) + ".")


@with_style
def latency(view: View, operation: str, key: str) -> Chart | None:
    """Median, p90, p99 and longest latency of one operation in each arm, on a logarithmic scale."""
    points = {}
    for arm in view.arms:
        items = view.latencies(arm.name, operation)
        known = {name: ms for name in QUANTILES if (ms := latency_figure(items, name)) is not None and ms > 0}
        if known:
            points[view.arm_label(arm.name)] = known
    if not points:
        return None
    axes = rows([*points])
    for row, values in enumerate(points.values()):
        ends = [min(values.values()), max(values.values())]
        axes.plot(ends, [row, row], color=INK["accent"], lw=1, alpha=0.5)
    faces = {"p50": ("o", "accent"), "p90": ("D", "accent"), "p99": ("s", "surface"), "max": ("|", "accent")}
    for name, (marker, face) in faces.items():
        places = [(values[name], row) for row, values in enumerate(points.values()) if name in values]
        style: dict[str, Any] = {"mfc": INK[face], "mec": INK["accent"], "mew": 1.6}
        if places:
            axes.plot(*zip(*places, strict=True), ls="none", marker=marker, ms=7, label=name, **style)
    axes.set_xscale("log")
    every = [ms for values in points.values() for ms in values.values()]
    axes.xaxis.set_major_locator(log_locator(min(every), max(every)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,g}")
    axes.set_xlabel("ms (logarithmic)")
    axes.legend(**ABOVE, ncols=4, columnspacing=1)
    words = [
        f"{arm}: " + ", ".join(f"{name} {figures.short(ms)} ms" for name, ms in values.items())
        for arm, values in points.items()
    ]
    return finish(axes, key, f"latency of {operation}, ms", "; ".join(words) + ".")


def log_locator(low: float, high: float) -> Locator:
    """Ticks of a logarithmic axis that holds these values: some also where no power of ten lies between them."""
    if 1 < high / low < _NARROW:
        return MaxNLocator(4, steps=STEPS)
    return LogLocator(subs=(1.0, 2.0, 5.0) if high / low < _DECADES else (1.0,))


@with_style
def cpu_by_group(view: View) -> Chart | None:
    """CPU per 1,000 requests of each arm, stacked by thread group."""
    metrics = {
        group: f"cpu_per_1k_{group}" for group in CPU_GROUPS if view.known_metrics(f"cpu_per_1k_{group}")
    }
    arms = [arm.name for arm in view.arms if any(view.summary(m, arm.name) for m in metrics.values())]
    if not arms:
        return None
    labels = [view.arm_label(arm) for arm in arms]
    axes = rows(labels)
    # The sum of the groups that are known would be drawn as all that an arm takes.
    unknown = {
        row: [CPU_GROUPS[g] for g, metric in metrics.items() if view.summary(metric, arm) is None]
        for row, arm in enumerate(arms)
    }
    unknown = {row: groups for row, groups in unknown.items() if groups}
    left = [0.0] * len(arms)
    shares = {
        group: [
            s.mean if row not in unknown and (s := view.summary(metric, arm)) else 0.0
            for row, arm in enumerate(arms)
        ]
        for group, metric in metrics.items()
    }
    total = max(map(sum, zip(*shares.values(), strict=True))) or 1.0
    for group, means in shares.items():
        style: dict[str, Any] = {"color": GROUP_INK[group], "edgecolor": INK["surface"], "linewidth": 1.2}
        label = CPU_GROUPS[group]
        bars = axes.barh(range(len(arms)), means, left=left, height=0.62, label=label, **style)
        inside = [label if mean > 0.14 * total else "" for mean in means]
        axes.bar_label(bars, inside, label_type="center", fontsize=10.5, color=INK["surface"])
        left = [a + b for a, b in zip(left, means, strict=True)]
    for row, groups in unknown.items():
        annotate(axes, f"not known: {', '.join(groups)}", (0, row), (5, 0), va="center", fontsize=10.5)
    axes.set_xlim(0, total * 1.04)
    axes.set_xlabel("CPU seconds per 1,000 requests")
    axes.legend(**{**ABOVE, "handletextpad": 0.4}, ncols=5, handlelength=0.9, columnspacing=1)
    words = []
    for row, (label, *means) in enumerate(zip(labels, *shares.values(), strict=True)):
        if row in unknown:
            words.append(f"{label}: not known for {', '.join(unknown[row])}")
            continue
        texts = (f"{CPU_GROUPS[g]} {figures.number(mean, 4)}" for g, mean in zip(shares, means, strict=True))
        words.append(f"{label}: {', '.join(texts)}")
    return finish(
        axes,
        "cpu-groups",
        f"CPU seconds per 1,000 requests of {view.whose} by thread group",
        f"{'; '.join(words)}.",
    )
