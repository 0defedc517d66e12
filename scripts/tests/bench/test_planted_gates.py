# SPDX-License-Identifier: Apache-2.0
"""`bench/planted_gates.py`: what is missing is run, what was interrupted goes on, and shares have exact intervals."""

import json
import os
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import planted_gates as gates
import pytest
import session_series
from session_series import FAILURES, PAUSE, Ended, Stopped, TimeLeft, append_row, read_rows, why_ended
from waiting import wait_until

from steelyard.errors import Exit
from steelyard.gate.plan import conditions_here, plan_certification, plan_gate
from steelyard.session.plan import RunRequest

QUICK = ["--quick"]


def answered(case: str, outcome: str, options: list[str] = QUICK) -> dict[str, Any]:
    answer = {"outcome": outcome, "sentence": "", "void": 0, "trials": 12} if outcome else {}
    return {"case": case, "options": options, "code": 0, "seconds": 240.0, "answer": answer}


def test_a_second_call_runs_what_is_missing(tmp_path: Path) -> None:
    there = [
        *(answered("same", "pass") for _ in range(18)),
        answered("same", ""),
        answered("same", "pass", ["--duet"]),
    ]
    for row in there:
        append_row(tmp_path / gates.ANSWERS, row)
    rows = read_rows(tmp_path / gates.ANSWERS, QUICK)
    assert gates.missing_cases(["same:20", "work-2"], rows) == ["same", "work-2", "same"]
    assert gates.missing_cases(["same:10"], rows) == []


def test_an_unknown_case_is_refused() -> None:
    with pytest.raises(SystemExit, match="sane is no case: give same"):
        gates.missing_cases(["sane:2"], [])


def test_harm_is_planted_in_a_server_of_its_own() -> None:
    first, second = gates.sides_of("same", ["--workload", "ping"])
    assert first != second
    with pytest.raises(SystemExit, match="without --workload"):
        gates.sides_of("work-2", ["--workload", "ping"])
    assert gates.sides_of("work-2", []) == ("planted.rounds=1000000", "planted.rounds=1020000")


class Starts:
    """Commands that leave what the real ones do, and the words of each."""

    def __init__(self) -> None:
        self.words: list[list[str]] = []
        self.interrupted, self.trials, self.resumed = "", 12, Exit.OK

    def __call__(self, words: Sequence[str]) -> Ended:
        self.words.append([*words])
        if words[0] != "resume":
            session = Path(words[words.index("--out") + 1]) / f"{words[0]}-1"
            session.mkdir(parents=True)
            (session / "session.json").touch()
        if words[0] == self.interrupted:
            raise KeyboardInterrupt
        if words[0] == "resume" and self.resumed != Exit.OK:
            return Ended(self.resumed, "begun under other conditions")
        if words[0] == "certify" or "certifying" in words[1]:
            folder = next(
                self.words[0][at + 1] for at, word in enumerate(self.words[0]) if "certificates" in word
            )
            Path(folder).mkdir(exist_ok=True)
            (Path(folder) / "one.json").touch()
            return Ended(Exit.OK, "")
        answer = {
            "outcome": "pass",
            "sentence": "no worse",
            "void": 0,
            "trials": self.trials,
            "seconds": 200.0,
        }
        return Ended(Exit.OK, "", json.dumps(answer))

    @property
    def commands(self) -> list[str]:
        return [words[0] for words in self.words]


@pytest.mark.parametrize("interrupted", ["certify", "gate"])
def test_what_a_kill_interrupted_is_resumed(tmp_path: Path, interrupted: str) -> None:
    start, left = Starts(), TimeLeft(None)
    start.interrupted = interrupted
    with pytest.raises(KeyboardInterrupt):
        gates.run_gates(tmp_path, ["same:2"], QUICK, start, left)
    start.interrupted = ""
    before = len(start.words)
    gates.run_gates(tmp_path, ["same:2"], QUICK, start, left)
    expected = {"certify": ["resume", "gate", "gate"], "gate": ["resume", "gate"]}
    assert start.commands[before:] == expected[interrupted]
    assert start.words[before][1].endswith("/certify-1" if interrupted == "certify" else "/same-01/gate-1")
    rows = read_rows(tmp_path / gates.ANSWERS)
    assert [row["folder"].partition("/")[2] for row in rows] == ["same-01", "same-02"]
    gates.run_gates(tmp_path, ["same:2"], QUICK, start, left)
    assert len(start.words) == before + len(expected[interrupted])


