# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/metrics.md, from the registries: `python -m steelyard.measure.reference ../docs/metrics.md`."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from steelyard.experiment.schema import ProcedureName
from steelyard.measure.formulas import EVERY, Metric
from steelyard.measure.registry import METRICS, RULES
from steelyard.measure.rule import Rule


def filled(page: str) -> str:
    """The page with both tables as the registries say; a table is known by its header, the text about it is kept.

    Raises:
        ValueError: a header does not stand there exactly once.
    """
    metrics = ("metric", "unit", "better", "trials", "source and how it is made", "pitfalls")
    checks = ("check", "passes when", "limit", "failing it", "trials", "source")
    for headers, rows in ((metrics, map(_metric, METRICS)), (checks, map(_rule, RULES))):
        table = _table(headers, rows)
        head = table.partition("\n")[0]
        around = re.split(rf"{re.escape(head)}\n(?:\|.*\n)*", page)
        if len(around) != 2:
            raise ValueError(f"{len(around) - 1} tables with the header {head}")
        page = table.join(around)
    return page


def _table(headers: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = (headers, tuple("---" for _ in headers), *rows)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _metric(one: Metric) -> tuple[str, ...]:
    return f"`{one.name}`", one.unit, one.better, _trials(one.procedures), one.source, one.pitfalls


def _rule(rule: Rule) -> tuple[str, ...]:
    failing = "voids" if rule.voids else "marks"
    limit = f"{rule.limit:g} {rule.unit}".rstrip()
    return f"`{rule.name}`", rule.says, limit, failing, _trials(rule.procedures), rule.source


def _trials(procedures: tuple[ProcedureName, ...]) -> str:
    return "all" if set(procedures) == set(EVERY) else ", ".join(procedures)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
