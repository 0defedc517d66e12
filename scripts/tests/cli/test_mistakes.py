# SPDX-License-Identifier: Apache-2.0
"""Each of the mistakes that people make (mistakes.yaml): one line that names the place and what to do next."""

import re
import shutil
from pathlib import Path

import pytest

from pages.mistakes import PAGE, Mistake, make, mistakes

MISTAKES = list(mistakes())
_VERBS = (
    "add|check|choose|close|correct|give|indent|keep|leave|lower|make|name|pass|put|raise|restore|run|save|set|start|take|"
    "use|write"
)
_NEXT = re.compile(
    rf"\b({_VERBS})\b|see |`|did you mean|allowed here|there (are|is) |must |for example|(are|is) missing|needs? |"
    r"it takes|known are|factors are|levels are|has to |which has|is \S+ a session directory|stands for|"
    r"is indented|ends before"
)
"""What tells a person what to do, or what would be right."""


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: " ".join(mistake.about.split())[:60])
def test_a_mistake_gets_one_sentence_that_helps(
    mistake: Mistake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "--engine kubernetes" in mistake.typed and not shutil.which("kubectl"):
        pytest.skip("kubectl is not on PATH")
    for name in ("STEELYARD_TRUST", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    outcome = make(mistake, tmp_path)
    assert outcome.code == mistake.code, outcome.said
    lines = outcome.said.splitlines()
    assert len(lines) == 1, outcome.said
    assert lines[0].startswith("steelyard: ")
    assert mistake.place in lines[0]
    assert _NEXT.search(lines[0]), lines[0]
    assert not re.search(r"Traceback|pydantic|Input should|Errno|\{'|\b(True|False|None)\b", lines[0]), lines[
        0
    ]
    assert len(lines[0]) <= 400


def test_there_are_two_hundred_and_a_page_of_them() -> None:
    assert len(MISTAKES) >= 200
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert len(rows) == len(MISTAKES), "run `python -m pages.mistakes` in scripts/"