@pytest.mark.parametrize("code", [Exit.BAD_INPUT, Exit.PROGRAM_GONE])
def test_a_certificate_that_cannot_go_on_is_made_anew(tmp_path: Path, code: Exit) -> None:
    """Under another kernel or JVM, for example."""
    start = Starts()
    start.interrupted = "certify"
    with pytest.raises(KeyboardInterrupt):
        gates.run_gates(tmp_path, ["same"], QUICK, start, TimeLeft(None))
    start.interrupted, start.resumed = "", code
    gates.run_gates(tmp_path, ["same"], QUICK, start, TimeLeft(None))
    assert start.commands == ["certify", "resume", "certify", "gate"]
    assert len(list(tmp_path.glob("of-*/certifying-refused-*/certify-1/session.json"))) == 1


def test_other_options_have_a_certificate_of_their_own(tmp_path: Path) -> None:
    """The first one's did not hold for them, and each gate was inconclusive in three seconds."""
    start = Starts()
    for options in (QUICK, [*QUICK, "--duet"]):
        gates.run_gates(tmp_path, ["same"], options, start, TimeLeft(None))
    assert start.commands == ["certify", "gate"] * 2


def test_gates_without_a_trial_are_no_answers_and_end_the_series(tmp_path: Path) -> None:
    start, pauses = Starts(), list[float]()
    start.trials = 0
    with pytest.raises(Stopped, match=f"{FAILURES} gates in a row said nothing: no worse"):
        gates.run_gates(tmp_path, ["same:9"], QUICK, start, TimeLeft(None), pauses.append)
    assert pauses == [PAUSE] * (FAILURES - 1)
    rows = read_rows(tmp_path / gates.ANSWERS)
    assert gates.missing_cases(["same:9"], rows) == ["same"] * 9
    assert "pass:" not in gates.table(rows)


def test_no_gate_begins_that_would_not_end_in_time(tmp_path: Path) -> None:
    append_row(tmp_path / gates.ANSWERS, {**answered("same", "pass"), "seconds": 601.0})
    with pytest.raises(Stopped, match="no time for another gate of 10 minutes"):
        gates.run_gates(tmp_path, ["same:2"], QUICK, Starts(), TimeLeft(10))


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (None, None),
        (Stopped("no time"), "no time"),
        (KeyboardInterrupt(), "interrupted: the same call goes on"),
    ],
)
def test_only_a_series_that_ended_early_has_a_reason(error: BaseException | None, why: str | None) -> None:
    """What is no reason is exit code 0; an empty one would be 1."""

    def series() -> None:
        if error is not None:
            raise error

    assert why_ended(series) == why


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_series_that_is_ended_ends_its_command_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    command = tmp_path / "steelyard"
    command.write_text(
        "#!/bin/sh\ntrap 'echo in order >&2; exit 130' TERM\ntouch \"$1\"\nwhile :; do sleep 0.05; done\n"
    )
    command.chmod(0o755)
    monkeypatch.setattr(session_series, "ROOT", tmp_path)
    begun = tmp_path / "begun"

    def end() -> None:
        try:
            wait_until(begun.exists, "the command at work")
        finally:
            os.kill(os.getpid(), number)

    launch = session_series.launcher(tmp_path)
    with ThreadPoolExecutor(1) as pool:
        ending = pool.submit(end)
        assert why_ended(lambda: launch([str(begun)])) == "interrupted: the same call goes on"
        ending.result()
    assert (tmp_path / session_series.LOG).read_text() == "in order\n"


def test_a_line_that_a_kill_cut_off_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    append_row(path, {"number": 1})
    with path.open("a", encoding="utf-8") as file:
        file.write('{"number": 2, "sec')
    append_row(path, {"number": 3})
    assert [row["number"] for row in read_rows(path)] == [1, 3]


@pytest.mark.parametrize("case", sorted(gates.CASES))
def test_the_certificate_holds_for_each_case(case: str) -> None:
    """It is made of the baseline of `same`; those of other cases name other settings, with their usual values."""
    request = RunRequest("gate", workload=str(gates.HERE / "workload.yaml"), quick=True, seed=3)
    certified = plan_certification(request, gates.sides_of("same", [])[0])
    sides = dict(zip(("baseline", "candidate"), gates.sides_of(case, []), strict=True))
    plan = plan_gate(request, sides, gates.CASES[case][1])
    assert conditions_here(plan, None) == conditions_here(certified, None)


def test_shares_have_exact_intervals() -> None:
    told = gates.table([answered("same", "pass") for _ in range(20)])
    # 1 - 0.025 ** (1 / 20) is the exact bound of none of 20.
    assert "| same | --quick | 20 | pass: 20 | 100 % | 83 to 100 % | 4.0 |" in told.replace(" % to", " to")
