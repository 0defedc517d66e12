# SPDX-License-Identifier: Apache-2.0
"""Names are plain words of the field, and say one thing (docs/development.md, Names)."""

from pathlib import Path

import pytest
from checks.names import PERSISTED, SCRIPTS, faults, faults_of, packages, shared_names

pytestmark = pytest.mark.checks


@pytest.mark.parametrize("package", packages())
def test_names_are_plain(package: str) -> None:
    assert faults_of(packages()[package]) == []


def test_two_classes_never_share_a_name() -> None:
    assert shared_names() == {}


@pytest.mark.parametrize("place", PERSISTED)
def test_what_is_exempt_exists(place: str) -> None:
    path, _, field = place.partition(": ")
    source = (SCRIPTS / "steelyard" / path).read_text(encoding="utf-8")
    model, _, name = field.partition(".")
    assert f"    {name}: " in source.partition(f"class {model}(")[2].partition("\nclass ")[0]


@pytest.mark.parametrize(
    "source",
    [
        "for one in trials: pass",
        "found = read()",
        "def collect(kind: str): ...",
        "class Trial:\n    told: str",
        "self.away = 3",
        "match pair:\n    case [_whole]: ...",
        "import words as what",
        "class Flight: ...",
        "def chosen(): ...",
        "def processes_named(): ...",
        "def _asked_at(): ...",
        "def warming(): ...",
        "plural = 's' * (count != 1)",
        "heading = f'{count} void' * bool(count)",
        "note = shared * ' shared'",
        "word = 'a' if first else 'b' if second else 'c'",
        "def resolve(values: dict[str, Any]) -> None: ...",
        "def summaries() -> list[dict[str, Any]]: ...",
        "class Store:\n    def __init__(self, values: Mapping[str, Any]) -> None: ...",
        "class Arm:\n    settings: dict[str, Any]",
        "Plan = dict[str, dict[str, Any]]",
    ],
)
def test_what_is_not_plain_is_reported(source: str) -> None:
    assert len(faults(Path("steelyard/new.py"), source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "for trial in trials: pass",
        "trial.find(what=3)",
        "def is_chosen(): ...",
        "def check_isolated(): ...",
        "def isolated_cpus(): ...",
        "def heading(): ...",
        "def trial_ended(): ...",
        "@trial_figure('share')\ndef survived(): ...",
        "line = '-' * 20",
        "line = ' ' * (depth + 1)",
        "line = '`' * len(fence)",
        "word = 'a' if first else 'b'",
        "def _resolve(values: dict[str, Any]) -> None: ...",
        "def resolve():\n    values: dict[str, Any] = {}",
        "class Pod:\n    manifest: Mapping[str, Any]  # the API's own form",
        "# A manifest is the API's own form.\ndef apply(manifest: dict[str, Any]) -> None: ...",
        "def apply(\n    manifest: dict[str, Any],  # the API's own form\n) -> None: ...",
    ],
)
def test_plain_names_pass(source: str) -> None:
    assert faults(Path("steelyard/new.py"), source) == []
