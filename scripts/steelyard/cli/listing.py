# SPDX-License-Identifier: Apache-2.0
"""Rows for people: a table where its columns fit, else each row in a few lines of its own, down to narrow terminals."""

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_BETWEEN = 2
"""Blanks between columns."""
_LEAST = 24
"""Characters that the last column needs to be read."""
_WIDE = 100
"""From here on a table is read more easily than lines, even if its columns have to be folded."""


def print_listing(
    console: Console,
    title: str | None,
    columns: Sequence[str],
    rows: Sequence[Mapping[str, object]],
    headline: str | None = None,
) -> None:
    """Print rows.

    Args:
        console: where to.
        title: above them; None: there is none.
        columns: keys of the rows to show, in order; a row may lack some.
        rows: of values.
        headline: the column that stands beside the first one where each row has lines of its own; the others follow in
            one line. None: each has a line of its own.
    """
    widths = {name: max(cell_len(name), *(cell_len(_cell(row, name)) for row in rows)) for name in columns}
    before = sum(widths[name] + _BETWEEN for name in columns[:-1])
    fits = before + min(widths[columns[-1]], _LEAST) <= console.width
    if fits or console.width >= _WIDE:
        console.print(_table(title, columns, rows, full_width=fits))
        return
    if title is not None:
        console.print(Text(title, style="bold italic"))
    for row in rows:
        _print_lines(console, columns, row, headline)


def _cell(row: Mapping[str, object], name: str) -> str:
    return str(row.get(name, ""))


def _table(
    title: str | None, columns: Sequence[str], rows: Sequence[Mapping[str, object]], *, full_width: bool
) -> Table:
    """`full_width`: all columns but the last have their full width."""
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, padding=(0, _BETWEEN, 0, 0)
    )
    for number, column in enumerate(columns):
        # A name is copied from here into a command: it stays in one piece.
        kept = number == 0 or (full_width and number < len(columns) - 1)
        table.add_column(column, header_style="bold", overflow="fold", no_wrap=kept)
    for row in rows:
        table.add_row(*(_cell(row, column) for column in columns))
    return table


def _print_lines(
    console: Console, columns: Sequence[str], row: Mapping[str, object], headline: str | None
) -> None:
    first = Text(_cell(row, columns[0]), style="bold", overflow="fold")
    if headline is not None and (text := _cell(row, headline)):
        first.append(f"  {text}", style="not bold")
    console.print(first)
    rest = [(name, text) for name in columns[1:] if name != headline and (text := _cell(row, name))]
    if headline is None:
        for name, text in rest:
            console.print(_below(Text.assemble((f"{name}: ", "dim"), text)))
    elif rest:
        parts = [Text.assemble((f"{name} ", "dim"), text) for name, text in rest]
        console.print(_below(Text(" | ").join(parts)))


def _below(text: Text) -> Padding:
    text.overflow = "fold"
    return Padding(text, (0, 0, 0, 4), expand=False)
