# SPDX-License-Identifier: Apache-2.0
"""The self-check as a table for the terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from steelyard.results.figures import DASH
from steelyard.selfcheck.figures import TAIL, SelfcheckResult, SimulatedShare

_CAPTION = (
    "limits: the binomial interval of the nominal share over as many sessions; a sound harness leaves one on a side"
    f" once in {1 / TAIL:,.0f} tries"
)


def render(result: SelfcheckResult) -> RenderableType:
    """Every figure beside what it should be, with its limits, and the verdict."""
    table = Table(
        box=None,
        padding=(0, 2, 0, 0),
        title_justify="left",
        title="Self-check: simulated sessions with a known truth",
    )
    table.add_column(overflow="fold")
    for header in ("measured", "of", "nominal", "limits", ""):
        table.add_column(header, justify="right", no_wrap=True, header_style="dim")
    cell = None
    for figure in result.figures:
        if figure.cell != cell:
            table.add_row(Text(figure.cell, style="bold"))
            cell = figure.cell
        table.add_row(*_row(figure))
    return Group(table, Text(""), Text(_CAPTION, style="dim"), _verdict(result))


def to_markdown(result: SelfcheckResult) -> str:
    """The same as a table of a document, one row a figure."""
    lines = [
        "| cell | figure | nominal, % | found, % | limits, % | of |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for figure in result.figures:
        measured = f"{100 * figure.measured:.1f}" if figure.of else DASH
        nominal = _nominal(figure) or DASH
        lines.append(
            f"| {figure.cell} | {figure.name} | {nominal} | {measured} | {_limits(figure)} | {figure.of:,} |"
        )
    return "\n".join(lines)


def _nominal(figure: SimulatedShare) -> str:
    """What the share should be, in percent; nothing where it is not judged."""
    if figure.side == "informs":
        return ""
    side = "" if figure.side == "about" else f"{figure.side} "
    return f"{side}{100 * figure.nominal:.3g}"


def _limits(figure: SimulatedShare) -> str:
    return "" if figure.side == "informs" else f"{100 * figure.low:.1f} to {100 * figure.high:.1f}"


def _row(figure: SimulatedShare) -> tuple[RenderableType, ...]:
    mark = Text("")
    if figure.side != "informs":
        mark = Text("ok", style="green") if figure.passed else Text("OUT", style="bold red")
    measured = f"{100 * figure.measured:.1f} %" if figure.of else DASH
    return f"  {figure.name}", measured, f"{figure.of:,}", _nominal(figure), _limits(figure), mark


def _verdict(result: SelfcheckResult) -> Text:
    failed = [figure for figure in result.figures if not figure.passed]
    judged = sum(figure.side != "informs" for figure in result.figures)
    if failed:
        names = "; ".join(f"{figure.cell}: {figure.name}" for figure in failed)
        return Text(f"{len(failed)} of {judged} figures are out of their limits: {names}.", style="bold red")
    size = f"seed {result.seed}, {result.sessions:,} sessions a main cell"
    return Text(f"All {judged} figures that have limits lie within them ({size}).", style="bold green")
