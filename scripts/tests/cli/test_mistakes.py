# SPDX-License-Identifier: Apache-2.0
"""Each of the mistakes that people make (mistakes.yaml): one line that names the place and what to do next."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pages.mistakes import PAGE, Mistake, make, mistakes
from steelyard.paths import ROOT

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


_NOT_ONES_OWN = """
import os, sys
from pathlib import Path
from types import SimpleNamespace
from steelyard.errors import SteelyardError
from steelyard.gate.sides import _parse_side
from steelyard.host import doctor
from steelyard.host.java import find_jdk
from steelyard.results.gate import read_result
from steelyard.results.store import require_writable
from steelyard.serve.index import Index
os.chdir(sys.argv[1])
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
closed, index = Path("closed"), Index(Path("results"), None)
index.folder = Path("results")  # by a path from here: those above it are closed too
for act in (
    lambda: require_writable(closed / "results"),
    lambda: doctor.disk(SimpleNamespace(results=closed / "results")).level,
    lambda: find_jdk(closed / "jdk"),
    lambda: read_result(closed / "session"),
    lambda: _parse_side("closed/jdk"),
    lambda: sorted(path.name for path in index._sessions()),
):
    try:
        print(act())
    except SteelyardError as error:
        print(type(error).__name__)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to give its rights up")
def test_what_lies_in_a_closed_folder_of_another_user_is_not_there(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for folder in ("closed", "results/s1", "results/s2", "results/s3"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "session.json").touch()
        (tmp_path / folder).chmod(0o700 if folder in ("closed", "results/s2") else 0o755)
    done = subprocess.run(
        [sys.executable, "-c", _NOT_ONES_OWN, str(tmp_path)],
        cwd=ROOT / "scripts",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stderr, done.stdout.splitlines()) == (
        "",
        ["NoSpace", "warn", "MissingRequirement", "None", "{'image': 'closed/jdk'}", "['s1', 's3']"],
    )
