# SPDX-License-Identifier: Apache-2.0
"""Charts of figures over the arms hold all that they draw."""

from typing import Any

import numpy as np
import pytest
import sample
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from steelyard.report import charts, ratios
from steelyard.report.canvas import STEPS, TickFormatter, canvas, percent_ticks, with_style
from steelyard.report.charts import _cut_axis, log_locator


@with_style
def limits_of(low: float, high: float) -> tuple[float, float]:
    axes = canvas(300)
    axes.plot([0, 1], [low, high], "o")
    _cut_axis(axes)
    return axes.get_ylim()


@pytest.mark.parametrize(
    ("low", "high"),
    [(-50.0, 30.0), (-50.0, -20.0), (-0.5, 0.0), (0.0, 0.0), (0.0, 30.0), (10.0, 30.0), (28.0, 30.0)],
)
def test_every_figure_lies_within_its_chart(low: float, high: float) -> None:
    bottom, top = limits_of(low, high)
    assert bottom < top
    assert bottom <= low <= high <= top
    if low <= 0.6 * high or high <= 0:
        assert bottom <= 0 <= top, "zero is shown unless the figures lie close together"


@pytest.mark.parametrize("chart", ["forest", "ratios"])
def test_a_change_beyond_the_chart_lies_at_its_edge_and_is_marked(
    chart: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a mean stands outside of its own interval, or a ring where no block was."""
    view = sample.make_view(sample.two_arm_plan())
    metric = view.analysis.primary
    ((arm, estimate),) = view.analysis.estimates[metric].items()
    far = {"ratio": 5000.0, "low": 2000.0, "high": 90_000.0, "ratios": [5.0, 5000.0]}
    view.analysis.estimates[metric][arm] = estimate.model_copy(update=far)
    drawn: list[Axes] = []

    def keep(axes: Axes, *_: Any) -> None:
        drawn.append(axes)

    module = charts if chart == "forest" else ratios
    monkeypatch.setattr(module, "finish", keep)
    info = view.measured_metric(metric)
    assert info is not None
    if chart == "forest":
        charts.forest(view, info)
    else:
        ratios.block_ratios(view)
    lines = [
        (line.get_marker(), [float(x) for x in np.atleast_1d(np.asarray(line.get_xdata()))])
        for line in drawn[0].lines
        if line.get_gid()
    ]
    rightmost = max(x for _, places in lines for x in places)
    marked = [places for marker, places in lines if marker == ">"]
    assert marked
    assert all(places == [rightmost] for places in marked)
    assert not [marker for marker, places in lines if marker == "o" and places == [rightmost]]


@pytest.mark.parametrize("high", [0.013, 0.4, 1.0, 3.7, 10.0, 11.0, 48.0, 103.0, 999.0, 2.6e6, 1.1e7])
@pytest.mark.parametrize("low", [0.0, -1.0])
def test_a_tick_is_named_by_its_own_value(low: float, high: float) -> None:
    ticks = MaxNLocator(5, steps=STEPS).tick_values(low * high, high)
    for formatter, factor in ((TickFormatter(), 1.0), (percent_ticks(), 1.0)):
        for tick, label in zip(ticks, formatter.format_ticks(ticks), strict=True):
            if "\N{MULTIPLICATION SIGN}" in label:  # beyond tenfold a change is a factor
                continue
            text = label.replace(",", "").replace("\N{MINUS SIGN}", "-").replace("\N{NO-BREAK SPACE}", " ")
            assert float(text.removesuffix("%")) * factor == pytest.approx(tick, abs=1e-9 * high)
    assert TickFormatter().format_ticks([0.0, 2.5e6, 5e6]) == ["0", "2,500,000", "5,000,000"]


@pytest.mark.parametrize("ends", [(2.1, 9.0), (6.1, 6.9), (3.0, 11.0), (0.8, 90.0), (1.5, 40_000.0)])
def test_a_logarithmic_axis_has_figures(ends: tuple[float, float]) -> None:
    low, high = ends
    axes = canvas(100)
    axes.plot(ends, [0, 0])
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(log_locator(low, high))
    left, right = axes.get_xlim()
    ticks = [tick for tick in axes.get_xticks() if left <= tick <= right]
    assert 2 <= len(ticks) <= 8


def test_cpu_that_is_not_known_is_not_drawn_as_none() -> None:
    view = sample.make_view(sample.two_arm_plan())
    arm = view.arms[1].name
    view.analysis.summaries["cpu_per_1k_gc"].pop(arm)
    chart = charts.cpu_by_group(view)
    assert chart is not None
    assert "not known: GC" in chart.svg
    assert f"{view.arm_label(arm)}: not known for GC" in chart.svg
