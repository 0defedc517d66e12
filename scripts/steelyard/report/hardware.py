# SPDX-License-Identifier: Apache-2.0
"""What the hardware did, as a table: what perf counted of each kind of component, arm by arm."""

from collections.abc import Iterable
from statistics import fmean

from steelyard.analysis.rounds import valid_trials
from steelyard.measure.counted import METRICS
from steelyard.measure.formulas import Metric
from steelyard.report.table import Column, Table, cells
from steelyard.report.view import View
from steelyard.results import figures
from steelyard.results.schema import Trial
from steelyard.results.spec import Spec


def hardware_table(view: View) -> Table | None:
    """A row for each counter, a column for each kind of component of each arm; None where nothing was counted."""
    trials = {arm: [*by_place.values()] for arm, by_place in valid_trials(view.trials).items()}
    columns = [
        (sort, arm.name, arm.spec)
        for sort in dict.fromkeys(each for arm in view.arms for each in _sorts(arm.spec))
        for arm in view.arms
        if sort in _sorts(arm.spec)
    ]
    rows = []
    for metric in (metric for metric in METRICS if metric.each is not None) if view.session.counters else ():
        means = [_mean(metric, sort, trials.get(arm, ()), spec) for sort, arm, spec in columns]
        if any(mean is not None for mean in means):
            texts = [figures.DASH if mean is None else figures.value(metric.info, mean) for mean in means]
            rows.append(cells(metric.label.replace(" of the servers per 1,000 requests", ""), *texts))
    note = (
        "Counts per 1,000 requests, means over valid trials, each of all components of a kind together, by perf"
        f" (--counters). {figures.DASH}: not counted, or not of the whole window."
    )
    heads = [Column(f"{sort}, {view.arm_label(arm)}") for sort, arm, _ in columns]
    return (
        Table("What the hardware did", [Column("counter", figure=False), *heads], rows, 1, [note])
        if rows
        else None
    )


def _sorts(spec: Spec) -> Iterable[str]:
    return dict.fromkeys(component.kind for component in spec.of(*METRICS[0].roles))


def _mean(metric: Metric, sort: str, trials: Iterable[Trial], spec: Spec) -> float | None:
    values = [metric.add_up(sort, trial, spec) for trial in trials]
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
