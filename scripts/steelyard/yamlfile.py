# SPDX-License-Identifier: Apache-2.0
"""Reads a YAML file into a model; whatever is wrong with it is refused with file, line and what is allowed.

Through it go experiment files and workload files: text -> lines of keys (duplicates refused) -> model -> one sentence.
"""

import difflib
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails

from steelyard.errors import BadInput
from steelyard.units import parse_duration, parse_share, parse_size

KeyPath = tuple[str | int, ...]
M = TypeVar("M", bound=BaseModel)
MAX_BYTES = 256 * 1024
"""Larger than any file a person writes."""
MAX_DEPTH = 30
MAX_KEYS = 20_000
"""Also counted where an alias repeats them, so that a small file cannot stand for a huge one."""

Size = Annotated[
    int,
    BeforeValidator(parse_size),
    WithJsonSchema(
        {"type": ["string", "integer"], "pattern": r"^\d+\s*[kKmMgG]?[bB]?$", "examples": ["1536m"]}
    ),
]
Duration = Annotated[
    float,
    BeforeValidator(parse_duration),
    WithJsonSchema(
        {"type": ["string", "number"], "pattern": r"^\d+(\.\d+)?\s*(ms|s|m|h)?$", "examples": ["30s"]}
    ),
]
Share = Annotated[
    float,
    BeforeValidator(parse_share),
    WithJsonSchema({"type": ["string", "number"], "pattern": r"^\d+(\.\d+)?\s*%?$", "examples": ["0.1%"]}),
]
Scalar = str | int | float | bool


class Model(BaseModel):
    """Base of every part of a file: unknown keys are refused, values never change after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


@dataclass(frozen=True)
class Lines:
    """Where each key of a file stands."""

    file: Path
    numbers: dict[KeyPath, int] = field(default_factory=lambda: {(): 1})

    def refuse(self, at: KeyPath, sentence: str) -> BadInput:
        """The error for a key of the file, with its line."""
        known = _known_prefix(at, self.numbers)
        where = ".".join(map(str, at))
        return BadInput(f"{self.file}:{self.numbers[known]}: {where}: {sentence}")


def read_yaml(path: Path, model: type[M], what: str) -> tuple[M, Lines]:
    """Read and check a file.

    Args:
        path: the file.
        model: what it has to be.
        what: for people, for example `an experiment`.

    Raises:
        BadInput: with `file:line`, the key, and the allowed keys or values.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadInput(
                f"{path} is larger than {MAX_BYTES // 1024} KiB, which no {what.rsplit(maxsplit=1)[-1]} file is"
            )
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {path}: {error}") from error
    lines = Lines(path)
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is not None:
            _index(node, (), lines)
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadInput(f"{path}:{line}: not valid YAML: {error.problem}") from error
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        # The YAML library's own constructors let these through for odd scalars, tags and timestamps.
        told = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise BadInput(f"{path}:1: not valid YAML: {told}") from error
    if not isinstance(data, dict):
        raise BadInput(f"{path}:1: {what} is a mapping of keys to values (start with `steelyard: 1`)")
    try:
        return model.model_validate(data), lines
    except ValidationError as error:
        raise BadInput(_first_sentence(error, lines, model)) from error


def nearest(word: str, known: list[str]) -> str:
    """` (did you mean ...?)`, or nothing."""
    near = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _index(node: yaml.Node, at: KeyPath, lines: Lines) -> None:
    """Note the line of every key and item; refuse keys that occur twice (YAML itself would take the last)."""
    if len(at) > MAX_DEPTH:
        raise BadInput(
            f"{lines.file}:{node.start_mark.line + 1}: nested more than {MAX_DEPTH} deep, or in itself"
        )
    if len(lines.numbers) > MAX_KEYS:
        raise BadInput(f"{lines.file}:{node.start_mark.line + 1}: more than {MAX_KEYS} keys, aliases counted")
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*at, str(key.value))
            if here in lines.numbers:
                raise BadInput(
                    f"{lines.file}:{key.start_mark.line + 1}: key {key.value!r} occurs twice: keep one of them"
                )
            lines.numbers[here] = key.start_mark.line + 1
            _index(value, here, lines)
    elif isinstance(node, yaml.SequenceNode):
        for position, value in enumerate(node.value):
            lines.numbers[(*at, position)] = value.start_mark.line + 1
            _index(value, (*at, position), lines)


def _first_sentence(error: ValidationError, lines: Lines, model: type[BaseModel]) -> str:
    """The first error in file order as one sentence; unknown keys first, as they often cause the others."""
    details = error.errors()
    found = [(detail, _known_prefix(detail["loc"], lines.numbers)) for detail in details]
    found.sort(key=lambda item: (item[0]["type"] != "extra_forbidden", lines.numbers[item[1]]))
    detail, at = found[0]
    return f"{lines.file}:{lines.numbers[at]}: {_sentence(detail, at, model)}"


def _known_prefix(loc: tuple[int | str, ...], numbers: dict[KeyPath, int]) -> KeyPath:
    """The part of an error's location that exists in the file (pydantic adds names of union members)."""
    at: KeyPath = ()
    for part in loc:
        if (*at, part) in numbers:
            at = (*at, part)
    return at


def _sentence(detail: ErrorDetails, at: KeyPath, model: type[BaseModel]) -> str:
    where = ".".join(str(part) for part in at)
    if detail["type"] == "extra_forbidden":
        allowed = _keys_beside(at, model)
        return f"unknown key {where!r}{nearest(str(at[-1]), allowed)}: allowed here are {', '.join(allowed)}"
    if detail["type"] == "missing":
        return f"key {'.'.join(str(part) for part in detail['loc'])!r} is missing: add it"
    message = detail["msg"].removeprefix("Value error, ")
    given = repr(detail["input"])
    shown = given if len(given) <= 80 else given[:77] + "..."
    return f"{where}: {message[0].lower()}{message[1:]} (it is {shown})" if where else message


def _keys_beside(at: KeyPath, model: type[BaseModel]) -> list[str]:
    """Keys allowed in the section that holds `at`."""
    for part in at[:-1]:
        found = model.model_fields.get(str(part))
        inner = _model_in(found.annotation) if found is not None else None
        if inner is not None:
            model = inner
    return [item.alias or name for name, item in model.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model inside `X | None`, `dict[str, X]` or `list[X]`, if there is one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (Union, types.UnionType, dict, list, Annotated):
        for argument in get_args(annotation):
            inner = _model_in(argument)
            if inner is not None:
                return inner
    return None
