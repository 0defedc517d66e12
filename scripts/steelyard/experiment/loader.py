# SPDX-License-Identifier: Apache-2.0
"""Reads an experiment file; whatever is wrong with it is refused with file, line and what is allowed."""

import difflib
import types
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from steelyard.errors import BadInput
from steelyard.experiment.matrix import check_factor, check_setting
from steelyard.experiment.schema import Experiment

_Path = tuple[str | int, ...]


def experiment_files(folder: Path) -> dict[str, Path]:
    """Experiment files of a folder by name."""
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def find_experiment(name: str, folder: Path) -> Path:
    """The file of an experiment given by name or by path.

    Raises:
        BadInput: there is no such experiment; the sentence lists those that there are.
    """
    if name.endswith((".yaml", ".yml")):
        path = Path(name)
        if not path.is_file():
            raise BadInput(f"there is no experiment file {name}: check the path")
        return path
    known = experiment_files(folder)
    if name not in known:
        raise BadInput(
            f"unknown experiment {name!r}{_nearest(name, list(known))}: there are {', '.join(known)}"
        )
    return known[name]


def load_experiment(path: Path) -> Experiment:
    """Read and check an experiment file.

    Raises:
        BadInput: with `file:line`, the key, and the allowed keys or values.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {path}: {error}") from error
    lines: dict[_Path, int] = {(): 1}
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is not None:
            _index(node, (), lines, path)
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadInput(f"{path}:{line}: not valid YAML: {error.problem}") from error
    if not isinstance(data, dict):
        raise BadInput(f"{path}:1: an experiment is a mapping of keys to values (start with `steelyard: 1`)")
    try:
        experiment = Experiment.model_validate(data)
    except ValidationError as error:
        raise BadInput(_first_sentence(error, lines, path)) from error
    _check_levels(experiment, lines, path)
    return experiment


def _check_levels(experiment: Experiment, lines: dict[_Path, int], file: Path) -> None:
    """Refuse a factor that is no setting and a level that its setting refuses, at the factor's line."""
    at: _Path = ()
    try:
        for name in experiment.factors:
            at = ("factors", name)
            check_factor(experiment, name)
        for name, value in experiment.quick.settings.items():
            at = ("quick", "settings", name)
            check_setting(name, value)
    except BadInput as error:
        raise BadInput(f"{file}:{lines[at]}: {'.'.join(map(str, at))}: {error}") from error


def _index(node: yaml.Node, at: _Path, lines: dict[_Path, int], file: Path) -> None:
    """Note the line of every key and item; refuse keys that occur twice (YAML itself would take the last)."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*at, str(key.value))
            if here in lines:
                raise BadInput(
                    f"{file}:{key.start_mark.line + 1}: key {key.value!r} occurs twice: keep one of them"
                )
            lines[here] = key.start_mark.line + 1
            _index(value, here, lines, file)
    elif isinstance(node, yaml.SequenceNode):
        for position, value in enumerate(node.value):
            lines[(*at, position)] = value.start_mark.line + 1
            _index(value, (*at, position), lines, file)


def _first_sentence(error: ValidationError, lines: dict[_Path, int], file: Path) -> str:
    """The first error in file order as one sentence; unknown keys first, as they often cause the others."""
    details = error.errors()
    found = [(detail, _known_prefix(detail["loc"], lines)) for detail in details]
    found.sort(key=lambda item: (item[0]["type"] != "extra_forbidden", lines[item[1]]))
    detail, at = found[0]
    return f"{file}:{lines[at]}: {_sentence(detail, at)}"


def _known_prefix(loc: tuple[int | str, ...], lines: dict[_Path, int]) -> _Path:
    """The part of an error's location that exists in the file (pydantic adds names of union members)."""
    at: _Path = ()
    for part in loc:
        if (*at, part) in lines:
            at = (*at, part)
    return at


def _sentence(detail: ErrorDetails, at: _Path) -> str:
    where = ".".join(str(part) for part in at)
    if detail["type"] == "extra_forbidden":
        allowed = _keys_beside(at)
        return f"unknown key {where!r}{_nearest(str(at[-1]), allowed)}: allowed here are {', '.join(allowed)}"
    if detail["type"] == "missing":
        return f"key {'.'.join(str(part) for part in detail['loc'])!r} is missing: add it"
    message = detail["msg"].removeprefix("Value error, ")
    return f"{where}: {message[0].lower()}{message[1:]} (it is {detail['input']!r})" if where else message


def _keys_beside(at: _Path) -> list[str]:
    """Keys allowed in the section that holds `at`."""
    model: type[BaseModel] = Experiment
    for part in at[:-1]:
        field = model.model_fields.get(str(part))
        inner = _model_in(field.annotation) if field is not None else None
        if inner is not None:
            model = inner
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model inside `X | None`, `dict[str, X]` or `list[X]`, if there is one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (Union, types.UnionType, dict, list):
        for argument in get_args(annotation):
            inner = _model_in(argument)
            if inner is not None:
                return inner
    return None


def _nearest(word: str, known: list[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
