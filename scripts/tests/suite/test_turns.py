# SPDX-License-Identifier: Apache-2.0
"""Suites of one host take turns."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import ended, wait_until

SUITE = """
import sys
from turns import take_turn
print("asks", flush=True)
with take_turn(sys.argv[1]):
    print("has it", flush=True)
    sys.stdin.read()
"""


def suite(name: str) -> subprocess.Popen[str]:
    """Another suite, which keeps the turn until its input ends."""
    paths = os.pathsep.join(str(Path(__file__).parents[up]) for up in (1, 2))
    return subprocess.Popen(
        [sys.executable, "-c", SUITE, name],
        env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def waiting_at(name: str) -> bool:
    """Whether somebody is in the queue of whoever has the turn."""
    return Path("/proc/net/unix").read_text(encoding="utf-8").count(f" @{name}\n") > 1


@pytest.mark.parametrize("way", ["ends", "is killed"])
def test_whoever_waits_has_the_turn_after_the_other(way: str) -> None:
    name = f"turn-{os.getpid()}"
    with suite(name) as first:
        assert first.stdout
        assert [first.stdout.readline() for _ in range(2)] == ["asks\n", "has it\n"]
        with suite(name) as second:
            wait_until(lambda: waiting_at(name), "the second one in the queue", ended(second))
            first.kill() if way == "is killed" else first.communicate("")
            assert second.communicate("")[0] == "asks\nhas it\n"


def test_no_test_takes_the_lock_of_sessions_out_of_turn() -> None:
    """The sessions of a suite whose turn it is would be refused meanwhile."""
    sources = [path.read_text(encoding="utf-8") for path in Path(__file__).parents[1].rglob("*.py")]
    asks = {
        function.name: "turn" in {argument.arg for argument in function.args.args}
        for source in sources
        if "host_lock" in source
        for function in ast.walk(ast.parse(source))
        if isinstance(function, ast.FunctionDef)
        and any(
            isinstance(call, ast.Call) and ast.unparse(call) == "host_lock()" for call in ast.walk(function)
        )
    }
    assert asks == {"host": True}
