# SPDX-License-Identifier: Apache-2.0
"""Charts of what a procedure is about: curves of a ramp-up, answers after a start, trials that lived."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from matplotlib.ticker import FuncFormatter, MaxNLocator

from steelyard.analysis import figures
from steelyard.analysis.curves import SHARES, steady_level, time_to
from steelyard.analysis.figures import percent
from steelyard.analysis.paired import share_interval
from steelyard.analysis.sentences import SURVIVED
from steelyard.report.canvas import INK, SERIES, STEPS, Chart, canvas, finish, styled
from steelyard.report.tables import CPU_GROUPS, GROUP_LABELS
from steelyard.report.view import View
from steelyard.results.schema import Trial

READY = "ready message"
FIRST = "first response"
_ROW = 13
"""Height of a line of points, in CSS pixels."""


def _look(index: int) -> tuple[str, str, str]:
    """Colour, marker and dash of an arm."""
    return SERIES[index % len(SERIES)]


def _curves(view: View, arm: str, name: str) -> list[list[float]]:
    found = [trial.curves.get(name, []) for trial in view.of_arm(arm, valid=True)]
    return [curve for curve in found if curve]


def _over_trials(curves: Sequence[Sequence[float]], pick: Callable[[list[float]], float]) -> list[float]:
    """A figure over the trials for each second that all of them have."""
    return [pick(list(values)) for values in zip(*curves, strict=False)]


def _middles(values: Sequence[float]) -> list[float]:
    """Where the points of a per-second series lie: in the middle of their second."""
    return [i + 0.5 for i in range(len(values))]


@styled
def ramp_up(view: View) -> list[Chart]:
    """Throughput from the first second of load on, and when shares of the best arm's level were reached."""
    shown = {arm.name: _curves(view, arm.name, "throughput") for arm in view.arms}
    shown = {arm: curves for arm, curves in shown.items() if curves}
    if not shown:
        return []
    times = _times(view, list(shown))
    return [_ramp_curves(view, shown), *([times] if times else [])]


def _ramp_curves(view: View, shown: Mapping[str, list[list[float]]]) -> Chart:
    drawn = canvas(330)
    axes = drawn.axes
    words = []
    for index, (arm, curves) in enumerate(shown.items()):
        color, marker, _ = _look(index)
        middle = _over_trials(curves, median)
        if len(curves) > 1:
            low, high = _over_trials(curves, min), _over_trials(curves, max)
            axes.fill_between(_middles(middle), low, high, color=color, alpha=0.16, lw=0)
        axes.plot(_middles(middle), middle, color=color, lw=1.7)
        marks = _marks(curves)
        if marks:
            axes.plot(
                *zip(*marks.values(), strict=True),
                ls="none",
                marker=marker,
                ms=6,
                mfc=INK["surface"],
                mec=color,
                mew=1.8,
                zorder=4,
            )
        axes.plot(
            [],
            [],
            color=color,
            marker=marker,
            ms=6,
            mfc=INK["surface"],
            mew=1.8,
            label=view.arm_label(arm),
        )
        told = ", ".join(f"{share} % at {seconds:.1f} s" for share, (seconds, _) in marks.items())
        words.append(
            f"{view.arm_label(arm)}: {told or 'no level'}, ends at {figures.number(middle[-1])} req/s"
        )
    axes.set_xlim(0, max(len(curve) for curves in shown.values() for curve in curves))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("seconds since the first second of load")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: figures.number(y)))
    axes.tick_params(length=0)
    axes.legend(loc="lower right", frameon=False, fontsize=11, labelcolor=INK["text"])
    title = "throughput from the first second of load on, req/s"
    return finish(drawn, "ramp-up", title, f"Median over trials. {'; '.join(words)}.")


