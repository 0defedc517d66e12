# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from steelyard.build import find_build, fingerprint
from steelyard.host.programs import write_mark


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


@pytest.fixture
def build(checkout: Path, tmp_path: Path) -> Path:
    """A whole build of the checkout."""
    folder = tmp_path / "builds" / fingerprint(checkout)
    (folder / "ping" / "lib").mkdir(parents=True)
    (folder / "ping" / "lib" / "ping.jar").write_bytes(b"classes")
    assert find_build(checkout, folder.parent) is None, "it has no mark yet"
    write_mark(folder)
    return folder


def test_a_whole_build_is_found_also_when_a_server_has_been_primed(checkout: Path, build: Path) -> None:
    (build / "ping" / "usr-primed").mkdir()
    (build / "ping" / "usr-primed" / "cache").write_text("more", encoding="utf-8")
    assert find_build(checkout, build.parent) == build


@pytest.mark.parametrize(
    "damage", ["removed", "cut", "unmarked", "mark emptied", "mark cut", "mark is nonsense"]
)
def test_a_damaged_build_is_made_anew(checkout: Path, build: Path, damage: str) -> None:
    jar, mark = build / "ping" / "lib" / "ping.jar", build / "complete"
    if damage == "removed":
        jar.unlink()
    elif damage == "unmarked":
        mark.unlink()
    else:
        left = {"cut": (jar, b"clas"), "mark emptied": (mark, b""), "mark cut": (mark, mark.read_bytes()[:5])}
        path, text = left.get(damage, (mark, b"\xff nonsense"))
        path.write_bytes(text)
    assert find_build(checkout, build.parent) is None
