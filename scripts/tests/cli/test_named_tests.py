# SPDX-License-Identifier: Apache-2.0
"""What documents name in the code is there: tests for a kind of fault (docs/rules-and-tests.md), steps of a trial
(docs/development.md)."""

import re
from pathlib import Path

import pytest

from steelyard.paths import ROOT

SCRIPTS = ROOT / "scripts"
JAVA = {
    path.name: path
    for path in (*ROOT.glob("loadgen/src/test/**/*.java"), *ROOT.glob("apps/**/src/test/**/*.java"))
}
PAGE = (ROOT / "docs" / "rules-and-tests.md").read_text(encoding="utf-8")


def rows() -> list[str]:
    """Last cells of the rows of the page's tables that name a file of tests."""
    cells = [line.strip().strip("|").split(" | ")[-1] for line in PAGE.splitlines() if line.startswith("| ")]
    return [cell for cell in cells if re.search(r"test_\w+\.py|tests/|Test\.java", cell)]


def files_named(word: str) -> list[Path]:
    """The files that a word of a cell stands for: a path below scripts/, or a file's name."""
    if word.endswith(".java"):
        return [JAVA[word]] if word in JAVA else []
    if "/" in word:
        path = (ROOT if word.startswith("scripts/") else SCRIPTS) / word
        return [path] if path.exists() else []
    return list((SCRIPTS / "tests").rglob(word))


def missing(cell: str) -> list[str]:
    """What a cell names and is not there: files, tests by their name, and parts of names in brackets."""
    gone, texts = [], []
    for word in re.findall(r"[\w/]+\.(?:py|java)\b|(?<=`)\w+(?=`)", cell):
        if "." in word:
            files = files_named(word)
            texts += [path.read_text(encoding="utf-8") for path in files]
            gone += [] if files else [word]
        elif not any(re.search(rf"(?:def|void) \w*{word}\w*\(", text) for text in texts):
            gone.append(word)
    return gone


def test_the_page_names_tests() -> None:
    assert len(rows()) > 60


@pytest.mark.parametrize("cell", rows())
def test_what_is_named_is_there(cell: str) -> None:
    assert missing(cell) == []


def test_what_is_not_there_is_missed() -> None:
    assert missing("`tests/cli/test_gone.py`, test_docs.py (`no_such_test`)") == [
        "tests/cli/test_gone.py",
        "no_such_test",
    ]


def test_the_steps_of_a_trial_are_there() -> None:
    page = (ROOT / "docs" / "development.md").read_text(encoding="utf-8")
    section = page.partition("## One trial, from")[2].partition("\n## ")[0]
    named = re.findall(r"`([\w/]+\.py)` `([A-Za-z_][\w.]*)`", section)
    assert len(named) >= 14
    for path, name in named:
        source = (SCRIPTS / "steelyard" / path).read_text(encoding="utf-8")
        for part in name.split("."):
            assert re.search(rf"\b(def|class) {part}\b", source), f"{path} has no {name}"
