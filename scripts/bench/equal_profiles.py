# SPDX-License-Identifier: Apache-2.0
"""How often are methods named between equal arms? Sessions of two equal arms, several profiled starts of each.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/equal_profiles.py FOLDER [--sessions 10] [--minutes N]
        [--event cpu] [--starts 4] [-- OPTIONS]

OPTIONS are those of `run`, for example a `--jdk`; the experiment is `gate`, whose two arms are the same, on the server
of `bench/planted`. Sessions and what they named are kept in FOLDER, and a second call goes on; those of another event,
another number of starts or other OPTIONS are counted apart. With `--minutes 60` no session begins that would not end in
time. Of starts that were not all profiled a session says nothing.

A session names any method with a chance of 5 % at most (`analysis/culprits.py`); four starts of each arm can be
exchanged in 70 ways, two by two the same, so that it is 2 of 70 there, and ten sessions name
none with a chance of 75 %.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from session_series import (
    Launch,
    Row,
    Stopped,
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

from steelyard.analysis.culprits import culprits
from steelyard.measure.chance import exact_interval
from steelyard.report.sampled import read_profiles
from steelyard.results.figures import count, percent
from steelyard.session.async_profiler import EVENTS

SESSIONS = "sessions.jsonl"
WORKLOAD = Path(__file__).parent / "planted" / "workload.yaml"


def run_sessions(
    folder: Path,
    sessions: int,
    profiling: Sequence[str],
    options: Sequence[str],
    start: Launch,
    left: TimeLeft,
) -> None:
    """Run what is missing.

    Args:
        profiling: the event, and how many starts of each arm are profiled.

    Raises:
        Stopped: a session did not come to its profiles, or time is up.
        KeyboardInterrupt: the series was interrupted; the next call goes on.
    """
    event, starts = profiling
    asked = ["--profile", event, "--profile-starts", starts, *options]
    there = read_rows(folder / SESSIONS, asked)
    longest = max((row["seconds"] for row in there), default=0.0)
    missing = sessions - sum(map(_is_whole, there))
    for number in range(len(there) + 1, len(there) + 1 + missing):
        out = folder_of(folder, asked) / f"{number:02d}"
        if (session := find_ended(out)) is None:
            left.require(longest, f"session of {longest / 60:.0f} minutes")
            run = ["run", "gate", "--workload", str(WORKLOAD), "--blocks", "2", *asked]
            run += ["--resume", "--out", str(out)]
            ended = go_on(out, start, run, run)
            if (session := find_ended(out)) is None:
                raise Stopped(ended.message)
        seconds = seconds_run(session)
        longest = max(longest, seconds)
        row = {"session": str(session.path), "seconds": seconds, "options": asked, "wanted": int(starts)}
        append_row(folder / SESSIONS, {**row, **methods_named(session.path)})


def methods_named(session: Path) -> Row:
    """How many starts of each arm a session profiled, and the methods that it names."""
    profiles = read_profiles(session)
    if len(profiles) != 2:
        return {"starts": 0, "named": []}
    first, second = profiles
    return {
        "starts": min(len(first.starts), len(second.starts)),
        "named": [culprit.method for culprit in culprits(first.starts, second.starts)],
    }


def _is_whole(row: Row) -> bool:
    return bool(row["starts"] >= row["wanted"])


def table(rows: Sequence[Row]) -> str:
    """Every session, and for each event and options the share of those that named any method, with its exact 95 %
    interval."""
    lines = ["| session | options | starts of each arm | named | time |", "| --- | --- | --- | --- | --- |"]
    whole: dict[str, list[Row]] = {}
    for number, row in enumerate(rows, start=1):
        options, named = " ".join(row["options"]), ", ".join(row["named"]) or "none"
        lines.append(f"| {number} | {options} | {row['starts']} | {named} | {row['seconds'] / 60:.1f} min |")
        if _is_whole(row):
            whole.setdefault(options, []).append(row)
    for options, counted in whole.items():
        wrong = sum(bool(row["named"]) for row in counted)
        low, high = exact_interval(wrong, len(counted))
        share = f"{percent(wrong / len(counted))} ({percent(low)} to {percent(high)})"
        sessions = count(len(counted), "session")
        lines += ["", f"{options}: {wrong} of {sessions} with all starts named a method: {share}."]
    return "\n".join([*lines, ""])


def main() -> None:
    """Run the sessions that are missing one after the other, and print all."""
    words, options = split_options(sys.argv[1:])
    parser = series_parser(__doc__)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--event", choices=EVENTS, default="cpu")
    parser.add_argument("--starts", type=int, default=4, help="of each arm that are profiled")
    given = parser.parse_args(words)
    folder, profiling = given.folder, (given.event, str(given.starts))
    why = why_ended(
        lambda: run_sessions(folder, given.sessions, profiling, options, launcher(folder), given.time_left)
    )
    sys.stdout.write(table(read_rows(folder / SESSIONS)))
    sys.exit(why)


if __name__ == "__main__":
    main()
