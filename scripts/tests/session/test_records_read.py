# SPDX-License-Identifier: Apache-2.0
"""What a session has written is parsed once, and an edit between two readings is still found out."""

import csv
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sessions import Bench, ping

from steelyard.errors import Altered
from steelyard.measure import samples
from steelyard.regular import read_bytes
from steelyard.results import store
from steelyard.results.schema import JournalEntry, Session, Trial
from steelyard.results.store import SessionDirectory


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often files were read and records parsed, by name."""
    counts: Counter[str] = Counter()

    def read(path: Path) -> bytes:
        counts[path.name] += 1
        return read_bytes(path)

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            counts[name] += 1
            return function(*arguments)

        return call

    monkeypatch.setattr(store, "read_bytes", read)
    monkeypatch.setattr(Session, "model_validate", counted("sessions parsed", Session.model_validate))
    monkeypatch.setattr(Trial, "model_validate", counted("trials parsed", Trial.model_validate))
    parse = JournalEntry.model_validate_json
    monkeypatch.setattr(JournalEntry, "model_validate_json", counted("lines parsed", parse))
    return counts


def test_what_a_session_writes_is_parsed_once(bench: Bench, readings: Counter[str]) -> None:
    directory = bench.session(ping(), blocks=2)
    bench.run(directory, report=True)
    lines = len(directory.journal())
    assert readings["sessions parsed"] == 1
    assert readings["trials parsed"] == len(directory.trials()) == 4
    assert readings["lines parsed"] == lines
    assert readings["journal.jsonl"] < lines / 2


def test_each_line_of_the_samples_is_parsed_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def read(lines: list[str]) -> Iterator[list[str]]:
        parsed.extend(lines)
        return csv.reader(lines)

    monkeypatch.setattr(samples, "csv", SimpleNamespace(reader=read))
    warmup = {"until": "steady", "at_least": 60, "at_most": 120}
    directory = bench.session(ping(load={"users": 8, "ramp": 1, "warmup": warmup, "measure": 30}))
    assert all(trial.state == "valid" for trial in bench.run(directory))
    files = [path for path in directory.trials_path.glob("*/samples/*.csv") if path.stem != "notes"]
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(lines) > 1000
    assert Counter(parsed) == Counter(lines)


def swap(path: Path, old: bytes, new: bytes) -> None:
    """An edit that leaves the length of a file."""
    data = path.read_bytes()
    assert data.count(old) >= 1
    assert len(old) == len(new)
    path.write_bytes(data.replace(old, new, 1))


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("session.json", b'"quick": false', b'"quick": true '),
        ("trials/01-*/trial.json", b'"order": ', b'"order":1'),
        ("journal.jsonl", b'"trial-start"', b'"interrupted"'),
    ],
)
def test_an_edit_between_two_readings_is_found_out(bench: Bench, file: str, old: bytes, new: bytes) -> None:
    directory = bench.session(ping(), blocks=2)
    bench.run(directory)

    def read(directory: SessionDirectory) -> None:
        directory.session()
        directory.trials()

    read(directory)
    path = next(iter(directory.path.glob(file)))
    swap(path, old, new)
    for reader in (directory, SessionDirectory(directory.path)):
        with pytest.raises(Altered):
            read(reader)
    swap(path, new, old)
    read(directory)


def test_the_next_line_of_the_journal_is_bound_to_what_another_process_wrote(bench: Bench) -> None:
    directory = bench.session(ping())
    directory.log(1.0, "session-start")
    SessionDirectory(directory.path).log(2.0, "interrupted")
    directory.log(3.0, "session-resume")
    with (directory.path / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"time": 4')
    assert [entry.event for entry in directory.journal()] == [
        "session-start",
        "interrupted",
        "session-resume",
    ]
    directory.log(5.0, "session-end")
    assert [entry.time for entry in directory.journal()] == [1.0, 2.0, 3.0, 5.0]
    assert [entry.time for entry in SessionDirectory(directory.path).journal()] == [1.0, 2.0, 3.0, 5.0]
