# SPDX-License-Identifier: Apache-2.0
"""`bench/planted_gates.py`: what is missing is run, and shares have exact intervals."""

from typing import Any

import planted_gates as gates
import pytest

QUICK = ["--quick"]


def answered(case: str, outcome: str, options: list[str] = QUICK) -> dict[str, Any]:
    answer = {"outcome": outcome, "sentence": "", "void": 0, "trials": 12} if outcome else {}
    return {"case": case, "options": options, "code": 0, "seconds": 240.0, "answer": answer}


def test_a_second_call_runs_what_is_missing() -> None:
    there = [
        *(answered("same", "pass") for _ in range(18)),
        answered("same", ""),
        answered("same", "pass", ["--duet"]),
    ]
    assert gates.missing_cases(["same:20", "work-2"], QUICK, there) == ["same", "same", "work-2"]
    assert gates.missing_cases(["same:10"], QUICK, there) == []


def test_an_unknown_case_is_refused() -> None:
    with pytest.raises(SystemExit, match="sane is no case: give same"):
        gates.missing_cases(["sane:2"], QUICK, [])


def test_harm_is_planted_in_a_server_of_its_own() -> None:
    first, second = gates.sides_of("same", ["--workload", "ping"])
    assert first != second
    with pytest.raises(SystemExit, match="without --workload"):
        gates.sides_of("work-2", ["--workload", "ping"])
    assert gates.sides_of("work-2", []) == ("planted.rounds=1000000", "planted.rounds=1020000")


def test_shares_have_exact_intervals() -> None:
    told = gates.table([answered("same", "pass") for _ in range(20)])
    # 1 - 0.025 ** (1 / 20) is the exact bound of none of 20.
    assert "| same | --quick | 20 | pass: 20 | 100 % | 83 to 100 % | 4.0 |" in told.replace(" % to", " to")
