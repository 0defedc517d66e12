# SPDX-License-Identifier: Apache-2.0
"""Files and command lines that nobody would write: no traceback, no hang, one short plain line (`hostile.py`).

`bench/malformed.py` shows 100,000 files in the same way.
"""

import os
import random
import sys
from collections import Counter
from pathlib import Path

import pytest
from hostile import KnownRuntimes, bounded, command_line, one
from planned import question, session_of, specs

from steelyard.cli.app import main
from steelyard.errors import Exit
from steelyard.paths import RESULTS
from steelyard.results.store import write_record
from steelyard.session.opening import new_session
from steelyard.session.workload_up import Up

SEED = 20261122
ANSWERS = {Exit.OK, *range(Exit.ENVIRONMENT, Exit.CHECK_FAILED), Exit.USAGE}
"""Of a command line, however odd: never the gate's codes, never a crash."""


@pytest.mark.parametrize("files", [60, pytest.param(200, marks=pytest.mark.full)])
def test_files_that_nobody_would_write_are_planned_or_refused_in_a_sentence(
    tmp_path: Path, files: int
) -> None:
    told = Counter(one(tmp_path, SEED + number)[2] for number in range(files))
    assert 0 < told.pop("") < files / 2, "some of them are still sound"
    assert len(told) > files / 4, "they are wrong in many ways"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with odd things in it; commands stop short of starting anything."""
    (tmp_path / "file").write_text("{}", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    for name, text in (("list", "[]"), ("half", '{"format_version": 2'), ("wrong", '{"format_version": 2}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "session.json").write_text(text, encoding="utf-8")
    (tmp_path / "session" / "trials").mkdir(parents=True)
    write_record(tmp_path / "session" / "session.json", session_of(question("jvm-count"), specs("jvm-count")))
    os.mkfifo(tmp_path / "pipe.yaml")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("steelyard.session.plan.Runtimes", KnownRuntimes)
    monkeypatch.setattr("steelyard.cli.workload.Runtimes", KnownRuntimes)
    monkeypatch.setattr("steelyard.cli.workload.workload_up.start", lambda _: Up("x", 1, []))
    for name in ("cli.run.require_idle", "cli.run.ensure_builds", "cli.run._run", "cli.run.require_ports"):
        monkeypatch.setattr(f"steelyard.{name}", lambda *_: None)
    # Without --out sessions lie in the checkout.
    usual = {RESULTS: tmp_path / "results"}
    monkeypatch.setattr(
        "steelyard.cli.run.new_session", lambda plan, out: new_session(plan, usual.get(out, out))
    )
    for name in ("workload_up.require_idle", "ensure_builds"):
        monkeypatch.setattr(f"steelyard.cli.workload.{name}", lambda *_: None)
    return tmp_path


@pytest.mark.parametrize("lines", [30, pytest.param(120, marks=pytest.mark.full)])
def test_command_lines_that_nobody_would_type_end_with_a_sentence_and_a_code(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lines: int
) -> None:
    draw = random.Random(SEED)
    codes: Counter[int] = Counter()
    for _ in range(lines):
        words = command_line(draw, place)
        monkeypatch.setattr(sys, "argv", ["steelyard", *words])
        with pytest.raises(SystemExit) as ended, bounded():
            main()
        said = capsys.readouterr()
        code = int(ended.value.code or 0)
        codes[code] += 1
        assert code in ANSWERS, (words, said.err)
        assert "Traceback" not in said.err, words
        last = said.err.splitlines()[-1] if code and said.err else ""
        assert last.isprintable(), (words, last)
        assert len(last) <= (320 if code in (Exit.BAD_INPUT, Exit.USAGE) else 1020), (words, last)
    assert codes[Exit.OK] > lines / 20
    assert codes[Exit.BAD_INPUT] > lines / 3
    assert codes[Exit.USAGE]
