# SPDX-License-Identifier: Apache-2.0
"""What the published study found, figure by figure, with this session's own figure beside it where it has one."""

from collections.abc import Mapping

from steelyard.analysis.arm_pairs import compare_arms
from steelyard.analysis.findings import INCONCLUSIVE, is_inconclusive
from steelyard.analysis.search import value_text
from steelyard.analysis.wording import beyond_noise
from steelyard.experiment.schema import OwnFigure
from steelyard.report.table import Table, TableCell, cells, words
from steelyard.report.view import View, level_text
from steelyard.results import figures
from steelyard.results.analysis import MetricInfo, SearchResult

SEARCH = "search"
"""In the place of a metric: what the searches found."""


def study_table(view: View) -> Table:
    """A row for each published figure; hosts, JVMs and loads differ, so that none of them is compared by a number."""
    assert view.study is not None
    rows = []
    for figure in view.study.figures:
        own = TableCell(figures.DASH, ("told in words",)) if figure.own is None else _own(view, figure.own)
        rows.append(cells(figure.where, figure.value, own))
    return Table(
        "What the published study found, and this session",
        words("where", "the study", "this session"),
        rows,
    )


def _own(view: View, own: OwnFigure) -> TableCell:
    base = view.session.arm(view.baseline).levels
    arms = [_arm_of(view, base, levels) for levels in (own.arm, own.against)]
    for arm, levels in zip(arms, (own.arm, own.against), strict=True):
        if arm is None:
            wanted = ", ".join(
                f"{view.factor_label(name)} = {level_text(level)}" for name, level in levels.items()
            )
            return TableCell(figures.DASH, (f"{wanted} is not in this session",))
    arm, against = (name for name in arms if name is not None)
    if own.metric == SEARCH:
        return _search_comparison(view, arm, against)
    metric = view.measured_metric(own.metric)
    if metric is None:
        return TableCell(figures.DASH, ("not measured in this session",))
    return _comparison(view, metric, arm, against)


def _arm_of(view: View, base: Mapping[str, object], levels: Mapping[str, object]) -> str | None:
    """The arm of these levels; what is not named is as in the baseline."""
    wanted = {name: str(level) for name, level in {**base, **levels}.items()}
    of_arms = ((arm.name, {name: str(level) for name, level in arm.levels.items()}) for arm in view.arms)
    return next((name for name, own in of_arms if own == wanted), None)


def _comparison(view: View, metric: MetricInfo, arm: str, against: str) -> TableCell:
    means = [view.summary(metric.name, name) for name in (against, arm)]
    first, last = (
        figures.with_unit(metric, mean.mean) if mean else view.why_no_mean(metric.name, name)
        for mean, name in zip(means, (against, arm), strict=True)
    )
    means_text = f"{metric.label}: {first} with {view.arm_short(against)}, {last} with {view.arm_short(arm)}"
    change = (
        view.estimate(metric.name, arm)
        if against == view.baseline
        else compare_arms(view.session, view.analysis, metric.name, arm, against)
    )
    if change is None or change.ratio is None:
        return TableCell(figures.DASH, (means_text,))
    if is_inconclusive(change):
        return TableCell(figures.effect(change), (INCONCLUSIVE, means_text))
    interval = f"95 % CI {figures.bounds(change)}" if figures.bounds(change) else "no interval"
    return TableCell(figures.effect(change), (interval, means_text), 0 if beyond_noise(change) else None)


def _search_comparison(view: View, arm: str, against: str) -> TableCell:
    results = {result.arm: result for result in view.analysis.searches}
    texts = [_search_text(view, results.get(name), name) for name in (against, arm)]
    result = results.get(arm)
    values_text = ", ".join(texts)
    if result is None or result.against is None or against != view.baseline:
        return TableCell(figures.DASH, (values_text,))
    compared = result.against
    within = figures.interval(compared.low, compared.high) if compared.low and compared.high else ""
    interval = f"95 % CI {within}" if within else "no interval"
    return TableCell(
        figures.change(compared.ratio), (interval, values_text), 0 if compared.beyond_noise else None
    )


def _search_text(view: View, result: SearchResult | None, arm: str) -> str:
    if result is None or result.value is None:
        return f"no value with {view.arm_short(arm)}"
    return f"{value_text(result.varies, result.value)} with {view.arm_short(arm)}"
