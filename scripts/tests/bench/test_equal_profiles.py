# SPDX-License-Identifier: Apache-2.0
"""`bench/equal_profiles.py`: what it makes of profiles of equal arms, and that it goes on where it ended."""

from collections.abc import Sequence
from pathlib import Path

import equal_profiles as series
import pytest
from session_series import Ended, Stopped, TimeLeft, read_rows

from steelyard.errors import Exit
from steelyard.results.profile import RECORD, Profile
from steelyard.results.store import write_record

PROFILING = ("cpu", "4")


class Starts:
    """Sessions of two arms whose profiles are given: by number the milliseconds of a method in each start."""

    def __init__(self, costs: dict[int, dict[str, list[int]]], code: int = Exit.INCOMPLETE) -> None:
        self.costs, self.code = costs, code
        self.words: list[Sequence[str]] = []

    def __call__(self, words: Sequence[str]) -> Ended:
        self.words.append(words)
        out = Path(words[words.index("--out") + 1])
        session = out / "gate-20261126T120000Z"
        session.mkdir(parents=True, exist_ok=True)
        (session / "session.json").touch()
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
        return Ended(self.code, "three trials in a row did not start")


EQUAL = {"one": [20, 23, 21, 24], "other": [22, 21, 24, 20]}
MORE = {"one": [20, 23, 21, 24], "other": [42, 41, 44, 40]}


def test_sessions_that_name_a_method_are_counted_and_none_is_run_twice(tmp_path: Path) -> None:
    start = Starts({1: EQUAL, 2: MORE, 3: EQUAL})
    series.run_sessions(tmp_path, 2, PROFILING, ["--jdk", "x"], start, TimeLeft(None))
    assert start.words[0][-5:-1] == ["--jdk", "x", "--resume", "--out"]
    series.run_sessions(tmp_path, 3, PROFILING, [], start, TimeLeft(None))
    assert len(start.words) == 3
    rows = read_rows(tmp_path / series.SESSIONS)
    assert [row["starts"] for row in rows] == [4, 4, 4]
    assert [bool(row["named"]) for row in rows] == [False, True, False]
    # The exact interval of 1 in 3 (Clopper and Pearson).
    last = series.table(rows, 4).splitlines()[-1]
    assert last == "1 of 3 sessions with all starts named a method: 33 % (0.8 % to 91 %)."


def test_a_session_with_too_few_starts_says_nothing_and_another_takes_its_place(tmp_path: Path) -> None:
    start = Starts({1: {"one": [20], "other": [22, 21]}, 2: EQUAL})
    series.run_sessions(tmp_path, 1, PROFILING, [], start, TimeLeft(None))
    series.run_sessions(tmp_path, 1, PROFILING, [], start, TimeLeft(None))
    rows = read_rows(tmp_path / series.SESSIONS)
    assert [row["starts"] for row in rows] == [1, 4]
    assert series.table(rows, 4).splitlines()[-1].startswith("0 of 1 session with all starts")


def test_it_ends_when_time_is_up_or_a_session_does_not_come_to_its_profiles(tmp_path: Path) -> None:
    now = [0.0]
    with pytest.raises(Stopped, match="did not start"):
        series.run_sessions(
            tmp_path, 1, PROFILING, [], Starts({1: {}}, code=Exit.SERVER_FAILED), TimeLeft(None)
        )
    assert read_rows(tmp_path / series.SESSIONS) == []
    left = TimeLeft(1.0, lambda: now[0])
    now[0] = 61.0
    with pytest.raises(Stopped, match="no time for another session"):
        series.run_sessions(tmp_path, 1, PROFILING, [], Starts({1: EQUAL}), left)
