# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/development.md, How to add, and copies of the checkout to which one was added."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from steelyard.paths import ROOT

TESTS = Path(__file__).parent
PAGE = ROOT / "docs" / "development.md"


def example(title: str, place: int = 1) -> str:
    """The first code below a heading of the section, or the one at that place, as it stands there."""
    section = PAGE.read_text(encoding="utf-8").partition("\n## How to add\n")[2].partition("\n## ")[0]
    code = section.partition(f"\n### {title}\n")[2].partition("\n### ")[0]
    blocks = code.split("\n```")[1::2]
    return blocks[place - 1].partition("\n")[2] + "\n" if len(blocks) >= place else ""


def copy_checkout(root: Path) -> Path:
    """A checkout whose package is a copy, all else that of this one; returns the package."""
    for path in ROOT.iterdir():
        if path.name not in ("scripts", ".git", ".steelyard"):
            (root / path.name).symlink_to(path)
    package = root / "scripts" / "steelyard"
    shutil.copytree(ROOT / "scripts" / "steelyard", package, ignore=shutil.ignore_patterns("__pycache__"))
    return package


def insert(file: Path, before: str, text: str) -> None:
    """Put a text before the only place at which another one stands."""
    start, end = file.read_text(encoding="utf-8").split(before)
    file.write_text(f"{start}{text}{before}{end}", encoding="utf-8")


def run_in_copy(package: Path, *arguments: object) -> dict[str, Any]:
    """The JSON that Python prints with the package of a copy and the tests' modules."""
    paths = (package.parent, TESTS, TESTS / "measure", TESTS.parent)
    done = subprocess.run(
        [sys.executable, "-P", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        cwd=package.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed
