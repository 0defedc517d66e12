# SPDX-License-Identifier: Apache-2.0
"""The quick form of each experiment, one after the other: what does it detect here, and in how many minutes?

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/quick_forms.py FOLDER [NAME ...] [--page] [-- OPTIONS]

OPTIONS are those of `run`. Each form has a folder of its own in FOLDER, so that no earlier session changes it. A second
call goes on: what has ended is not run again, an interrupted session is resumed, and what could not run is tried again.
What `plan` refuses here is left out, with its reason. `--page` takes what was measured into docs/results and
docs/reference/quick-forms.md, after each form. Hours for all of them, on a host that does nothing else.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pages import quick_forms
from steelyard.errors import Exit, SteelyardError
from steelyard.experiment.loader import experiment_files
from steelyard.paths import EXPERIMENTS, ROOT
from steelyard.results.figures import percent
from steelyard.results.store import SessionDirectory

FORMS = "forms.jsonl"
INTERRUPTED = 130


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    message: str
    """The last line of its errors."""


Launch = Callable[[Sequence[str]], Ended]
"""Runs `./steelyard` with these words."""
Row = dict[str, Any]
"""What is kept of a form, in JSON."""


def launch(words: Sequence[str]) -> Ended:
    """Run a command, with its progress on this terminal's errors."""
    with subprocess.Popen(
        [ROOT / "steelyard", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as command:
        assert command.stderr is not None
        message = ""
        for line in command.stderr:
            sys.stderr.write(line)
            message = line.strip() or message
    return Ended(command.returncode, message)


def run_forms(
    folder: Path, names: Sequence[str], options: Sequence[str], start: Launch = launch, *, page: bool = False
) -> list[Row]:
    """Run what is left of the forms, and return what is known of each, in their order.

    Raises:
        KeyboardInterrupt: a session was interrupted; what ended before is kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = read_rows(folder)
    for name in names:
        if name in rows and rows[name].get("session") is not None:
            continue
        rows[name] = _run_form(folder / name, name, options, start)
        with (folder / FORMS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[name]) + "\n")
        if page and "detects" in rows[name]:
            quick_forms.main([rows[name]["session"]])
    return [rows[name] for name in names]


def read_rows(folder: Path) -> dict[str, Row]:
    """The last of each form that FOLDER tells."""
    path = folder / FORMS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {row["name"]: row for row in map(json.loads, lines)}


def _run_form(own: Path, name: str, options: Sequence[str], start: Launch) -> Row:
    words = [name, "--quick", *options]
    began = time.monotonic()
    planned = start(["plan", *words, "--json"])
    if planned.code != Exit.OK:
        return {"name": name, "reason": planned.message, "code": planned.code}
    ended = start(["run", *words, "--resume", "--out", str(own)])
    if ended.code in (INTERRUPTED, -2):
        raise KeyboardInterrupt
    sessions = sorted(own.glob("*/session.json"), key=lambda path: path.stat().st_mtime)
    if ended.code not in (Exit.OK, Exit.INCOMPLETE) or not sessions:
        return {"name": name, "reason": ended.message, "code": ended.code}
    session = sessions[-1].parent
    row = {
        "name": name,
        "session": str(session),
        "code": ended.code,
        "seconds": time.monotonic() - began,
    }
    try:
        measured = quick_forms.record_of(SessionDirectory(session))
    except SteelyardError as error:
        return {**row, "reason": str(error)}
    return {**row, **{key: measured[key] for key in ("detects", "usable_blocks", "void", "trials")}}


def table(rows: Sequence[Row]) -> str:
    """What each form came to."""
    lines = ["| experiment | detects | blocks | void | minutes | |", "| --- " * 6 + "|"]
    for row in rows:
        measured = "detects" in row
        cells = (
            row["name"],
            percent(row["detects"]) if measured else "not measured",
            row["usable_blocks"] if measured else "",
            f"{row['void']} of {row['trials']}" if measured else "",
            f"{row['seconds'] / 60:.1f}" if "seconds" in row else "",
            row.get("reason", ""),
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run them, and print the table of all that FOLDER tells."""
    words, options = sys.argv[1:], list[str]()
    if "--" in words:
        words, options = words[: words.index("--")], words[words.index("--") + 1 :]
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--page", action="store_true", help="take what was measured into the page")
    given = parser.parse_args(words)
    known = sorted(experiment_files(EXPERIMENTS))
    if unknown := set(given.names) - set(known):
        parser.error(f"no experiment: {', '.join(sorted(unknown))}")
    folder = given.folder.resolve()
    try:
        run_forms(folder, given.names or known, options, page=given.page)
    finally:
        sys.stdout.write(table([*read_rows(folder).values()]))


if __name__ == "__main__":
    main()
