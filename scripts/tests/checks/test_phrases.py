# SPDX-License-Identifier: Apache-2.0
"""Sentences that a person reads are plain: phrases that were taken out of messages, reports and pages stay out."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from checks.names import SCRIPTS

pytestmark = pytest.mark.checks

INSTEAD = {
    r"came every \S+ s of a user": "mean cycle time of X was 5.1 s; 5.0 s was requested",
    r"would be found in \S+ % of such sessions": "this session can detect changes of 42 % or more (80 % power)",
    r"which it meets on both sides": "20 % in a duet, where it affects both sides",
    r"nobody can be asked": "no terminal to confirm on: pass --yes",
    r"\bbut for chance\b": "(95 % CI 0.6 to 0.7)",
    r"what its JVM made of it": "the JVM does not report this setting",
    r"which is what it was\b": "subject, verb, object",
    r"\bbe it\b": "whether it is ... or ...",
    r"\bby which\b": "name it",
}
"""What to write in the place of each."""


def texts(path: Path, source: str) -> Iterator[str]:
    """What people read of a file: strings that are no docstrings, or all of a template or a page."""
    if path.suffix != ".py":
        yield source
        return
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr(values=parts):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "1" for part in parts)
            case ast.Constant(value=str(text)) if id(node) not in docstrings:
                yield text


def faults(path: Path, source: str) -> list[str]:
    """What is not plain in a file."""
    read = "\n".join(texts(path, source))
    return [f"{path}: write: {instead}" for phrase, instead in INSTEAD.items() if re.search(phrase, read)]


def test_sentences_are_plain() -> None:
    root = SCRIPTS.parent
    files = [
        *root.glob("scripts/steelyard/**/*.py"),
        *root.glob("scripts/**/*.j2"),
        *root.glob("docs/**/*.md"),
        root / "README.md",
    ]
    wrong = [fault for path in sorted(files) for fault in faults(path, path.read_text(encoding="utf-8"))]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "source", "count"),
    [
        ("a.py", 'f"{name} came every {mean:.1f} s of a user"', 1),
        ("a.py", 'text = "(0.6 to 0.7 " "but for chance)"', 1),
        ("a.py", '"""The rule by which it ends."""', 0),
        ("a.md", "the word by which it is known, be it long or short", 2),
    ],
)
def test_what_is_not_plain_is_reported(name: str, source: str, count: int) -> None:
    assert len(faults(Path(name), source)) == count