def _marks(curves: Sequence[Sequence[float]]) -> dict[int, tuple[float, float]]:
    """Where the arm comes up to shares of its own level: medians over its trials; nothing where one has no level."""
    levels = [level for curve in curves if (level := steady_level(curve)) is not None]
    if len(levels) < len(curves):
        return {}
    marks = {}
    for share in SHARES:
        times = [time_to(curve, share / 100 * level) for curve, level in zip(curves, levels, strict=True)]
        known = [time for time in times if time is not None]
        if len(known) == len(times):
            marks[share] = (median(known), share / 100 * median(levels))
    return marks


def _times(view: View, arms: Sequence[str]) -> Chart | None:
    """Each trial's time to shares of the best arm's level."""
    metrics = {f"{share} %": f"time_to_{share}_of_best" for share in SHARES}
    values = {
        row: {arm: s.values for arm in arms if (s := view.summary(name, arm)) is not None}
        for row, name in metrics.items()
    }
    if not any(values.values()):
        return None
    absent = "not in every trial"
    return _strips(view, "ramp-times", "time to shares of the best arm's level, s", values, arms, absent)


def _strips(
    view: View,
    key: str,
    title: str,
    rows: Mapping[str, Mapping[str, Sequence[float]]],
    arms: Sequence[str],
    absent: str = "",
) -> Chart:
    """Rows of seconds from 0, in each row a line of points for every arm: a ring per trial, a bar at the median."""
    height = len(arms) * len(rows) * _ROW + 12 * len(rows) + 70 + 17 * len(arms)
    drawn = canvas(max(height, 190))
    axes = drawn.axes
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    words = []
    step = 0.72 / len(arms)
    for place, (row, values) in enumerate(rows.items()):
        for index, arm in enumerate(arms):
            color, marker, _ = _look(index)
            y = place + (index - (len(arms) - 1) / 2) * step
            found = list(values.get(arm, []))
            if not found:
                if absent:
                    axes.annotate(
                        absent,
                        (0, y),
                        xytext=(5, 0),
                        textcoords="offset points",
                        va="center",
                        fontsize=10,
                        color=color,
                    )
                continue
            axes.plot(found, [y] * len(found), marker, mfc="none", mec=color, ms=5, mew=1.1, alpha=0.75)
            axes.plot([median(found)] * 2, [y - 0.42 * step, y + 0.42 * step], color=color, lw=2.6, zorder=4)
            words.append(f"{row}, {view.arm_label(arm)}: {figures.short(median(found))} s")
    for index, arm in enumerate(arms):
        color, marker, _ = _look(index)
        axes.plot([], [], marker, color=color, mfc="none", ms=5, label=view.arm_label(arm))
    for edge in range(1, len(rows)):
        axes.axhline(edge - 0.5, color=INK["grid"], lw=0.8)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.margins(x=0.06)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=STEPS))
    axes.tick_params(length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("seconds")
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        borderaxespad=0.3,
        frameon=False,
        fontsize=11,
        handletextpad=0.1,
    )
    return finish(drawn, key, title, f"Medians over trials. {'; '.join(words)}.")


@styled
def ramp_cpu(view: View) -> list[Chart]:
    """CPU by thread group from the first second of load on, one chart per arm, all with the same scales."""
    groups = [*CPU_GROUPS, "compiler"]
    arms = {
        arm.name: {group: _over_trials(_curves(view, arm.name, f"cpu_{group}"), median) for group in groups}
        for arm in view.arms
    }
    arms = {arm: kept for arm, stack in arms.items() if (kept := {g: v for g, v in stack.items() if v})}
    if not arms:
        return []
    top = max(max(map(sum, zip(*stack.values(), strict=False))) for stack in arms.values())
    last = max(len(values) for stack in arms.values() for values in stack.values())
    return [_cpu_stack(view, arm, stack, top, last) for arm, stack in arms.items()]


