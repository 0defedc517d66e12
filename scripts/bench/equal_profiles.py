# SPDX-License-Identifier: Apache-2.0
"""How often are methods named between equal arms? Sessions of two equal arms, several profiled starts of each.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/equal_profiles.py FOLDER [--sessions 10] [--minutes N]
        [--event cpu] [--starts 4] [-- OPTIONS]

OPTIONS are those of `run`, for example a `--jdk`; the experiment is `gate`, whose two arms are the same, on the server
of `bench/planted`. Sessions and what they named are kept in FOLDER, and a second call goes on. With `--minutes 60` no
session begins that would not end in time. Of starts that were not all profiled a session says nothing.

A session names any method with a chance of 5 % at most (`analysis/culprits.py`); four starts of each arm can be
exchanged in 70 ways, two by two the same, so that it is 2 of 70 there, and ten sessions name
none with a chance of 75 %.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from session_series import (
    Launch,
    Row,
    Stopped,
    TimeLeft,
    append_row,
    launcher,
    read_rows,
    series_parser,
    split_options,
    why_ended,
)

from steelyard.analysis.culprits import culprits
from steelyard.errors import Exit
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
    words = [
        "gate",
        "--workload",
        str(WORKLOAD),
        "--blocks",
        "2",
        "--profile",
        event,
        "--profile-starts",
        starts,
    ]
    there = read_rows(folder / SESSIONS)
    longest = max((row["seconds"] for row in there), default=0.0)
    missing = sessions - len(_whole(there, int(starts)))
    for number in range(len(there) + 1, len(there) + 1 + missing):
        left.require(longest, f"session of {longest / 60:.0f} minutes")
        out, began = folder / f"{number:02d}", time.monotonic()
        ended = start(["run", *words, *options, "--resume", "--out", str(out)])
        if ended.code not in (Exit.OK, Exit.INCOMPLETE):
            raise Stopped(ended.message)
        (session,) = {path.parent for path in out.glob("*/session.json")}
        seconds = time.monotonic() - began
        longest = max(longest, seconds)
        row = {"session": str(session), "seconds": seconds, "event": event}
        append_row(folder / SESSIONS, {**row, **methods_named(session)})


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


def _whole(rows: Sequence[Row], starts: int) -> list[Row]:
    return [row for row in rows if row["starts"] >= starts]


def table(rows: Sequence[Row], starts: int) -> str:
    """Every session, and the share of those that named any method, with its exact 95 % interval."""
    lines = ["| session | event | starts of each arm | named | time |", "| --- | --- | --- | --- | --- |"]
    for number, row in enumerate(rows, start=1):
        named = ", ".join(row["named"]) or "none"
        lines.append(
            f"| {number} | {row['event']} | {row['starts']} | {named} | {row['seconds'] / 60:.1f} min |"
        )
    if whole := _whole(rows, starts):
        wrong = sum(bool(row["named"]) for row in whole)
        low, high = exact_interval(wrong, len(whole))
        share = f"{percent(wrong / len(whole))} ({percent(low)} to {percent(high)})"
        lines += ["", f"{wrong} of {count(len(whole), 'session')} with all starts named a method: {share}."]
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
    sys.stdout.write(table(read_rows(folder / SESSIONS), given.starts))
    sys.exit(why)


if __name__ == "__main__":
    main()
