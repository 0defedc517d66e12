# SPDX-License-Identifier: Apache-2.0
"""Pages of the reference that are made of the code: `python -m pages.reference` in scripts/ writes them anew.

Commands and options of the command line, keys of the experiment and of the workload file, results that were seen.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from typer.core import TyperArgument, TyperCommand, TyperOption

from pages.man import MAN, write_man
from pages.parser import PASSED_ON, commands_of, plain_help, root
from steelyard.errors import Exit
from steelyard.experiment.loader import experiment_files
from steelyard.experiment.schema import Experiment
from steelyard.paths import EXPERIMENTS
from steelyard.workload.schema import Workload

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"
SEEN = FOLDER.parent / "results" / "seen.json"
_HEAD = "<!-- SPDX-License-Identifier: Apache-2.0 -->\n<!-- Written by `python -m pages.reference`. -->\n"
Keys = dict[str, Any]
"""A part of a JSON Schema."""


def write_commands() -> str:
    """Every command with its arguments and options."""
    head = (
        f"{_HEAD}# All commands and options\n\n```\n./steelyard --help\n./steelyard run --help\n```\n\n"
        "What they are for, with examples: [commands](../commands.md). How they end: [exit codes](exit-codes.md).\n"
    )
    return "\n".join([head, *(_command(name, command) for name, command in commands_of(root()))])


def _command(name: str, command: TyperCommand) -> str:
    arguments = [one for one in command.params if isinstance(one, TyperArgument)]
    words = " ".join(_placeholder(argument) for argument in arguments)
    about = f"## {name}\n\n`./steelyard {name}{' ' + words if words else ''}`\n\n{plain_help(command.help or '')}\n"
    if name in PASSED_ON:
        return f"{about}\n{PASSED_ON[name]}\n"
    options = [one for one in command.params if isinstance(one, TyperOption) and not one.hidden]
    if not options:
        return about
    rows = "".join(map(_option, options))
    return f"{about}\n| option | meaning |\n| --- | --- |\n{rows}"


def _placeholder(argument: TyperArgument) -> str:
    return str(argument.metavar or (argument.name or "").upper())


def _option(option: TyperOption) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" `{option.metavar or 'VALUE'}`"
    return f"| {names}{value} | {_cell(option.help or '')} |\n"


def _cell(text: str) -> str:
    return _escape(" ".join(plain_help(text).split()))


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def write_keys(model: type[BaseModel], title: str, name: str, guide: str) -> str:
    """Every key of a format of YAML files, one table for each part of it."""
    schema = model.model_json_schema()
    head = (
        f"{_HEAD}# {title}\n\n```\n./steelyard schema {name} > {name}.schema.json     # the same for editors\n```\n\n"
        f"How to write one: [{guide}](../{guide}.md). A key without a default has to be there.\n"
    )
    definitions: dict[str, Keys] = schema.get("$defs", {})
    tables = [_table(part, keys) for part, keys in definitions.items() if keys.get("properties")]
    return "\n".join([head, _table("The file", schema), *tables])


def _table(title: str, keys: Keys) -> str:
    required = keys.get("required", [])
    rows = "".join(
        f"| `{name}` | {_escape(_type(value))} | {_default(value, is_required=name in required)} |"
        f" {_cell(value.get('description', ''))} |\n"
        for name, value in keys["properties"].items()
    )
    about = f"{plain_help(keys.get('description', ''))}\n\n" if keys.get("description") else ""
    return f"## {title}\n\n{about}| key | value | default | meaning |\n| --- | --- | --- | --- |\n{rows}"


def _default(value: Keys, *, is_required: bool) -> str:
    if is_required or "default" not in value:
        return "" if is_required else "-"
    default = value["default"]
    return (
        "-"
        if default in (None, {}, [])
        else f"`{str(default).lower() if default in (True, False) else default}`"
    )


_SIMPLE = {"string": "text", "boolean": "`true`, `false`"}


def _type(value: Keys) -> str:
    """What a key takes, in words."""
    if "$ref" in value:
        name = str(value["$ref"]).rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in value or "const" in value:
        return ", ".join(f"`{word}`" for word in value.get("enum", [value.get("const")]))
    if choices := value.get("anyOf") or value.get("oneOf"):
        kinds = [_type(part) for part in choices if part.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if value.get("type") == "array":
        return f"list of {_type(value.get('items', {}))}"
    if value.get("type") == "object":
        inner = next(iter(value.get("patternProperties", {}).values()), value.get("additionalProperties"))
        return f"map to {_type(inner)}" if isinstance(inner, dict) else "map"
    kinds = value.get("type", "any")
    return " or ".join(_SIMPLE.get(kind, kind) for kind in (kinds if isinstance(kinds, list) else [kinds]))


def write_results() -> str:
    """The last session of each experiment, newest first, those before them, and which experiments have none here."""
    entries: list[dict[str, Any]] = json.loads(SEEN.read_text(encoding="utf-8"))
    newest = sorted(entries, key=lambda entry: entry["day"], reverse=True)
    last: dict[str, dict[str, Any]] = {}
    for entry in newest:
        last.setdefault(entry["experiment"], entry)
    earlier = [entry for entry in newest if entry is not last[entry["experiment"]]]
    there = experiment_files(EXPERIMENTS)
    missing = [name for name in there if name not in last]
    return (
        f"{_HEAD}# What was seen\n\n```\n./steelyard run jvm-count --quick\n```\n\n"
        "So that you know what to expect: the last session of each of the project's own experiments, and where it ran."
        " Quick sessions are an indication. Changes with their 95 % intervals.\n\n"
        "*Shared*: injectors, and databases where there are some, ran on the servers' CPUs. *Steelyard*: the version"
        " and commit that ran the session, whose figures a program took from its files. *Typed*: a person took them"
        " from the lab note, and the commit is not known.\n\n"
        f"{_seen_table(list(last.values()))}\n"
        f"## Earlier sessions\n\n{_seen_table(earlier)}\n"
        f"## Not in this list\n\n{', '.join(f'`{name}`' for name in missing)}.\n\n"
        f"{len(missing)} of the {len(there)} [experiments](experiments.md) have no session in this list; `capacity`"
        " ran, and its figures were not kept ([what ran](tested-on.md)).\n\n"
        "Entries are kept in `docs/results/seen.json`.\n"
    )


def _seen_table(entries: list[dict[str, Any]]) -> str:
    rows = "".join(
        f"| {entry['day']} | `{' '.join(filter(None, (entry['experiment'], entry['options'])))}`"
        f" | {entry.get('host', 'not recorded')}{', shared' if entry.get('shared') else ''} | {entry['on']}"
        f" | {'typed' if entry.get('typed') else entry['steelyard']} | {entry['seen']} ([more](../{entry['page']})) |\n"
        for entry in entries
    )
    return f"| day | session | host | on | Steelyard | seen |\n| --- | --- | --- | --- | --- | --- |\n{rows}"


def write_exit_codes() -> str:
    """How commands end, and what to do next."""
    rows = "".join(
        f"| {int(code)} | {_escape(code.meaning)} | {_escape(code.remedy) or '-'} |\n" for code in Exit
    )
    return (
        f"{_HEAD}# Exit codes\n\n```\n./steelyard explain 12     # what a code means\n```\n\n"
        "Each code has one meaning. Only `gate` ends with 1 or 2, so a crash is never mistaken for a regression. Every"
        " error is one line on standard error: what is wrong, where, why, and what to do next.\n\n"
        f"| code | meaning | next |\n| --- | --- | --- |\n{rows}"
    )


PAGES: dict[str, Callable[[], str]] = {
    "commands": write_commands,
    "exit-codes": write_exit_codes,
    "results": write_results,
    "experiment-file": lambda: write_keys(
        Experiment, "Keys of an experiment file", "experiment", "experiments"
    ),
    "workload-file": lambda: write_keys(Workload, "Keys of a workload file", "workload", "workloads"),
}
"""By the name of their file."""


if __name__ == "__main__":
    for page, write in PAGES.items():
        (FOLDER / f"{page}.md").write_text(write(), encoding="utf-8")
    MAN.write_text(write_man(), encoding="utf-8")
