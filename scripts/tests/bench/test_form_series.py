# SPDX-License-Identifier: Apache-2.0
"""`bench/quick_forms.py`: forms run once, go on after an interrupt, and what cannot run says why."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import quick_forms as series
from commands import run_command
from fake_engine import World
from session_series import Ended, TimeLeft, append_row, folder_of
from sessions import Bench

from pages import quick_forms
from steelyard.errors import Exit
from steelyard.results.store import SessionDirectory

OPTIONS = [
    *("--set", "total_heap=64m", "--set", "jvms=1", "--set", "threads=6,7", "--set", "users=8"),
    *("--set", "ramp=1", "--set", "warmup=2s", "--set", "measure=4s", "--seed", "5"),
]
"""Two arms of one server, which tells that it has that heap, and short windows."""


class Starts:
    """Commands in this process on the fake engine, and the words of each."""

    def __init__(self, bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
        self.words: list[list[str]] = []
        self._bench, self._capsys = bench, capsys

    def __call__(self, words: Sequence[str]) -> Ended:
        self.words.append([*words])
        port = ["--port", str(self._bench.port)] if words[0] == "run" else []
        result = run_command(self._capsys, *words, *port)
        return Ended(result.code, (result.err.strip().splitlines() or [""])[-1], result.out)


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Starts:
    world = World(ready_after=0.1)
    world.throughput = lambda _spec: 200 * world.start_level(7, 0.02)
    bench = Bench(tmp_path, world)
    bench.take_commands(monkeypatch)
    return Starts(bench, capsys)


def test_a_form_is_measured_once_and_fills_the_page(
    start: Starts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = tmp_path / "records.json"
    records.write_text("[]", encoding="utf-8")
    monkeypatch.setattr(quick_forms, "MEASURED", records)
    monkeypatch.setattr(quick_forms, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(quick_forms, "make_page", lambda: "made")
    folder = tmp_path / "forms"
    (row,) = series.run_forms(folder, ["jvm-count"], OPTIONS, start, page=True)
    assert "reason" not in row, row
    assert (row["usable_blocks"], row["trials"]) == (5, 10)
    assert [words[:3] for words in start.words] == [
        ["plan", "jvm-count", "--quick"],
        ["run", "jvm-count", "--quick"],
    ]
    plan = start.words[0]
    assert not Path(
        plan[plan.index("--out") + 1]
    ).exists()  # no session there changes the form that is planned
    (record,) = json.loads(records.read_text(encoding="utf-8"))
    assert (record["experiment"], record["detects"]) == ("jvm-count", row["detects"])
    assert series.run_forms(folder, ["jvm-count"], OPTIONS, start, page=True) == [row]
    assert len(start.words) == 2


def test_a_session_that_ended_after_a_kill_of_its_series_is_recorded(start: Starts, tmp_path: Path) -> None:
    def killed(words: Sequence[str]) -> Ended:
        ended = start(words)
        if words[0] == "run":
            raise KeyboardInterrupt
        return ended

    with pytest.raises(KeyboardInterrupt):
        series.run_forms(tmp_path, ["jvm-count"], OPTIONS, killed)
    (session,) = tmp_path.glob("of-*/jvm-count-01/*/session.json")
    (session.parent / "analysis.json").unlink()  # the kill came before it
    (row,) = series.run_forms(tmp_path, ["jvm-count"], OPTIONS, start, time_left=TimeLeft(0))
    assert [words[0] for words in start.words] == ["plan", "run"]
    assert (row["session"], row["code"], row["usable_blocks"]) == (str(session.parent), Exit.OK, 5)
    directory = SessionDirectory(session.parent)
    assert row["seconds"] == pytest.approx(directory.journal()[-1].time - directory.journal()[0].time)


def test_a_session_that_cannot_go_on_is_moved_aside_and_another_one_runs(tmp_path: Path) -> None:
    """Under another kernel, for example."""
    calls: list[str] = []
    session = folder_of(tmp_path, []) / "jvm-count-01" / "jvm-count-1" / "session.json"

    def start(words: Sequence[str]) -> Ended:
        calls.append(words[0])
        if words[0] == "run" and session.exists():
            return Ended(Exit.BAD_INPUT, "begun under other conditions")
        return Ended(Exit.OK, "", '{"expected_seconds": [300, 600]}')

    session.parent.mkdir(parents=True)
    session.touch()
    series.run_forms(tmp_path, ["jvm-count"], [], start)
    assert calls == ["plan", "run", "run"]
    assert len(list(tmp_path.glob("of-*/jvm-count-01-refused-*/jvm-count-1/session.json"))) == 1


def test_what_was_measured_with_other_options_does_not_count(tmp_path: Path) -> None:
    calls: list[str] = []

    def start(words: Sequence[str]) -> Ended:
        calls.append(words[0])
        return Ended(Exit.BAD_INPUT, "refused")

    row = {"name": "jvm-count", "code": Exit.OK, "session": "s", "detects": 0.1, "options": ["--jdk", "x"]}
    append_row(tmp_path / series.FORMS, row)
    series.run_forms(tmp_path, ["jvm-count"], ["--jdk", "x"], start)
    assert calls == []
    series.run_forms(tmp_path, ["jvm-count"], [], start)
    assert calls == ["plan"]


def test_what_cannot_run_here_says_why_and_is_tried_again(start: Starts, tmp_path: Path) -> None:
    for _ in range(2):
        (row,) = series.run_forms(tmp_path, ["jvm-count"], ["--set", "jvms=nonsense"], start)
        assert row["code"] == Exit.BAD_INPUT
        assert "jvms" in row["reason"]
    assert [words[0] for words in start.words] == ["plan", "plan"]
    assert "| jvm-count | not measured |" in series.table([row])


def test_a_form_whose_trials_were_void_is_tried_again_and_a_search_is_not(tmp_path: Path) -> None:
    calls: list[str] = []

    def start(words: Sequence[str]) -> Ended:
        calls.append(words[0])
        return Ended(Exit.OK, "", '{"expected_seconds": [300, 600]}')

    ended = {"session": str(tmp_path), "seconds": 300.0, "reason": "tells no spread", "options": []}
    for name, code in (("jvm-count", Exit.INCOMPLETE), ("capacity", Exit.OK)):
        append_row(tmp_path / series.FORMS, {**ended, "name": name, "code": code})
    series.run_forms(tmp_path, ["jvm-count", "capacity"], [], start)
    assert calls == ["plan", "run"]


def test_a_form_that_would_not_end_in_time_is_left_for_the_next_call(tmp_path: Path) -> None:
    calls: list[str] = []

    def start(words: Sequence[str]) -> Ended:
        calls.append(words[0])
        return Ended(Exit.OK, "", '{"expected_seconds": [300, 660]}')

    (row,) = series.run_forms(tmp_path, ["jvm-count"], [], start, time_left=TimeLeft(10))
    assert (calls, row["reason"]) == (["plan"], "takes 11 minutes, more than were left")
    assert series.newest_rows(tmp_path, []) == {}


def test_an_interrupt_ends_the_series_and_the_next_call_goes_on(tmp_path: Path) -> None:
    calls: list[list[str]] = []

    def interrupted(words: Sequence[str]) -> Ended:
        calls.append([*words])
        if words[0] == "run":
            raise KeyboardInterrupt
        return Ended(Exit.OK, "", '{"expected_seconds": [300, 600]}')

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            series.run_forms(tmp_path, ["jvm-count"], [], interrupted)
    assert series.newest_rows(tmp_path, []) == {}
    out = folder_of(tmp_path, []) / "jvm-count-01"
    assert calls[1] == calls[3] == ["run", "jvm-count", "--quick", "--resume", "--out", str(out)]
