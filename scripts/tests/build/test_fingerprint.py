# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from steelyard.build import find_build, fingerprint


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, content in {
        "pom.xml": "<project/>",
        "apps/ping/src/main/java/Ping.java": "class Ping {}",
        "apps/ping/src/test/java/PingTest.java": "class PingTest {}",
        "apps/README.md": "words",
        "apps/ping/target/ping.zip": "built",
        "loadgen/pom.xml": "<project/>",
        "apps/ping/workload.yaml": "steelyard: 1",
        "loadgen/bench/run.sh": "true",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", ["pom.xml", "apps/ping/src/main/java/Ping.java", "loadgen/pom.xml"])
def test_a_changed_source_is_another_build(checkout: Path, name: str) -> None:
    before = fingerprint(checkout)
    (checkout / name).write_text("changed", encoding="utf-8")
    assert fingerprint(checkout) != before


@pytest.mark.parametrize(
    "name",
    [
        "apps/README.md",
        "apps/ping/target/ping.zip",
        "apps/ping/src/test/java/PingTest.java",
        "apps/ping/workload.yaml",
        "loadgen/bench/run.sh",
    ],
)
def test_what_the_build_does_not_read_changes_nothing(checkout: Path, name: str) -> None:
    before = fingerprint(checkout)
    (checkout / name).write_text("changed", encoding="utf-8")
    assert fingerprint(checkout) == before


def test_a_renamed_source_is_another_build(checkout: Path) -> None:
    before = fingerprint(checkout)
    source = checkout / "apps/ping/src/main/java/Ping.java"
    source.rename(source.with_name("Pong.java"))
    assert fingerprint(checkout) != before


def test_only_a_complete_build_is_found(checkout: Path, tmp_path: Path) -> None:
    builds = tmp_path / "builds"
    folder = builds / fingerprint(checkout)
    folder.mkdir(parents=True)
    assert find_build(checkout, builds) is None
    (folder / "complete").touch()
    assert find_build(checkout, builds) == folder
