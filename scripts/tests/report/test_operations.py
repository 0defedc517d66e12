# SPDX-License-Identifier: Apache-2.0
"""The table of an operation: what injectors gave up, started late or got no answer for is shown where there is some."""

import sample

from steelyard.report import tables
from steelyard.report.view import View
from steelyard.results.measurement import OperationCounts

CLEAN = OperationCounts(requests=900, errors=0, unanswered=0, abandoned=0, late=0)
LOST = OperationCounts(requests=900, errors=4, unanswered=3, abandoned=0, late=None)


def view_with(counts: dict[str, OperationCounts] | None) -> View:
    """A session whose last arm has these counts in each trial; None: a record of before."""
    view = sample.make_view(sample.two_arm_plan())
    for trial in view.trials:
        assert trial.measurement is not None
        if counts is not None:
            own = counts if trial.arm == view.arms[-1].name else dict.fromkeys(counts, CLEAN)
            trial.measurement.operations.update(own)
    return view


def test_counts_of_what_was_lost_have_columns_where_there_are_some() -> None:
    view = view_with({"ping": LOST})
    table = tables.latency(view, "ping")
    assert [column.label for column in table.columns[1:5]] == ["requests", "errors", "unanswered", "mean"]
    assert [row[3].text for row in table.rows] == ["0", str(3 * len(view.of_arm(view.arms[-1].name)))]
    assert "unanswered of the whole run." in table.notes[0]


def test_no_column_where_nothing_was_lost_or_nothing_told() -> None:
    for counts in ({"ping": CLEAN}, {"other": LOST}, None):
        table = tables.latency(view_with(counts), "ping")
        assert [column.label for column in table.columns[1:4]] == ["requests", "errors", "mean"]
        assert "whole run" not in table.notes[0]
