# SPDX-License-Identifier: Apache-2.0
"""Workload files of somebody's own: where they are looked for, and journeys as the injector takes them."""

import json
import re
from pathlib import Path

import pytest

from steelyard.experiment.loader import load_experiment
from steelyard.paths import EXPERIMENTS, ROOT
from steelyard.workload.journey import Journey

EXAMPLE = ROOT / "docs" / "examples" / "fuseki" / "workload.yaml"
INJECTOR_TEST = ROOT / "loadgen/src/test/java/dev/steelyard/loadgen/DeclaredJourneyTest.java"


def test_a_session_keeps_the_whole_path_of_a_file_that_was_given_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop.yaml").write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = load_experiment(EXPERIMENTS / "jvm-count.yaml", {}, "shop.yaml")
    assert found.experiment.workload == str(tmp_path / "shop.yaml")
    assert found.workload.workload.name == "fuseki"


def test_an_experiment_file_names_its_workload_file_from_its_own_folder(tmp_path: Path) -> None:
    text = (EXPERIMENTS / "jvm-count.yaml").read_text(encoding="utf-8")
    assert "workload: ping" in text
    (tmp_path / "own.yaml").write_text(
        text.replace("workload: ping", "workload: shop.yaml"), encoding="utf-8"
    )
    (tmp_path / "shop.yaml").write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    found = load_experiment(tmp_path / "own.yaml", {})
    assert found.experiment.workload == str(tmp_path / "shop.yaml")


def test_the_journey_that_the_injector_is_tested_with_can_be_written_in_a_file() -> None:
    """The same keys on both sides: what the injector's own test plays is accepted here, and handed on whole."""
    source = INJECTOR_TEST.read_text(encoding="utf-8")
    block = re.search(r'EVERYTHING =\s+"""(.*?)"""', source, re.DOTALL)
    assert block is not None
    written = json.loads(block[1].replace("\\\\", "\\"))
    handed_on = Journey.model_validate(written).document()
    assert _holds(handed_on, written), "something of it was lost"


def _holds(whole: object, part: object) -> bool:
    """Whether all that was written is in what is handed on, where defaults are filled in and durations are seconds."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and _holds(whole[key], value) for key, value in part.items()
        )
    if isinstance(part, list):
        return isinstance(whole, list) and all(map(_holds, whole, part)) and len(whole) == len(part)
    if isinstance(part, str) and isinstance(whole, float):
        return part.endswith("s")
    return whole == part
