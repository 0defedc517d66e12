# SPDX-License-Identifier: Apache-2.0
"""`bench/equal_profiles.py`: what it makes of profiles of equal arms, and that it goes on where it ended."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import equal_profiles as series
import pytest
from session_series import Ended, Stopped, TimeLeft, find_ended, folder_of, read_rows, seconds_run

from steelyard.errors import Exit
from steelyard.results.profile import RECORD, Profile
from steelyard.results.store import SessionDirectory, write_record

PROFILING = ("cpu", "4")


class Starts:
    """Sessions of two arms whose profiles are given: by number the milliseconds of a method in each start.

    Args:
        ends: how they end, one after the other; the last one holds for the others too. By `None` the series is killed.
    """

    def __init__(self, costs: dict[int, dict[str, list[int]]], *ends: Exit | None) -> None:
        self.costs, self.ends = costs, list(ends or [Exit.INCOMPLETE])
        self.words: list[Sequence[str]] = []

    def __call__(self, words: Sequence[str]) -> Ended:
        self.words.append(words)
        end = self.ends.pop(0) if len(self.ends) > 1 else self.ends[0]
        if end == Exit.PROGRAM_GONE:
            return Ended(end, "the JVM is another")
        out = Path(words[words.index("--out") + 1])
        if end != Exit.SERVER_FAILED:
            self.make_session(out)
        if end is None:
            raise KeyboardInterrupt
        return Ended(end, "three trials in a row did not start")

    def make_session(self, out: Path) -> None:
        """As it is when it has ended, two minutes after it began."""
        session = out / "gate-20261126T120000Z"
        for arm, costs in self.costs[int(out.name)].items():
            for start, cost in enumerate(costs, start=1):
                folder = session / "profiles" / arm / f"cpu-{start}"
                (folder / "server").mkdir(parents=True)
                text = f"a/Main.run_[0];a/Cart.total_[j] {cost}000000\na/Main.run_[0] {100 - cost}000000\n"
                (folder / "server" / "cpu-0.collapsed").write_text(text, encoding="utf-8")
                record = Profile(
                    arm=arm,
                    event="cpu",
                    start=start,
                    slice_seconds=2.0,
                    slices={"server": ["cpu-0.collapsed"]},
                    request_rate=100.0,
                    throughput_change=None,
                )
                write_record(folder / RECORD, record)
        keep_journal(session, {"session-start": 1000, "session-end": 1120})


def keep_journal(session: Path, events: Mapping[str, float]) -> None:
    """A session of which nothing is known but when things happened."""
    session.mkdir(parents=True, exist_ok=True)
    (session / "session.json").touch()
    for event, time in events.items():
        SessionDirectory(session).log(time, event)


EQUAL = {"one": [20, 23, 21, 24], "other": [22, 21, 24, 20]}
MORE = {"one": [20, 23, 21, 24], "other": [42, 41, 44, 40]}


def test_sessions_that_name_a_method_are_counted_and_none_is_run_twice(tmp_path: Path) -> None:
    start, options = Starts({1: EQUAL, 2: MORE, 3: EQUAL}), ["--jdk", "x"]
    series.run_sessions(tmp_path, 2, PROFILING, options, start, TimeLeft(None))
    assert start.words[0][-5:-1] == ["--jdk", "x", "--resume", "--out"]
    series.run_sessions(tmp_path, 3, PROFILING, options, start, TimeLeft(None))
    assert len(start.words) == 3
    rows = read_rows(tmp_path / series.SESSIONS)
    assert [row["starts"] for row in rows] == [4, 4, 4]
    assert [bool(row["named"]) for row in rows] == [False, True, False]
    # The exact interval of 1 in 3 (Clopper and Pearson).
    named = "1 of 3 sessions with all starts named a method: 33 % (0.8 % to 91 %)."
    assert series.table(rows).splitlines()[-1] == f"--profile cpu --profile-starts 4 --jdk x: {named}"


def test_sessions_of_another_event_or_other_options_are_counted_apart(tmp_path: Path) -> None:
    start = Starts({1: EQUAL, 2: MORE})
    for event, options in (("cpu", []), ("alloc", []), ("cpu", ["--jdk", "x"])):
        series.run_sessions(tmp_path, 1, (event, "4"), options, start, TimeLeft(None))
    assert len(start.words) == 3
    told = series.table(read_rows(tmp_path / series.SESSIONS))
    assert [line.partition(":")[0] for line in told.splitlines() if "0 of 1 session with" in line] == [
        "--profile cpu --profile-starts 4",
        "--profile alloc --profile-starts 4",
        "--profile cpu --profile-starts 4 --jdk x",
    ]


def test_a_session_with_too_few_starts_says_nothing_and_another_takes_its_place(tmp_path: Path) -> None:
    start = Starts({1: {"one": [20], "other": [22, 21]}, 2: EQUAL})
    series.run_sessions(tmp_path, 1, PROFILING, [], start, TimeLeft(None))
    series.run_sessions(tmp_path, 1, PROFILING, [], start, TimeLeft(None))
    rows = read_rows(tmp_path / series.SESSIONS)
    assert [row["starts"] for row in rows] == [1, 4]
    assert ": 0 of 1 session with all starts" in series.table(rows).splitlines()[-1]


@pytest.mark.parametrize("more", [0, 1])
def test_a_session_that_ended_after_a_kill_of_its_series_is_counted(tmp_path: Path, more: int) -> None:
    """It needs no time any more, and another one beside it does no harm."""
    start, over = Starts({1: EQUAL}, None), TimeLeft(-1)
    with pytest.raises(KeyboardInterrupt):
        series.run_sessions(tmp_path, 1, PROFILING, [], start, TimeLeft(None))
    (session,) = tmp_path.glob("of-*/01/*")
    for number in range(more):
        keep_journal(session.with_name(f"gate-{number}"), {"session-start": 10, "session-end": 20})
        os.utime(session.with_name(f"gate-{number}") / "session.json", (1, 1))
    series.run_sessions(tmp_path, 1, PROFILING, [], start, over)
    (row,) = read_rows(tmp_path / series.SESSIONS)
    assert (row["session"], row["starts"], row["seconds"]) == (str(session), 4, 120.0)
    assert len(start.words) == 1


def test_a_session_that_cannot_go_on_is_moved_aside_and_another_one_runs(tmp_path: Path) -> None:
    start = Starts({1: EQUAL}, Exit.PROGRAM_GONE, Exit.OK)
    asked = ["--profile", "cpu", "--profile-starts", "4"]
    begun = folder_of(tmp_path, asked) / "01" / "gate-1"
    keep_journal(begun, {"session-start": 10, "interrupted": 20})
    series.run_sessions(tmp_path, 1, PROFILING, [], start, TimeLeft(None))
    assert start.words[0] == start.words[1]
    assert [path.name for path in tmp_path.glob("of-*/01-refused-*/*")] == ["gate-1"]
    assert [row["starts"] for row in read_rows(tmp_path / series.SESSIONS)] == [4]


def test_a_session_takes_what_it_took_before_and_after_an_interrupt(tmp_path: Path) -> None:
    events = {"session-start": 100, "interrupted": 400, "session-resume": 5000, "session-end": 5060}
    keep_journal(tmp_path / "gate-1", events)
    session = find_ended(tmp_path)
    assert session is not None
    assert seconds_run(session) == 360.0


def test_it_ends_when_time_is_up_or_a_session_does_not_come_to_its_profiles(tmp_path: Path) -> None:
    now = [0.0]
    with pytest.raises(Stopped, match="did not start"):
        series.run_sessions(tmp_path, 1, PROFILING, [], Starts({}, Exit.SERVER_FAILED), TimeLeft(None))
    assert read_rows(tmp_path / series.SESSIONS) == []
    left = TimeLeft(1.0, lambda: now[0])
    now[0] = 61.0
    with pytest.raises(Stopped, match="no time for another session"):
        series.run_sessions(tmp_path, 1, PROFILING, [], Starts({1: EQUAL}), left)
