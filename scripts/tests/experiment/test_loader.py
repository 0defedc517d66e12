# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.errors import BadInput
from steelyard.experiment.loader import experiment_files, find_experiment, load_experiment
from steelyard.paths import EXPERIMENTS
from steelyard.units import MIB

Edit = Callable[[str, str], Path]


def test_every_experiment_of_the_suite_is_accepted() -> None:
    files = experiment_files(EXPERIMENTS)
    assert "jvm-count" in files
    for name, path in files.items():
        assert load_experiment(path).name == name


def test_sizes_and_durations_are_bytes_and_seconds() -> None:
    experiment = load_experiment(EXPERIMENTS / "jvm-count.yaml")
    assert experiment.deployment.total_heap == 1536 * MIB
    assert experiment.load.warmup.at_most == 240.0


@pytest.mark.parametrize(
    ("old", "new", "key", "says"),
    [
        (
            "  users: 48",
            "  usres: 48",
            "  usres:",
            "unknown key 'load.usres' (did you mean 'users'?): allowed here are model",
        ),
        (
            "gc: generational",
            "gcc: serial",
            "    gcc:",
            "unknown key 'deployment.jvm.gcc' (did you mean 'gc'?)",
        ),
        (
            "model: closed",
            "model: clsed",
            "  model:",
            "load.model: input should be 'closed' or 'open' (it is 'clsed')",
        ),
        (
            "measure: 60s",
            "measure: 60parsecs",
            "  measure: 60p",
            "'60parsecs' is not a duration: write for example 30s",
        ),
        (
            "total_heap: 1536m",
            "total_heap: many",
            "  total_heap:",
            "'many' is not a size: write for example 512m",
        ),
        (
            "workload: ping",
            "workload: pong",
            "workload:",
            "workload: input should be 'ping' or 'acmeair' (it is 'pong')",
        ),
        ("blocks: 6", "blocks: 1", "  blocks:", "design.blocks: input should be greater than or equal to 2"),
        ("steelyard: 1", "steelyard: 2", "steelyard:", "steelyard: input should be 1 (it is 2)"),
        (
            "levels: [1, 2, 4, 6, 12]",
            "levels: [1, two]",
            "  jvms:",
            "jvms=two: jvms: Input should be a valid integer",
        ),
        ("at_least: 60s", "at_least: 600s", "  warmup:", "at_most (240s) is shorter than at_least (600s)"),
    ],
)
def test_a_wrong_key_or_value_is_refused_with_file_and_line(
    edited: Edit, old: str, new: str, key: str, says: str
) -> None:
    path = edited(old, new)
    lines = path.read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, start=1) if text.startswith(key))
    with pytest.raises(BadInput) as caught:
        load_experiment(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert says in str(caught.value)


def test_a_setting_of_quick_is_checked_too(edited: Edit) -> None:
    with pytest.raises(
        BadInput, match=r"changed\.yaml:\d+: quick\.settings\.compile: compile=later: compile: Input"
    ):
        load_experiment(edited("{compile: foreground}", "{compile: later}"))


def test_a_missing_key_is_named(edited: Edit) -> None:
    with pytest.raises(BadInput, match="key 'name' is missing"):
        load_experiment(edited("name: jvm-count\n", ""))


def test_a_key_that_occurs_twice_is_refused(edited: Edit) -> None:
    with pytest.raises(BadInput, match=r"changed\.yaml:\d+: key 'users' occurs twice"):
        load_experiment(edited("  users: 48\n", "  users: 48\n  users: 12\n"))


def test_a_baseline_that_is_no_level_is_refused(edited: Edit) -> None:
    with pytest.raises(BadInput, match="baseline jvms: 3 is not a level: levels are 1, 2, 4, 6, 12"):
        load_experiment(edited("baseline: {jvms: 1}", "baseline: {jvms: 3}"))


def test_a_factor_that_is_no_setting_is_refused(edited: Edit) -> None:
    path = edited("factors:\n  jvms:", "factors:\n  jwms:")
    path.write_text(path.read_text(encoding="utf-8").replace("baseline: {jvms: 1}\n", ""), encoding="utf-8")
    with pytest.raises(
        BadInput, match=r"changed\.yaml:\d+: factors\.jwms: 'jwms' is not a setting; settings are"
    ):
        load_experiment(path)


def test_broken_yaml_is_refused_with_its_line(edited: Edit) -> None:
    with pytest.raises(BadInput, match=r"changed\.yaml:\d+: not valid YAML"):
        load_experiment(edited("levels: [1, 2, 4, 6, 12]", "levels: [1, 2"))


def test_an_unknown_experiment_names_those_that_there_are() -> None:
    with pytest.raises(
        BadInput, match=r"unknown experiment 'jvm-cuont' \(did you mean 'jvm-count'\?\): there are"
    ):
        find_experiment("jvm-cuont", EXPERIMENTS)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no experiment file"):
        find_experiment(str(tmp_path / "none.yaml"), EXPERIMENTS)
