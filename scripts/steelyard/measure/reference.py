# SPDX-License-Identifier: Apache-2.0
"""What is measured, for readers: the tables of docs/metrics.md (`python -m steelyard.measure.reference
../docs/metrics.md`) and the JSON Schema of trial.json.
"""

import re
import sys
from pathlib import Path
from typing import Any

from steelyard.documented import fill_table
from steelyard.experiment.schema import ProcedureName
from steelyard.measure.formulas import EVERY, Metric
from steelyard.measure.registry import COMPONENT_FIGURES, METRICS, RULES, TRIAL_FIGURES
from steelyard.measure.rule import Rule
from steelyard.measure.window import ComponentFigure, TrialFigure
from steelyard.results.figures import capital
from steelyard.results.schema import Trial


def fill_tables(page: str) -> str:
    """The page with both tables as the registries say (raises ValueError: it has not both)."""
    metrics = ("metric", "unit", "better", "trials", "source and how it is made", "pitfalls")
    checks = ("check", "passes when", "limit", "failing it", "trials", "source")
    return fill_table(fill_table(page, metrics, map(_metric, METRICS)), checks, map(_rule, RULES))


def _metric(metric: Metric) -> tuple[str, ...]:
    return (
        f"`{metric.name}`",
        metric.unit,
        metric.better,
        _trials(metric.procedures),
        metric.source,
        metric.pitfalls,
    )


def _rule(rule: Rule) -> tuple[str, ...]:
    failing = "voids" if rule.voids else "marks"
    limit = f"{rule.limit:g} {rule.unit}".rstrip()
    source = re.sub(r"explanation/([\w-]+)\.md", r"[\1](\g<0>)", rule.source)
    return f"`{rule.name}`", rule.says, limit, failing, _trials(rule.procedures), source


def _trials(procedures: tuple[ProcedureName, ...]) -> str:
    return "all" if set(procedures) == set(EVERY) else ", ".join(procedures)


def trial_schema() -> dict[str, Any]:  # a JSON Schema
    """The JSON Schema of trial.json, with every figure that this version measures."""
    schema = Trial.model_json_schema()
    figures: dict[str, list[ComponentFigure] | list[TrialFigure]] = {
        "ComponentResult": [figure for figure in COMPONENT_FIGURES if not figure.in_group],
        "CgroupResult": [figure for figure in COMPONENT_FIGURES if figure.in_group],
        "TrialMeasurement": list(TRIAL_FIGURES),
    }
    for record, defined in figures.items():
        properties = schema["$defs"][record]["properties"]
        properties |= {figure.name: _figure_schema(figure) for figure in defined}
    return schema


def _figure_schema(figure: ComponentFigure | TrialFigure) -> dict[str, Any]:
    """Of one figure, or of one list of sentences."""
    said = capital(figure.says).removesuffix(".")
    if figure.unit == "sentences":
        return {"type": "array", "items": {"type": "string"}, "description": f"{said}; one sentence each."}
    return {"type": ["number", "null"], "description": f"{said} ({figure.unit})."}


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(fill_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
