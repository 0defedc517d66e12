# SPDX-License-Identifier: Apache-2.0
"""The headline of a session for the terminal."""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from steelyard.escape import printable
from steelyard.report import tables
from steelyard.report.caveats import caveats
from steelyard.report.table import Table, TableCell
from steelyard.report.verdict import answer_of
from steelyard.report.view import View
from steelyard.results.analysis import Analysis
from steelyard.results.gate import GateResult
from steelyard.results.schema import JournalEntry, Session, Trial


def render_summary(
    session: Session,
    analysis: Analysis,
    trials: Sequence[Trial],
    journal: Sequence[JournalEntry] = (),
    verdict: GateResult | None = None,
) -> RenderableType:
    """The answer, the table of the arms and what holds for every figure."""
    view = View(session, analysis, trials, journal, verdict=verdict)
    table = tables.main(view)
    answer = [Text(printable(sentence)) for sentence in answer_of(session, analysis, verdict)]
    notes = [Text(printable(note), style="dim") for note in table.notes]
    warnings = [Text(printable(f"! {caveat}"), style="yellow") for caveat in caveats(view)]
    moved = [Text(printable(sentence)) for sentence in view.moved_sentences]
    parts: list[RenderableType] = [*answer, to_rich_table(table), *moved]
    spaced = [Padding(part, (0, 0, 1, 0)) for part in parts]
    return Group(Text(printable(view.title), style="bold"), "", *spaced, *notes, *warnings)


def to_rich_table(table: Table) -> RichTable:
    """A table for the terminal, without its notes."""
    made = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in table.columns:
        head = Text(printable(column.label))
        if column.unit:
            head.append(f"\n{printable(column.unit)}", style="dim")
        made.add_column(head, justify="right" if column.figure else "left", vertical="top")
    for row in table.rows:
        made.add_row(*(_cell(cell) for cell in row))
    return made


def _cell(cell: TableCell) -> Text:
    shown = Text()
    shown.append(printable(cell.text), style="bold" if cell.bold == 0 else None)
    for line, note in enumerate(cell.notes, start=1):
        shown.append(f"\n{printable(note)}", style="bold" if cell.bold == line else "dim")
    return shown
