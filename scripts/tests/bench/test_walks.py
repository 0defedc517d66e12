# SPDX-License-Identifier: Apache-2.0
"""Walks through the ways to run Steelyard: pages type every line of theirs, and a shell that fails is left."""

from pathlib import Path

import pytest
import walks

from steelyard.paths import ROOT


@pytest.mark.parametrize("name", walks.DOORS)
def test_the_pages_type_each_line_and_have_each_file(name: str) -> None:
    door = walks.Door.named(name)
    assert door.lines
    assert not [line for line in door.lines if line.endswith("\\")]
    assert all("registry.example" not in text for text in door.files.values())


def test_a_line_that_no_page_types_is_an_error() -> None:
    with pytest.raises(
        ValueError, match=r"none of README\.md types a line that begins with: \./steelyard fly"
    ):
        walks.typed("./steelyard fly", ["README.md"])


def test_every_way_of_the_pages_is_walked() -> None:
    """The first line of each in the table of install.md."""
    table = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8").split("\n\n")[1]
    rows = [line for line in table.splitlines() if line.startswith("| ")][2:]
    assert len(rows) == len(walks.DOORS)


def test_a_walk_notes_each_line_until_one_fails(tmp_path: Path) -> None:
    door = walks.Door(
        lines=["cd below && cat file", "false", "touch never"],
        files={"below/file": "first\nlast\n"},
        before="touch before",
    )
    home = tmp_path / "home"
    steps, session = walks.walk(door, home, tmp_path / "log")
    assert [(step.typed, step.code) for step in steps] == [("cd below && cat file", 0), ("false", 1)]
    first, second = steps
    assert first.first is not None
    assert 0 <= first.began <= first.first <= first.ended <= second.ended
    assert second.first is None
    assert not session
    assert (home / "before").exists()
    assert not (home / "below" / "never").exists()
    rows = walks.table(steps, {"**first report, at**": 61.0}).splitlines()
    assert rows[2].startswith("| `cd below && cat file` | 0.0 | ")
    assert rows[3].endswith(" | 1 |")
    assert rows[4] == "| **first report, at** | | | 61.0 | |"


def test_a_session_that_lost_trials_is_gone_on_from(tmp_path: Path) -> None:
    door = walks.Door(lines=["(exit 9)", "true"], files={}, before="")
    steps, _ = walks.walk(door, tmp_path / "home", tmp_path / "log")
    assert [step.code for step in steps] == [9, 0]
