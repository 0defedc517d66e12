# SPDX-License-Identifier: Apache-2.0
"""The self-check as a table for the terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from steelyard.selfcheck.figures import STRICT_SESSIONS, Figure, SelfcheckResult

_CAPTION = (
    f"error: one Monte-Carlo standard error; by its error: with fewer than {STRICT_SESSIONS:,} sessions a figure"
    " passes within three of them"
)
_NAME_WIDTH = 36


def render(result: SelfcheckResult) -> RenderableType:
    """Every figure beside METHOD's, with its Monte-Carlo error and band, and the verdict."""
    title = "Self-check: simulated sessions with a known truth"
    parts: list[RenderableType] = [Text(title, style="bold")]
    for group in dict.fromkeys(one.group for one in result.figures):
        # A table for each group, without a frame: names stay on one line in a terminal of 80 columns.
        table = Table(title=group, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
        table.add_column(min_width=_NAME_WIDTH, no_wrap=True)
        for header in ("measured", "error", "METHOD", "band"):
            table.add_column(header, justify="right", no_wrap=True, header_style="dim")
        table.add_column(no_wrap=True)
        for one in result.figures:
            if one.group == group:
                table.add_row(*_row(one))
        parts += [Text(""), table]
    return Group(*parts, Text(""), Text(_CAPTION, style="dim"), _verdict(result))


def _row(one: Figure) -> tuple[RenderableType, ...]:
    digits = 0 if one.unit != "%" else 1 if abs(one.measured) >= 1 or one.measured == 0 else 3
    return (
        one.name,
        f"{one.measured:.{digits}f} {one.unit}",
        f"{one.error:.{max(digits, 1)}f}" if one.error else "",
        "" if one.method is None else f"{one.method:g}",
        _band(one),
        _mark(one),
    )


def _mark(one: Figure) -> Text:
    if one.passed is None:
        return Text("")
    if not one.passed:
        return Text("OUT OF BAND", style="bold red")
    return Text("in band" if one.lies_in_band() else "by its error", style="green")


def _band(one: Figure) -> str:
    if one.low is not None and one.high is not None:
        return f"{one.low:g} to {one.high:g}"
    if one.low is not None:
        return f"at least {one.low:g}"
    return "" if one.high is None else f"at most {one.high:g}"


def _verdict(result: SelfcheckResult) -> Text:
    failed = [one for one in result.figures if one.passed is False]
    banded = sum(one.passed is not None for one in result.figures)
    if failed:
        names = "; ".join(f"{one.group}: {one.name}" for one in failed)
        return Text(f"{len(failed)} of {banded} figures are out of their bands: {names}.", style="bold red")
    return Text(
        f"All {banded} figures that have a band pass (seed {result.seed}, {result.sessions:,} sessions a main figure).",
        style="bold green",
    )
