# SPDX-License-Identifier: Apache-2.0
"""The quick form of each experiment, one after the other: what does it detect here, and in how many minutes?

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/quick_forms.py FOLDER [NAME ...] [--page] [--minutes N]
        [-- OPTIONS]

OPTIONS are those of `run`. Each form has a folder of its own in FOLDER, so that no earlier session changes it. A second
call goes on: what was measured is not run again, an interrupted session is resumed, and what could not run, or came to
no figure as too many of its trials were void, is tried again. What `plan` refuses here is left out, with its reason.
`--page` takes what was measured into docs/results and docs/reference/quick-forms.md, after each form. With
`--minutes 60` those run that end in time by their plans. Hours for all of them, on a host that does nothing else.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from session_series import (
    Launch,
    Row,
    TimeLeft,
    append_row,
    launcher,
    read_rows,
    series_parser,
    split_options,
    why_ended,
)

from pages import quick_forms
from steelyard.errors import Exit, SteelyardError
from steelyard.experiment.loader import experiment_files
from steelyard.paths import EXPERIMENTS
from steelyard.results.figures import percent
from steelyard.results.store import SessionDirectory

FORMS = "forms.jsonl"


def run_forms(
    folder: Path,
    names: Sequence[str],
    options: Sequence[str],
    start: Launch,
    *,
    page: bool = False,
    time_left: TimeLeft | None = None,
) -> list[Row]:
    """Run what is left of the forms, and return what is known of each, in their order.

    Raises:
        KeyboardInterrupt: a session was interrupted; what ended before is kept.
        Stopped: another session runs on this host.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = newest_rows(folder)
    for name in names:
        if name in rows and _is_done(rows[name]):
            continue
        rows[name] = _run_form(folder / name, name, options, start, time_left or TimeLeft(None))
        if rows[name]["code"] is not None:
            append_row(folder / FORMS, rows[name])
        if page and "detects" in rows[name]:
            quick_forms.main([rows[name]["session"]])
    return [rows[name] for name in names]


def _is_done(row: Row) -> bool:
    """Whether another session would say no more: it detects something, or nothing though no block lacks a pair (a
    search)."""
    return "detects" in row or ("session" in row and row["code"] == Exit.OK)


def newest_rows(folder: Path) -> dict[str, Row]:
    """The last of each form that a folder tells."""
    return {row["name"]: row for row in read_rows(folder / FORMS)}


def _run_form(own: Path, name: str, options: Sequence[str], start: Launch, time_left: TimeLeft) -> Row:
    words = [name, "--quick", *options]
    began = time.monotonic()
    planned = start(["plan", *words, "--json"])
    if planned.code != Exit.OK:
        return {"name": name, "reason": planned.message, "code": planned.code}
    longest = float(planned.document["expected_seconds"][1])
    if not time_left.holds(longest):
        return {
            "name": name,
            "reason": f"takes {longest / 60:.0f} minutes, more than were left",
            "code": None,
        }
    ended = start(["run", *words, "--resume", "--out", str(own)])
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
    words, options = split_options(sys.argv[1:])
    parser = series_parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--page", action="store_true", help="take what was measured into the page")
    given = parser.parse_args(words)
    known = sorted(experiment_files(EXPERIMENTS))
    if unknown := set(given.names) - set(known):
        parser.error(f"no experiment: {', '.join(sorted(unknown))}")
    folder, names = given.folder, given.names or known
    why = why_ended(
        lambda: run_forms(
            folder, names, options, launcher(folder), page=given.page, time_left=given.time_left
        )
    )
    sys.stdout.write(table([*newest_rows(folder).values()]))
    sys.exit(why)


if __name__ == "__main__":
    main()
