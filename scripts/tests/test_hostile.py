# SPDX-License-Identifier: Apache-2.0
"""Files and command lines that nobody would write: no traceback, no hang, one short plain line (`hostile.py`).

`--hypothesis-profile=exhaustive` shows 100,000 of each, drawn anew each time (`conftest.py`).
"""

import itertools
import os
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import yaml
from hostile import (
    HERE,
    LONGEST,
    HostileFile,
    KnownResolver,
    TooMuchWorkError,
    bounded,
    command_lines,
    hostile_files,
    planned_or_refused,
)
from hypothesis import Phase, given, settings
from planned import question, session_of, specs

from steelyard.cli.app import main
from steelyard.errors import BadInput, Exit
from steelyard.paths import RESULTS
from steelyard.session.opening import new_session
from steelyard.session.workload_up import Up

ANSWERS = {Exit.OK, *range(Exit.ENVIRONMENT, Exit.CHECK_FAILED), Exit.USAGE}
"""Of a command line, however odd: never the gate's codes, never a crash."""


def shows(cases: int) -> settings:
    """So many cases, or as many as the profile says where those are more."""
    return settings(max_examples=max(cases, settings().max_examples))


@pytest.mark.parametrize("cases", [60, pytest.param(200, marks=pytest.mark.full)])
def test_files_that_nobody_would_write_are_planned_or_refused_in_a_sentence(
    tmp_path: Path, cases: int
) -> None:
    answers: Counter[str] = Counter()

    @shows(cases)
    @given(hostile_files())
    def show(file: HostileFile) -> None:
        answers[planned_or_refused(file, tmp_path)] += 1

    show()
    accepted = answers.pop("")
    assert 0 < accepted < answers.total(), "some of them are still sound"
    assert len(answers) > cases / 5, "they are wrong in many ways"


def test_a_crash_that_is_planted_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(path: Path, *_: object, **__: object) -> object:
        return yaml.safe_load(path.read_text(encoding="utf-8"))

    @settings(report_multiple_bugs=False, phases=[Phase.generate])
    @given(hostile_files())
    def show(file: HostileFile) -> None:
        planned_or_refused(file, tmp_path)

    monkeypatch.setattr("hostile.load_experiment", careless)
    with pytest.raises((yaml.YAMLError, UnicodeDecodeError)):
        show()


@pytest.mark.parametrize(
    "said", ["", "FILE" + "x" * LONGEST, "FILE\ntwo lines", "FILE \x1b[31mred", "not of the file"]
)
def test_a_sentence_that_is_not_short_and_plain_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    class Raw(BadInput):
        def __str__(self) -> str:  # as it is: others are made plain where they are raised
            return said.replace("FILE", "experiment-0.yaml")

    def refuse(*_: object, **__: object) -> object:
        raise Raw("")

    monkeypatch.setattr("hostile._NUMBERS", itertools.count())
    monkeypatch.setattr("hostile.load_experiment", refuse)
    file = HostileFile("experiment", "", b"", beside="", quick=False, as_json=False)
    with pytest.raises(AssertionError):
        planned_or_refused(file, tmp_path)


def test_what_takes_too_long_is_ended_and_found() -> None:
    def stand_still() -> None:
        while True:
            pass

    with pytest.raises(TooMuchWorkError), bounded(0.1):
        stand_still()


@pytest.fixture
def stops_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands stop short of starting anything."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("steelyard.session.plan.RuntimeResolver", KnownResolver)
    monkeypatch.setattr("steelyard.cli.workload.RuntimeResolver", KnownResolver)
    monkeypatch.setattr(
        "steelyard.cli.workload.workload_up.start", lambda _: Up(workload="x", keeper=1, servers=[])
    )
    for name in ("cli.run.require_idle", "cli.run.ensure_builds", "cli.run._run", "cli.run.require_ports"):
        monkeypatch.setattr(f"steelyard.{name}", lambda *_: None)
    # Without --out sessions lie in the checkout.
    monkeypatch.setattr(
        "steelyard.cli.run.new_session",
        lambda plan, out: new_session(plan, tmp_path / "results" if out == RESULTS else out),
    )
    for name in ("workload_up.require_idle", "ensure_builds"):
        monkeypatch.setattr(f"steelyard.cli.workload.{name}", lambda *_: None)


@cache
def session_record() -> str:
    return session_of(question("jvm-count"), specs("jvm-count")).model_dump_json(by_alias=True)


def odd_place(folder: Path) -> Path:
    """The folder, with odd things in it."""
    folder.mkdir()
    (folder / "file").write_text("{}", encoding="utf-8")
    (folder / "empty").mkdir()
    for name, text in (("list", "[]"), ("half", '{"format_version": 2'), ("wrong", '{"format_version": 2}')):
        (folder / name).mkdir()
        (folder / name / "session.json").write_text(text, encoding="utf-8")
    (folder / "session" / "trials").mkdir(parents=True)
    (folder / "session" / "session.json").write_text(session_record(), encoding="utf-8")
    os.mkfifo(folder / "pipe.yaml")
    return folder


@pytest.mark.parametrize("cases", [60, pytest.param(200, marks=pytest.mark.full)])
@pytest.mark.usefixtures("stops_short")
def test_command_lines_that_nobody_would_type_end_with_a_sentence_and_a_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cases: int
) -> None:
    codes: Counter[int] = Counter()

    @shows(cases)
    @given(command_lines())
    def type_it(words: list[str]) -> None:
        code, last = ended(words, odd_place(tmp_path / str(codes.total())), monkeypatch, capsys)
        codes[code] += 1
        assert last.isprintable(), last
        assert len(last) <= (320 if code in (Exit.BAD_INPUT, Exit.USAGE) else 1020), last

    type_it()
    assert codes[Exit.OK] > codes.total() / 20
    assert codes[Exit.BAD_INPUT] > codes.total() / 5
    assert codes[Exit.USAGE]


def ended(
    words: list[str], place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """How a command line ends in a place: its code, and its last line of standard error."""
    with monkeypatch.context() as patch:
        patch.chdir(place)
        patch.setattr(sys, "argv", ["steelyard", *(word.replace(HERE, str(place)) for word in words)])
        with pytest.raises(SystemExit) as end, bounded():
            main()
    said = capsys.readouterr()
    code = int(end.value.code or 0)
    assert code in ANSWERS, said.err
    assert "Traceback" not in said.err
    return code, said.err.splitlines()[-1] if code and said.err else ""


@pytest.mark.usefixtures("stops_short")
def test_a_crash_of_a_command_that_is_planted_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def crash(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("steelyard.cli.plan.make_plan", crash)
    with pytest.raises(AssertionError):
        ended(["plan", "jvm-count"], odd_place(tmp_path / "place"), monkeypatch, capsys)
