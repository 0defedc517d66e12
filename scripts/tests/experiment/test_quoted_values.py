# SPDX-License-Identifier: Apache-2.0
"""Sentences quote what was written as a file has it: `true`, and not Python's `True`."""

import copy
import re
from collections.abc import Callable, Iterator
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest
import yaml

from steelyard.errors import BadInput
from steelyard.experiment.loader import load_experiment
from steelyard.experiment.settings import Settings
from steelyard.paths import EXPERIMENTS, ROOT
from steelyard.session.plan import host_checks, metric_checks
from steelyard.units import format_value, quote_value
from steelyard.workload.loader import load_workload, workload_names

_PYTHON = re.compile(r"\b(True|False|None|NoneType)\b|\{'")
WRITTEN: tuple[Any, ...] = (True, False, None, 3.5, "x", ["a", True], {"a": None})
IN_FILES: tuple[Any, ...] = (True, [None, {"a": False}])


def sentence(call: Callable[[], object]) -> str:
    """What is said of bad input; empty: it is right."""
    try:
        call()
    except BadInput as error:
        return str(error)
    return ""


def places(document: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where a document has a value that can be another."""
    parts: list[tuple[Any, Any]] = []
    match document:
        case dict():
            parts = list(document.items())
        case list():
            parts = list(enumerate(document))
    for key, part in parts:
        yield (*at, key)
        yield from places(part, (*at, key))


def replaced(document: Any, at: tuple[str | int, ...], value: Any) -> str:
    """The file with another value there."""
    changed = copy.deepcopy(document)
    inner = changed
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    return yaml.safe_dump(changed, sort_keys=False)


@pytest.mark.parametrize(
    ("value", "plain", "quoted"),
    [
        (True, "true", "true"),
        (None, "null", "null"),
        (1.5, "1.5", "1.5"),
        ("on", "on", "'on'"),
        (["a", False], "['a', false]", "['a', false]"),
        ({"a": {"b": None}}, "{a: {b: null}}", "{a: {b: null}}"),
    ],
)
def test_a_value_is_as_a_file_has_it(value: object, plain: str, quoted: str) -> None:
    assert (format_value(value), quote_value(value)) == (plain, quoted)
    if not isinstance(value, str):
        assert yaml.safe_load(plain) == value


@pytest.mark.parametrize("workload", workload_names())
def test_what_a_setting_refuses_is_quoted_so(workload: str) -> None:
    settings = Settings(load_workload(workload).workload, host_checks())
    said = [
        sentence(lambda name=name, value=value: settings.check(name, value))  # type: ignore[misc]
        for name, value in product(settings.sections, WRITTEN)
    ]
    assert sum(map(bool, said)) > 100
    assert [text for text in said if _PYTHON.search(text)] == []


@pytest.mark.parametrize("file", ["experiments/jvm-count.yaml", "apps/ping/workload.yaml"])
def test_what_a_file_has_wrong_is_quoted_so(tmp_path: Path, file: str) -> None:
    document, said = yaml.safe_load((ROOT / file).read_text(encoding="utf-8")), []
    host, metrics = host_checks(), metric_checks()

    def read(path: Path) -> object:
        if EXPERIMENTS.name in file:
            return load_experiment(path, host, metrics=metrics)
        return load_workload(str(path))

    at_all = [at for at in places(document) if at[0] != "study"]  # forty texts
    for number, (at, value) in enumerate(zip(at_all, cycle(IN_FILES), strict=False)):
        path = tmp_path / f"{number}.yaml"  # a file that was read is kept
        path.write_text(replaced(document, at, value), encoding="utf-8")
        said.append(sentence(lambda path=path: read(path)))  # type: ignore[misc]
    assert sum(map(bool, said)) > 30
    assert [text for text in said if _PYTHON.search(text)] == []
