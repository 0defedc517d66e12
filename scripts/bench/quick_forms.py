# SPDX-License-Identifier: Apache-2.0
"""The quick form of each experiment, one after the other: what does it detect here, and in how many minutes?

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/quick_forms.py FOLDER [NAME ...] [--page] [--minutes N]
        [-- OPTIONS]

OPTIONS are those of `run`. Each session has a folder of its own in FOLDER, so that no earlier one changes its form. A
second call goes on: what was measured with these OPTIONS is not run again, an interrupted session is resumed, and what
could not run, or came to no figure as too many of its trials were void, is tried again. What `plan` refuses here is
left out, with its reason. A session that cannot go on, under another kernel for example, is moved aside.
`--page` takes what was measured into docs/results and docs/reference/quick-forms.md, after each form. With
`--minutes 60` those run that end in time by their plans. Hours for all of them, on a host that does nothing else.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from session_series import (
    Launch,
    Row,
    TimeLeft,
    append_row,
    find_ended,
    folder_of,
    go_on,
    launcher,
    read_rows,
    seconds_run,
    series_parser,
    split_options,
    why_ended,
)

from pages import quick_forms
from steelyard.errors import Exit, SteelyardError
from steelyard.experiment.loader import experiment_files
from steelyard.paths import EXPERIMENTS
from steelyard.results.figures import percent
from steelyard.session.runner import analyse_again, missing_places

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
        Altered: a session was edited.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = newest_rows(folder, options)
    for name in names:
        if name in rows and _is_done(rows[name]):
            continue
        ended = [
            row for row in read_rows(folder / FORMS, options) if row["name"] == name and "session" in row
        ]
        out = folder_of(folder, options) / f"{name}-{len(ended) + 1:02d}"
        row = _run_form(out, name, options, start, time_left or TimeLeft(None))
        rows[name] = {**row, "options": list(options)}
        if row["code"] is not None:
            append_row(folder / FORMS, rows[name])
        if page and "detects" in rows[name]:
            quick_forms.main([rows[name]["session"]])
    return [rows[name] for name in names]


def _is_done(row: Row) -> bool:
    """Whether another session would say no more: it detects something, or nothing though no block lacks a pair (a
    search)."""
    return "detects" in row or ("session" in row and row["code"] == Exit.OK)


def newest_rows(folder: Path, options: Sequence[str]) -> dict[str, Row]:
    """The last of each form that a folder tells of these options."""
    return {row["name"]: row for row in read_rows(folder / FORMS, options)}


def _run_form(out: Path, name: str, options: Sequence[str], start: Launch, time_left: TimeLeft) -> Row:
    words = [name, "--quick", *options]
    if (session := find_ended(out)) is None:
        # By no session, as it runs: an interrupted one in its folder would count as an earlier one.
        planned = start(["plan", *words, "--out", str(out / "none"), "--json"])
        if planned.code != Exit.OK:
            return {"name": name, "reason": planned.message, "code": planned.code}
        longest = float(planned.document["expected_seconds"][1])
        if not time_left.holds(longest):
            reason = f"takes {longest / 60:.0f} minutes, more than were left"
            return {"name": name, "reason": reason, "code": None}
        run = ["run", *words, "--resume", "--out", str(out)]
        ended = go_on(out, start, run, run)
        if (session := find_ended(out)) is None:
            return {"name": name, "reason": ended.message, "code": ended.code}
    lacking = missing_places(session.session(), session.trials())
    row = {
        "name": name,
        "session": str(session.path),
        "code": Exit.INCOMPLETE if lacking else Exit.OK,
        "seconds": seconds_run(session),
    }
    try:
        analyse_again(session)  # what outlived its series may be at it still
        measured = quick_forms.record_of(session)
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
    """Run them, and print the table of all that FOLDER tells of these options."""
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
    sys.stdout.write(table([*newest_rows(folder, options).values()]))
    sys.exit(why)


if __name__ == "__main__":
    main()
