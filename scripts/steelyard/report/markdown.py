# SPDX-License-Identifier: Apache-2.0
"""The report as Markdown: the answer, the table, what holds for it, the ledger in short, the host."""

import re
from collections.abc import Iterable

from steelyard.analysis import figures
from steelyard.report import records, tables
from steelyard.report.tables import Cell, Table
from steelyard.report.view import View


def to_markdown(view: View) -> str:
    """The report, compact enough for a comment on a change."""
    parts = [f"# {text(view.title)}", *_opening(view)]
    shown = [tables.main(view), *tables.searches(view)[1:], tables.survival(view), *tables.ramp_up(view)]
    for table in shown:
        parts += [f"## {table.caption}", *_table(table)] if table is not None else []
    parts += _study(view)
    detectable = tables.detectable(view)
    if detectable.rows and not view.analysis.searches:
        parts += ["## Smallest detectable effect", *_table(detectable)]
    parts += _ledger(view)
    parts += ["## Deployment", *_table(records.deployment(view))]
    parts += ["## Session", *_facts(records.design(view), records.software(view))]
    parts.append(
        f"Repeat it: `{view.session.command}`. All figures: `report.html`, `report.csv`, `analysis.json`."
    )
    return "\n\n".join(parts) + "\n"


def text(raw: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*_|<>\[\]#])", r"\\\1", " ".join(raw.split()))


def _opening(view: View) -> list[str]:
    question = view.experiment.get("question")
    parts = [text(str(question))] if question else []
    parts.append(f"{text(view.host_line)} · {view.created}")
    parts.append("\n>\n".join(f"> {text(sentence)}" for sentence in view.answer))
    if view.caveats:
        parts.append("Holds for every figure here:")
        parts.append("\n".join(f"- {text(caveat)}" for caveat in view.caveats))
    return parts


def _table(table: Table) -> list[str]:
    heads = [column.label + (f", {column.unit}" if column.unit else "") for column in table.columns]
    lines = [_line(text(head) for head in heads)]
    lines.append(_line("---:" if column.figure else "---" for column in table.columns))
    lines += [_line(_cell(cell) for cell in row) for row in table.rows]
    return ["\n".join(lines), *(text(note) for note in table.notes)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    lines = [text(line) for line in (cell.text, *cell.notes) if line]
    if cell.strong:
        stressed = min(1, len(lines) - 1)
        lines[stressed] = f"**{lines[stressed]}**"
    return "<br>".join(lines)


def _study(view: View) -> list[str]:
    if not view.study:
        return []
    found = [f"- {text(one['where'])}: {text(one['found'])}" for one in view.study.get("found", [])]
    lead = (
        f"The published study found ({text(view.study['title'])}, {text(view.study['published'])}; its host,"
        " JVM and load differ, so compare the shape and not the figures):"
    )
    return [lead, "\n".join(found)]


def _ledger(view: View) -> list[str]:
    a = view.analysis
    parts = ["## Validity ledger", f"{figures.count(a.trials, 'trial')}, {a.void_trials} void."]
    if view.void:
        parts.append("\n".join(f"- {text(sentence)}" for sentence in records.void_trials(view)))
    failed = [entry for entry in a.ledger if entry.failed]
    if failed:
        parts.append(
            "\n".join(
                f"- {text(entry.name)}: failed in {entry.failed} of {figures.count(entry.of, 'trial')}"
                f" ({'voids' if entry.voids else 'only marks'})"
                for entry in failed
            )
        )
    else:
        parts.append("Every check that applied passed in every trial.")
    idle = records.not_judged(view)
    if idle:
        parts += ["Not judged:", "\n".join(f"- {text(sentence)}" for sentence in idle)]
    return parts


def _facts(*found: Table) -> list[str]:
    rows = [row for table in found for row in table.rows]
    return ["\n".join(f"- {text(row[0].text)}: {text(row[1].text)}" for row in rows)]
