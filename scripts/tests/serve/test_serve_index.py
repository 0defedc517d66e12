# SPDX-License-Identifier: Apache-2.0
"""The list of sessions: its rows, when they are read again, and the filters."""

from dataclasses import replace
from pathlib import Path

import pytest
import sample
from kept_sessions import HOSTILE, make_session_of, write_copies, write_ended, write_session

from steelyard.regular import read_bytes
from steelyard.serve import index as index_module
from steelyard.serve.filters import Choices, Filters, choices
from steelyard.serve.index import Index, SessionRow, commits_of

SMALL = replace(sample.two_arm_plan(), blocks=2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One session that has ended, one that has not, one that is damaged, and what is no session."""
    write_ended(tmp_path, 1, plan=replace(SMALL, title=HOSTILE), report=False)
    session, trials = make_session_of(replace(SMALL, name="later"), 5, 0, "9a8b7c6")
    write_session(tmp_path, session, trials[:2])
    damaged = write_ended(tmp_path, 2, plan=SMALL, report=False)
    (damaged.path / "session.json").write_text("{", encoding="utf-8")
    (tmp_path / "notes").mkdir()
    (tmp_path / "file").touch()
    return tmp_path


def test_each_session_has_a_row_whatever_its_state(folder: Path) -> None:
    later, ended, damaged = Index(folder, None).rows()
    assert (later.state, later.trials, later.answer) == ("unfinished", 2, [])
    assert (ended.state, ended.trials, ended.void, len(ended.commits)) == ("ended", 4, 0, 1)
    assert ended.answer[0].startswith("No difference in throughput")
    assert "\x1b" not in ended.title
    assert damaged.state == "unreadable"
    assert "session.json" in damaged.answer[0]


def test_a_row_is_read_again_only_where_a_file_has_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = folder.parent / f"{folder.name}-kept.json"
    first = Index(folder, kept)
    before = first.rows()
    read: list[str] = []
    original = index_module.read_row

    def count(path: Path) -> SessionRow:
        read.append(path.name)
        return original(path)

    monkeypatch.setattr(index_module, "read_row", count)
    assert first.rows() == before
    assert Index(folder, kept).rows() == before
    assert read == []
    session = folder / before[1].folder
    (session / "report.html").write_text("<html>", encoding="utf-8")
    assert first.rows()[1].report
    assert read == [session.name]
    kept.write_text('{"rows": 7}', encoding="utf-8")
    assert len(Index(folder, kept).rows()) == 3


def test_two_hundred_sessions_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, folder = tmp_path / "kept.json", write_copies(tmp_path / "results", 200)
    before = Index(folder, kept).rows()
    assert len({row.folder for row in before}) == 200
    opened: list[Path] = []

    def read_and_count(path: Path) -> bytes:
        opened.append(path)
        return read_bytes(path)

    def read_row(path: Path) -> SessionRow:
        raise AssertionError(f"{path} is read again")

    monkeypatch.setattr(index_module, "read_bytes", read_and_count)
    monkeypatch.setattr(index_module, "read_row", read_row)
    again = Index(folder, kept)
    assert again.rows() == again.rows() == before
    assert opened == [kept], "the rows of all sessions come from one file"


def test_a_folder_that_goes_away_has_no_rows(tmp_path: Path) -> None:
    assert Index(tmp_path / "gone", None).rows() == []


def row(**changes: object) -> SessionRow:
    fields: dict[str, object] = {
        "folder": "pages-1",
        "title": "Page sizes",
        "state": "ended",
        "answer": ["No difference"],
        "workload": "ping 2",
        "host": "lab",
        "commits": ["3f2c1ab", "9a8b7c6"],
    }
    return SessionRow.model_validate(fields | changes)


@pytest.mark.parametrize(
    ("query", "admitted"),
    [
        ({}, True),
        ({"workload": ["ping 2"], "host": ["lab"], "commit": ["3f2c"]}, True),
        ({"commit": ["9a8b7c6"]}, True),
        ({"commit": ["2c1"]}, False),
        ({"workload": ["ping"]}, False),
        ({"host": ["ci"]}, False),
        ({"text": ["  DIFFERENCE pages "]}, True),
        ({"text": ["regression"]}, False),
        ({"other": ["x"], "text": [""]}, True),
    ],
)
def test_a_row_is_shown_where_all_that_is_asked_for_holds(
    query: dict[str, list[str]], admitted: bool
) -> None:
    assert Filters.of_query(query).admit(row()) is admitted


def test_choices_are_what_there_is() -> None:
    rows = [row(), row(host="ci", commits=[]), row(host="", workload="", commits=["3f2c1ab"])]
    assert choices(rows) == Choices(
        workloads=[("ping 2", 2)], hosts=[("lab", 1), ("ci", 1)], commits=[("3f2c1ab", 2), ("9a8b7c6", 1)]
    )


def test_commits_are_those_that_were_compared() -> None:
    session, _ = make_session_of(SMALL, 0, 0, "3f2c1ab")
    assert commits_of(session) == ["3f2c1ab"]
    arms = [
        arm.model_copy(update={"settings": {**arm.settings, "build": build}})
        for arm, build in zip(session.arms, ("aaa", "bbb"), strict=True)
    ]
    assert commits_of(session.model_copy(update={"arms": arms})) == ["aaa", "bbb"]
