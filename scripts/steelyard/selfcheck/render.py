# SPDX-License-Identifier: Apache-2.0
"""The self-check as a table for the terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from steelyard.results.figures import DASH
from steelyard.selfcheck.figures import TAIL, Figure, SelfcheckResult

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
    for one in result.figures:
        if one.cell != cell:
            table.add_row(Text(one.cell, style="bold"))
            cell = one.cell
        table.add_row(*_row(one))
    return Group(table, Text(""), Text(_CAPTION, style="dim"), _verdict(result))


def to_markdown(result: SelfcheckResult) -> str:
    """The same as a table of a document, one row a figure."""
    lines = [
        "| cell | figure | nominal, % | found, % | limits, % | of |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one in result.figures:
        told = f"{100 * one.nominal:.3g}"
        nominal = {"about": told, "informs": DASH}.get(one.side, f"{one.side} {told}")
        shown = "" if one.side == "informs" else f"{100 * one.low:.1f} to {100 * one.high:.1f}"
        found = f"{100 * one.measured:.1f}" if one.of else DASH
        lines.append(f"| {one.cell} | {one.name} | {nominal} | {found} | {shown} | {one.of:,} |")
    return "\n".join(lines)


def _row(one: Figure) -> tuple[RenderableType, ...]:
    shown = "" if one.side == "informs" else f"{100 * one.low:.1f} to {100 * one.high:.1f}"
    mark = (
        Text("")
        if one.side == "informs"
        else Text("ok", style="green")
        if one.passed
        else Text("OUT", style="bold red")
    )
    nominal = f"{'' if one.side in ('about', 'informs') else one.side} {100 * one.nominal:.3g}"
    return f"  {one.name}", f"{100 * one.measured:.1f} %", f"{one.of:,}", nominal, shown, mark


def _verdict(result: SelfcheckResult) -> Text:
    failed = [one for one in result.figures if not one.passed]
    judged = sum(one.side != "informs" for one in result.figures)
    if failed:
        names = "; ".join(f"{one.cell}: {one.name}" for one in failed)
        return Text(f"{len(failed)} of {judged} figures are out of their limits: {names}.", style="bold red")
    size = f"seed {result.seed}, {result.sessions:,} sessions a main cell"
    return Text(f"All {judged} figures that have limits lie within them ({size}).", style="bold green")
