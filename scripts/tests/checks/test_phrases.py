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
    r"\bbut for\b": "except; of an estimate: (95 % CI 0.6 to 0.7)",
    r"what its JVM made of it": "the JVM does not report this setting",
    r"which is what it was\b": "subject, verb, object",
    r"\bbe it\b": "whether it is ... or ...",
    r"\bby which\b": "name it",
    # Words that no engineer says.
    r"\bfor want of\b": "because there is no ...; of memory: because memory ran out",
    r"\b[Tt]old of\b|\b(?:is|are) told\b(?! apart)": "who reports or prints what",
    r"\bunequally\b|\bunlike (?:numbers|speeds)\b|\bare unlike\b": "more often than ...; differ",
    r"\bdear\b": "expensive",
    r"\bin the place of\b": "instead of",
    r"\banew\b": "again",
    r"\bto be had\b|\bat hand\b": "available, supported",
    r"\bin vain\b": "without a result, or what failed",
    r"\b[Ww]eigh(?:ed)?\b|\bgate weighs\b": "compare",
    r"\bwith colons between\b": "a colon-separated list of ...",
    r"\bnobody could want\b|\bone may wonder\b": "why it is so",
    r"\bdo(?:es)? not mind\b": "does not change",
    r"\bworth an issue\b": "please open an issue",
    r"\bare to be trusted\b": "are reliable",
    r"\bwere not come near\b": "were not reached",
    r"\bby itself and says nothing\b": "silently ...",
    r"\bread back, below\b|\bfor people is printed\b|\bNames say what was meant\b": "subject, verb, object",
    r"\b[Ww]hat is not known has failed\b": "an unknown value counts as failed",
    r"\bHolds for every figure\b": "Read this first",
    r"\bto whose account\b|\b[Ww]hose account\b": "where its CPU and memory are counted",
    # A relative clause instead of a person: "who is in the group needs no limit".
    r"[:;.] [Ww]ho (?:is|has|compares|makes|looks|may)\b": "members of ..., anyone who ...",
}
"""What to write instead of each."""

READ = (
    *("*.md", "action.yml", "docs/**/*.md", "docs/**/*.yaml", "docs/*.1"),
    *("*/README.md", "apps/*/workload.yaml", "apps/databases/*.yaml", "experiments/*.yaml"),
    *("scripts/steelyard/**/*.py", "scripts/pages/*.py", "scripts/suite/*.py", "scripts/**/*.j2"),
)
"""Pages, READMEs, files that people copy from, and programs that print."""
_BREAK = re.compile(r"\s*\n(?:[ \t]*#)?[ \t]*")
"""The end of a line within a sentence, in a comment as well."""


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
    read = "\n".join(_BREAK.sub(" ", text) for text in texts(path, source))
    return [f"{path}: write: {instead}" for phrase, instead in INSTEAD.items() if re.search(phrase, read)]


def test_sentences_are_plain() -> None:
    root = SCRIPTS.parent
    files = {path for pattern in READ for path in root.glob(pattern)}
    wrong = [fault for path in sorted(files) for fault in faults(path, path.read_text(encoding="utf-8"))]
    assert wrong == []


@pytest.mark.parametrize("pattern", READ)
def test_each_pattern_has_a_file(pattern: str) -> None:
    assert any(SCRIPTS.parent.glob(pattern))


@pytest.mark.parametrize(
    ("name", "source", "count"),
    [
        ("a.py", 'f"{name} came every {mean:.1f} s of a user"', 1),
        ("a.py", 'text = "(0.6 to 0.7 " "but for chance)"', 1),
        ("a.py", '"""The rule by which it ends."""', 0),
        ("a.md", "the word by which it is known, be it long or short", 2),
        ("a.md", "killed for\nwant of memory", 1),
        ("a.yaml", "# two CPUs in the\n# place of four", 1),
        ("a.md", "nothing: who is in the group needs no limit", 1),
        ("a.md", "somebody who is in the group; two kinds are told apart", 0),
    ],
)
def test_what_is_not_plain_is_reported(name: str, source: str, count: int) -> None:
    assert len(faults(Path(name), source)) == count
