# SPDX-License-Identifier: Apache-2.0
"""What moved together with the effects of a session: a table of all of it."""

from steelyard.analysis.moved import MovedFigure, MovedTogether, change_text
from steelyard.measure.registry import metric_info
from steelyard.report.table import Column, Table, TableCell, cells
from steelyard.report.view import View
from steelyard.results import figures

SHOWN = 5
"""Figures of each effect, those that are most in step: the page stays small."""
NOTE = (
    "Figures whose own change between the same two arms, over the same blocks, is beyond noise (Student's t; the chance"
    " that a list names any figure that has nothing to do with the arm is 5 % at most), in order of the part of the"
    " effect that they are in step with: 100 % where both changed by the same multiple of each other in every block."
    " They moved together; that one is the cause of the other is not shown. A figure per 1,000 requests moves with"
    " throughput by its divisor alone where its count per second stays."
)


def moved_table(view: View) -> Table | None:
    """A group of rows for each effect that something moved with; None without one."""
    rows = []
    for moved in view.evidence:
        if moved.figures:
            rows.append([TableCell(_heading(view, moved))])
            rows += [_row(figure) for figure in moved.figures[:SHOWN]]
    if not rows:
        return None
    columns = [Column("figure", figure=False), Column("baseline"), Column("arm")]
    columns += [Column("change"), Column("change of the count per second"), Column("in step")]
    return Table("What moved together", columns, rows, notes=[NOTE])


def _heading(view: View, moved: MovedTogether) -> str:
    effect = moved.effect
    label = metric_info(effect.metric).label
    return (
        f"With {label} of {view.arm_label(effect.arm)} ({figures.effect(effect)}):"
        f" {len(moved.figures)} of {figures.count(moved.tested, 'figure')}"
    )


def _row(figure: MovedFigure) -> list[TableCell]:
    info = metric_info(figure.metric)
    return cells(
        figure.label,
        figures.with_unit(info, figure.baseline),
        figures.with_unit(info, figure.arm),
        change_text(figure) if figure.ratio is not None else figures.DASH,
        figures.DASH if figure.per_second is None else figures.change(figure.per_second),
        figures.percent(figure.share, 0),
    )
