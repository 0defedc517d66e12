# SPDX-License-Identifier: Apache-2.0
"""The first screen of the page: the answer, and the one chart that shows it."""

from collections.abc import Callable
from dataclasses import dataclass

from steelyard.report import charts, procedures
from steelyard.report.canvas import SERIES, Chart
from steelyard.report.ratios import block_ratios
from steelyard.report.search_chart import all_searches, found_text
from steelyard.report.view import View
from steelyard.results import figures

SENTENCES = 3
"""Sentences of an answer that are shown at once; what a search of many arms says further is folded."""
_MARKS = {"o": "●", "s": "■", "^": "▲", "D": "◆", "v": "▼", "P": "✚"}  # as in `SERIES`


@dataclass(frozen=True)
class ArmKey:
    """An arm beside the chart: a legend, and a switch where the page has its script."""

    index: int
    label: str
    figure: str
    """Its primary metric, or what its search found; empty where it has none."""
    mark: str
    """Its sign in the chart; empty where arms are told apart by their place."""
    color: str
    """Name of a colour of the page."""


@dataclass(frozen=True)
class FirstScreen:
    """What the first screen holds."""

    lead: str
    sentences: list[str]
    further: list[str]
    """Sentences of the answer that are folded."""
    belief: str
    chart: Chart | None
    keys: list[ArmKey]


def first_screen(view: View) -> FirstScreen:
    """The first screen of a session."""
    *sentences, belief = view.answer
    sentences = [sentence for sentence in sentences if sentence != view.lead]
    chart, by_color = _chart(view)
    keys = [_key(view, index, by_color) for index in range(len(view.arms))]
    return FirstScreen(view.lead, sentences[:SENTENCES], sentences[SENTENCES:], belief, chart, keys)


def _chart(view: View) -> tuple[Chart | None, bool]:
    """The chart, and whether it tells arms apart by colour and mark."""
    by_color: list[Callable[[View], Chart | None]] = [all_searches, procedures.ramp_curves]
    for draw in by_color:
        if (drawn := draw(view)) is not None:
            return drawn, True
    by_place: list[Callable[[View], Chart | None]] = [charts.survival, block_ratios, charts.over_primary]
    return next((drawn for draw in by_place if (drawn := draw(view)) is not None), None), False


def _key(view: View, index: int, by_color: bool) -> ArmKey:
    arm = view.arms[index].name
    metric = view.measured_metric(view.analysis.primary)
    summary = view.summary(metric.name, arm) if metric is not None and not view.analysis.searches else None
    figure = figures.with_unit(metric, summary.mean) if metric is not None and summary is not None else ""
    figure = next((found_text(result) for result in view.analysis.searches if result.arm == arm), figure)
    series = index % len(SERIES)
    mark = _MARKS[SERIES[series][1]] if by_color else ""
    return ArmKey(index, view.arm_short(arm), figure, mark, f"s{series + 1}")
