# SPDX-License-Identifier: Apache-2.0
"""`explain`: what a metric, a check, a setting, a host state or an exit code means, from where each is defined."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

from typer import Argument

from steelyard.cli.console import open_console, print_heading, print_json, print_sentence
from steelyard.cli.options import JsonOption
from steelyard.errors import BadInput, Exit
from steelyard.experiment.settings import SECTIONS, setting_name
from steelyard.host.states import STATES
from steelyard.jvm.reference import options_by_value
from steelyard.jvm.rows import On, Setting
from steelyard.measure.ledger import PARTNER
from steelyard.measure.registry import METRICS, RULES
from steelyard.results.figures import capital
from steelyard.units import format_value
from steelyard.workload.loader import load_workload, workload_names
from steelyard.yamlfile import nearest

_TYPES = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "a text"}
"""Of a JSON Schema, for people."""


class Explanation(NamedTuple):
    """What one name means."""

    name: str
    topic: str
    """What it is the name of: a metric, a check, ..."""
    lines: dict[str, str]
    """Sentences by what they tell; those that say nothing are left out."""


def explanations() -> Iterator[Explanation]:
    """Everything that has a name in reports, experiments and sentences of the harness."""
    for metric in METRICS:
        lines = {
            "what": metric.label,
            "unit": f"{metric.unit}, {metric.better} is better"
            if metric.better != "neither"
            else metric.unit,
            "made of": metric.source,
            "misleads": metric.pitfalls,
            "trials": ", ".join(metric.procedures),
        }
        yield Explanation(metric.name, "metric", lines)
    for rule in RULES:
        lines = {
            "passes when": rule.says,
            "limit": rule.unit and f"{rule.limit:g} {rule.unit}",
            "failing it": "makes the trial void: it is repeated"
            if rule.voids
            else "marks the trial, which still counts",
            "trials": ", ".join(rule.procedures),
            "why": rule.source.replace("explanation/", "docs/explanation/"),
        }
        yield Explanation(rule.name, "check", lines)
    partner = {
        "passes when": "no other side of the same pair of a duet was void",
        "failing it": "makes the trial void: the pair is repeated",
        "why": "docs/how-to/gate-on-noisy-hosts.md",
    }
    yield Explanation(PARTNER, "check", partner)
    yield from _settings()
    for name in workload_names():
        for key, setting in load_workload(name).workload.settings.items():
            limits = {
                "at least": setting.minimum,
                "at most": setting.maximum,
                "one of": setting.choices and ", ".join(setting.choices),
                "default": setting.default,
            }
            lines = {"what": setting.about, "type": setting.type}
            lines |= {word: _short(value) for word, value in limits.items() if value is not None}
            yield Explanation(f"{name}.{key}", f"setting of {name}", lines)
    for state in STATES.values():
        lines = {"why": state.why, "takes": state.allowed, "is in": state.where.replace("`", "")}
        yield Explanation(state.name, "state of the host", lines)
    for code in Exit:
        yield Explanation(str(int(code)), "exit code", {"what": code.meaning})


def _settings() -> Iterator[Explanation]:
    """Those of experiment files, by their models."""
    for section, model in SECTIONS.items():
        schema = model.model_json_schema()
        named = "of the JVM" if section == "jvm" else f"in {section}"
        for key, field in model.model_fields.items():
            if key in SECTIONS:
                continue
            described = schema["properties"][field.alias or key]
            lines = {"what": described.get("description", ""), "takes": _values(described)}
            if "default" in described:
                lines["default"] = "none" if field.default is None else _default(described, field.default)
            for row in field.metadata:
                if isinstance(row, Setting):
                    lines |= {
                        "HotSpot": _options(row.hotspot),
                        "OpenJ9": _options(row.openj9),
                        "note": _unmark(row.note),
                    }
            yield Explanation(setting_name(section, key), f"setting {named}", lines)


def _values(described: dict[str, Any]) -> str:  # a property of a JSON Schema
    """The values that a property takes, as far as the schema has them shortly."""
    texts: list[str] = []
    for part in described.get("anyOf", [described]):
        match part:
            case {"enum": [*values]}:
                texts += map(format_value, values)
            case {"const": value}:
                texts.append(format_value(value))
            case {"examples": [example, *_]}:
                texts.append(f"a value such as {example}")
            case {"type": str(name)}:
                texts.append(_TYPES.get(name, ""))
    return ", ".join(dict.fromkeys(filter(None, texts)))


def _options(on: On | str) -> str:
    """How a JVM has a setting; empty: by options that depend on more than its value (the note says how)."""
    if isinstance(on, str):
        return f"does not have it: {on}"
    return "; ".join(f"{value}: {text}" if value else text for value, text in options_by_value(on).items())


def _default(described: dict[str, Any], value: object) -> str:  # a property of a JSON Schema
    """A default with its unit: durations are seconds."""
    examples = [
        text for part in described.get("anyOf", [described]) for text in part.get("examples", []) if text
    ]
    is_duration = any(re.fullmatch(r"[\d.]+(ms|s|m|h)", str(text)) for text in examples)
    return f"{value:g} s" if isinstance(value, float) and is_duration else _short(value)


def _unmark(note: str) -> str:
    """A cell of a table of docs/openj9.md, for the terminal: links as paths, and bars as they are."""
    return re.sub(r"\[([^]]+)\]\(([^)]+)\)", r"\1 (docs/\2)", note).replace("\\|", "|")


def _short(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else format_value(value)


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_")


def explain(
    name: Annotated[
        str | None,
        Argument(
            metavar="[NAME]",
            help="A metric, check, setting, host state or exit code.",
            show_default="list all",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a metric, a check, a setting, a host state or an exit code means."""
    known = list(explanations())
    # Checks are written with hyphens and metrics with underscores: who mixes them up means the same.
    chosen = [each for each in known if name is None or _plain(each.name) == _plain(name)]
    if not chosen:
        near = nearest(str(name), [each.name for each in known])
        raise BadInput(f"nothing is called {name!r}{near}: `./steelyard explain` lists all names")
    if as_json:
        print_json([each._asdict() for each in chosen])
        return
    console = open_console()
    if name is None:
        for topic in dict.fromkeys(each.topic for each in known):
            names = ", ".join(each.name for each in known if each.topic == topic)
            print_heading(console, capital(topic))
            print_sentence(console, names, indent="  ")
        return
    for each in chosen:
        print_heading(console, each.name, f"  ({each.topic})")
        for word, text in each.lines.items():
            if text:
                print_sentence(console, f"{word}: {' '.join(text.split())}", indent="  ")
