# SPDX-License-Identifier: Apache-2.0
"""Mistakes that people make, and what is said of each: `python -m pages.mistakes` in scripts/ runs them all.

They are data (tests/cli/mistakes.yaml), each is a command in this process, and the page has the sentences as they came.
"""

import io
import os
import re
import shlex
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from steelyard.cli.app import main

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "scripts" / "tests" / "cli" / "mistakes.yaml"
PAGE = ROOT / "docs" / "reference" / "mistakes.md"


@dataclass(frozen=True)
class Mistake:
    """What a person typed, and what has to come out."""

    group: str
    typed: str
    code: int
    place: str
    """What the sentence has to name."""
    edit: dict[str, str] = field(default_factory=dict)
    text: str | None = None
    base: str | None = None
    files: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)

    @property
    def about(self) -> str:
        """What was wrong, in short: the edit, else the command."""
        if self.text is not None:
            return self.text or "(an empty file)"
        return "\n".join(new or f"(without) {old}" for old, new in self.edit.items()) or self.typed


@dataclass(frozen=True)
class Outcome:
    """How it ended; the places of this run are named as in the data."""

    code: int
    said: str


def mistakes() -> Iterator[Mistake]:
    """All of them, in the order of the page."""
    groups: list[dict[str, Any]] = yaml.safe_load(DATA.read_text(encoding="utf-8"))["groups"]
    for group in groups:
        shared = {name: value for name, value in group.items() if name not in ("title", "mistakes")}
        for entry in group["mistakes"]:
            yield Mistake(group=group["title"], **{**shared, **entry})


def make(mistake: Mistake, folder: Path) -> Outcome:
    """Make a mistake, with its files in a folder that is empty."""
    for name, text in mistake.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    file = folder / "file.yaml"
    if mistake.base is not None:
        file.write_text(_edited(mistake), encoding="utf-8")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        places = {"file": str(file), "folder": str(folder), "port": str(taken.getsockname()[1])}
        words = [_filled(word, places) for word in shlex.split(mistake.typed)]
        outcome = _run(words, mistake.env)
    said = re.sub(r"process \d+", "process N", outcome.said)
    for name in ("file", "folder", "port"):
        said = said.replace(places[name], f"{{{name}}}")
    return Outcome(outcome.code, said.replace(f"{ROOT}/", ""))


def _edited(mistake: Mistake) -> str:
    if mistake.text is not None:
        return mistake.text
    text = (ROOT / str(mistake.base)).read_text(encoding="utf-8")
    for old, new in mistake.edit.items():
        if old not in text:
            raise ValueError(f"{mistake.base} has no {old!r}")
        text = text.replace(old, new, 1)
    return text


def _filled(word: str, places: Mapping[str, str]) -> str:
    for name, place in places.items():
        word = word.replace(f"{{{name}}}", place)
    return word


def _run(words: list[str], env: Mapping[str, str]) -> Outcome:
    out, err, code = io.StringIO(), io.StringIO(), 0
    with ExitStack() as stack:
        stack.enter_context(patch.object(sys, "argv", ["steelyard", *words]))
        stack.enter_context(patch.object(sys, "stdin", io.StringIO()))
        stack.enter_context(patch.dict(os.environ, env))
        stack.enter_context(chdir(ROOT))
        # Nothing is built before all that was typed has been looked at.
        stack.enter_context(patch("steelyard.cli.run.require_idle"))  # who else is at work here is no mistake
        built = RuntimeError("a mistake had the Java parts built")
        stack.enter_context(patch("steelyard.cli.building.make_build", side_effect=built))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
    return Outcome(code, err.getvalue())


def write_page(outcomes: Mapping[int, Outcome] | None = None) -> str:
    """The table of all sentences; without `outcomes` (by place in the list) they are made."""
    head = (
        "<!-- SPDX-License-Identifier: Apache-2.0 -->\n<!-- Written by `python -m pages.mistakes`. -->\n"
        "# Mistakes, and what is said of them\n\n```\n./steelyard plan jvm-cuont\n```\n\n"
        "Each was made, and this came out, on a host with two cores: one line on standard error, and an"
        " [exit code](exit-codes.md). `{file}` is the file with the mistake in it.\n"
    )
    parts = [head]
    group = ""
    for number, mistake in enumerate(mistakes()):
        if outcomes is None:
            with tempfile.TemporaryDirectory() as folder:
                outcome = make(mistake, Path(folder))
        else:
            outcome = outcomes[number]
        if mistake.group != group:
            group = mistake.group
            parts.append(f"\n## {group}\n\n| what was written | code | what is said |\n| --- | --- | --- |\n")
        said = outcome.said.strip().removeprefix("steelyard: ") or "(it is right)"
        parts.append(f"| {_code(mistake.about)} | {outcome.code} | {_cell(said)} |\n")
    return "".join(parts)


def _code(text: str) -> str:
    return f"`{_cell(' '.join(text.split())).replace('`', chr(39))}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
