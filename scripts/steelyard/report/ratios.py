# SPDX-License-Identifier: Apache-2.0
"""The ratios of the primary metric, block by block: what the answer of a session of pairs rests on."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from steelyard.report.canvas import (
    INK,
    STEPS,
    WIDE,
    Chart,
    annotate,
    arm_tag,
    draw_bounds,
    finish,
    percent_ticks,
    place_of_change,
    rows,
    with_style,
)
from steelyard.report.view import View
from steelyard.results import figures
from steelyard.results.analysis import Estimate

_MOST = 10.0
"""Ratio beyond which a block, a mean or an end of an interval is drawn at the edge, by an arrowhead: else all others
would lie on one point."""


@with_style
def block_ratios(view: View) -> Chart | None:
    """Change of each arm against the baseline in each block, with mean and interval; None where there is no ratio."""
    metric = view.measured_metric(view.analysis.primary)
    if metric is None:
        return None
    compared = [(index, view.estimate(metric.name, arm.name)) for index, arm in enumerate(view.arms)]
    shown = [
        (index, _verdict_estimate(view, e)) for index, e in compared if e is not None and e.ratio is not None
    ]
    if not shown:
        return None
    labels = [view.arm_label(view.arms[index].name) for index, _ in shown]
    axes = rows(labels, min(110 + 56 * len(shown), 390), WIDE)
    axes.set_ylim(len(shown) - 0.4, -0.55)
    axes.axvline(0, color=INK["muted"], lw=1.4)
    baseline = view.arm_label(view.baseline)
    interval = "95 % CI" if view.verdict is None else "interval of the verdict"
    words = []
    for row, (index, estimate) in enumerate(shown):
        _draw(axes, row, index, labels[row], estimate, interval)
        words.append(
            f"{labels[row]}: {figures.effect(estimate)}, interval {figures.bounds(estimate) or 'unknown'}"
        )
    if view.session.gate is not None:
        _draw_margin(axes, view.session.gate.margin * (-1 if metric.better == "higher" else 1))
    axes.margins(x=0.08)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=STEPS))
    axes.xaxis.set_major_formatter(percent_ticks())
    title = f"{metric.label}: change against {baseline}, block by block"
    return finish(axes, "ratios", title, f"{'; '.join(words)}.")


def _draw_margin(axes: Axes, margin: float) -> None:
    """Where the harm begins that a gate forbids."""
    axes.axvline(100 * margin, color=INK["void"], lw=1.6, ls="--")
    text = f"margin {figures.margin_text(abs(margin))}"
    side: dict[str, Any] = {"ha": "left" if margin > 0 else "right", "va": "top", "fontsize": 11.5}
    annotate(axes, text, (100 * margin, -0.5), (5 if margin > 0 else -5, 0), color=INK["muted"], **side)


def _verdict_estimate(view: View, estimate: Estimate) -> Estimate:
    """With the interval that a gate was judged by, which is wider than that of a session which is looked at once."""
    last = view.verdict.last if view.verdict is not None else None
    if last is None or last.ratio is None:
        return estimate
    return estimate.model_copy(update={"ratio": last.ratio, "low": last.low, "high": last.high})


def _draw(axes: Axes, row: int, arm: int, label: str, estimate: Estimate, interval: str) -> None:
    """A row: a ring for each block, and below them the mean with its interval."""
    rings: dict[str, Any] = {"color": INK["muted"], "mfc": "none", "ms": 6.5, "mew": 1.2}
    for place, ratio in enumerate(estimate.ratios, start=1):
        tip = f"{label}, block {place} of {len(estimate.ratios)}: {figures.change(ratio)}"
        ring, mark = place_of_change(ratio, _MOST)
        axes.plot(ring, row - 0.16, mark, gid=arm_tag(arm, tip), **rings)
    assert estimate.ratio is not None
    mean, marker = place_of_change(estimate.ratio, _MOST)
    tip = f"{label}: {figures.effect(estimate)}, {interval} {figures.bounds(estimate) or 'unknown'}"
    is_shown = False
    if estimate.low is not None and estimate.high is not None:
        draw_bounds(axes, row + 0.16, (estimate.low, estimate.high), _MOST, arm_tag(arm, tip), 3)
        is_shown = estimate.unequal is None and not estimate.low <= 1 <= estimate.high
    face = INK["accent" if is_shown else "surface"]
    style: dict[str, Any] = {"ms": 9, "mfc": face, "mec": INK["accent"], "mew": 1.8, "zorder": 4}
    axes.plot(mean, row + 0.16, marker, gid=arm_tag(arm, tip), **style)
    text = f"{figures.effect(estimate)} ({figures.bounds(estimate) or 'no interval'})"
    # It may stand on the line of no change.
    ground = {"fc": INK["surface"], "ec": "none", "pad": 1, "alpha": 0.85}
    below: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": 11.5, "bbox": ground}
    below["gid"] = arm_tag(arm)
    annotate(axes, text, (mean, row + 0.16), (0, -8), **below)
