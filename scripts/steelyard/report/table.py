# SPDX-License-Identifier: Apache-2.0
"""A table as data; HTML, Markdown and the terminal each write it in their own way."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Column:
    """A column: its heading, its unit, and whether its cells are figures."""

    label: str
    unit: str = ""
    figure: bool = True


@dataclass(frozen=True)
class TableCell:
    """A cell: its text, and smaller lines below it."""

    text: str
    notes: tuple[str, ...] = ()
    bold: int | None = None
    """Which of its lines is in bold, from 0, the text: a change that is beyond noise, and nothing else."""
    style: str = ""
    """Class on the page: `void`, or the outcome of a check."""
    hover: str = ""
    """What the page tells where the pointer rests."""
    number: float | None = None
    """What the page sorts by where the text begins with no figure or has a unit of its own (`< 0.001`, `512 MiB`)."""


@dataclass(frozen=True)
class Table:
    """A table; the first `heads` cells of a row name the row, and a row of one cell heads those below it."""

    caption: str
    columns: list[Column]
    rows: list[list[TableCell]]
    heads: int = 1
    notes: list[str] = field(default_factory=list)


def cells(*values: TableCell | str | int) -> list[TableCell]:
    """A row; what is no cell yet becomes one."""
    return [value if isinstance(value, TableCell) else TableCell(str(value)) for value in values]


def figure_cell(
    text: str, number: float | None, bold: int | None = None, notes: tuple[str, ...] = ()
) -> TableCell:
    """A cell of a column in one unit, in which `number` is as well: written where the text does not begin with it."""
    is_plain = text.lstrip("+\N{MINUS SIGN}")[:1].isdigit()
    return TableCell(text, notes, bold, number=None if is_plain else number)


def words(*labels: str) -> list[Column]:
    """Columns of words."""
    return [Column(label, figure=False) for label in labels]


def numbers(*labels: str) -> list[Column]:
    """Columns of figures without a unit."""
    return [Column(label) for label in labels]