def _cpu_stack(view: View, arm: str, stack: Mapping[str, list[float]], top: float, last: int) -> Chart:
    drawn = canvas(215, width=340)
    axes = drawn.axes
    length = min(len(values) for values in stack.values())
    base = [0.0] * length
    for group, values in stack.items():
        upper = [a + b for a, b in zip(base, values, strict=False)]
        color = INK[f"s{[*CPU_GROUPS, 'compiler'].index(group) + 1}"]
        label = GROUP_LABELS.get(group, "compiler server")
        axes.fill_between(
            _middles(base),
            base,
            upper,
            color=color,
            edgecolor=INK["surface"],
            lw=0.4,
            label=label,
            alpha=0.92,
        )
        base = upper
    axes.set_xlim(0, last)
    axes.set_ylim(0, top * 1.05)
    axes.set_xlabel("seconds since the first second of load")
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=STEPS))
    axes.tick_params(length=0)
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(-0.02, 1.0),
        borderaxespad=0.2,
        ncols=len(stack),
        frameon=False,
        fontsize=10,
        handlelength=0.8,
        handletextpad=0.35,
        columnspacing=0.8,
    )
    spent = ", ".join(f"{GROUP_LABELS.get(g, 'compiler')} {sum(v):.1f} CPU s" for g, v in stack.items())
    key = f"ramp-cpu-{arm.replace('.', '-')}"
    return finish(drawn, key, f"{view.arm_label(arm)}: cores used", f"Median over trials: {spent}.")


@styled
def start_up(view: View) -> Chart | None:
    """From the start of the servers to their ready message, first response, and each operation's first answer."""
    arms = [arm.name for arm in view.arms]
    trials = {arm: [t for t in view.of_arm(arm, valid=True) if t.first_answers] for arm in arms}
    if not any(trials.values()):
        return None
    operations = list(
        dict.fromkeys(name for found in trials.values() for t in found for name in t.first_answers)
    )
    rows: dict[str, dict[str, list[float]]] = {
        READY: {
            arm: _known(_slowest(t, "ready_message_seconds") for t in found) for arm, found in trials.items()
        },
        FIRST: {arm: _known(_slowest(t, "start_seconds") for t in found) for arm, found in trials.items()},
        **{
            name: {
                arm: [t.first_answers[name] for t in found if name in t.first_answers]
                for arm, found in trials.items()
            }
            for name in operations
        },
    }
    rows = {name: values for name, values in rows.items() if any(values.values())}
    ordered = dict(
        sorted(rows.items(), key=lambda item: median(v for values in item[1].values() for v in values))
    )
    return _strips(view, "start-up", "seconds from the start of the servers", ordered, arms)


def _known(values: Any) -> list[float]:
    return [value for value in values if value is not None]


def _slowest(trial: Trial, name: str) -> float | None:
    """Of the slowest server."""
    return max(_known(getattr(one, name) for one in trial.components if one.role == "server"), default=None)


@styled
def survival(view: View) -> Chart | None:
    """The share of trials that lived, with what it speaks for; one line for each arm."""
    found = [(arm.name, s) for arm in view.arms if (s := view.summary(SURVIVED, arm.name)) is not None]
    if not found:
        return None
    drawn = canvas(64 + 34 * len(found))
    axes = drawn.axes
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    words = []
    for row, (arm, summary) in enumerate(found):
        lived = round(summary.mean * summary.n)
        low, high = share_interval(lived, summary.n)
        axes.plot([100 * low, 100 * high], [row, row], color=INK["accent"], lw=2.4, solid_capstyle="butt")
        axes.plot(100 * summary.mean, row, "o", ms=8, color=INK["accent"], zorder=4, clip_on=False)
        words.append(
            f"{view.arm_label(arm)}: {lived} of {summary.n}, {percent(low, 0)} to {percent(high, 0)}"
        )
    axes.set_yticks(range(len(found)), [view.arm_label(arm) for arm, _ in found])
    axes.set_ylim(len(found) - 0.5, -0.6)
    axes.set_xlim(-1, 101)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g} %"))
    axes.tick_params(length=0)
    axes.spines["left"].set_visible(False)
    return finish(drawn, "survival", "share of trials that lived to the end", "; ".join(words) + ".")
