# SPDX-License-Identifier: Apache-2.0
"""Tests wait by `waiting.wait_until`, or by calls that block: none counts seconds itself."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.paths import ROOT

pytestmark = pytest.mark.checks
TESTS = ROOT / "scripts" / "tests"
CLOCKS = {"sleep", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"}
"""Of module `time`: what deadlines and speeds are made of. The time of day is a fact and may be read."""
EXEMPT = {
    "waiting.py",  # the one place
    "watchdog.py",  # ends what stands still
}


def waits_in(source: str) -> list[str]:
    """What in a Python file counts seconds: line and what to look at, in order."""
    tree = ast.parse(source)
    names = {"time"} | {
        one.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for one in node.names
        if one.name == "time" and one.asname
    }
    found = [
        (node.lineno, told) for node in ast.walk(tree) for told in (*_clocks(node, names), *_limits(node))
    ]
    return [f"{line}: {told}" for line, told in sorted(found)]


def _clocks(node: ast.AST, names: set[str]) -> Iterator[str]:
    match node:
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in names and name in CLOCKS:
            yield f"time.{name}"
        case ast.ImportFrom(module="time", names=imported):
            yield from (f"time.{one.name}" for one in imported if one.name in CLOCKS)
        case ast.Name(id="patience") | ast.alias(name="patience"):
            yield "patience"


def _limits(node: ast.AST) -> Iterator[str]:
    if not isinstance(node, ast.Call):
        return
    if any(one.arg == "timeout" and not _may_be(one.value) for one in node.keywords):
        yield "timeout="
    if not isinstance(node.func, ast.Attribute):
        return
    match node.func.attr, node.args:
        case "wait" | "settimeout" | "setdefaulttimeout", [seconds] if not _may_be(seconds):
            yield f"{node.func.attr}(seconds)"
        case "join" | "result" | "exception", [seconds] if _is_number(seconds):
            yield f"{node.func.attr}(seconds)"
        case "communicate" | "wait_for", [_, _]:
            yield f"{node.func.attr}(..., seconds)"
        case "get" | "acquire", [ast.Constant(value=bool()), seconds] if not _may_be(seconds):
            yield f"{node.func.attr}(..., seconds)"


def _may_be(limit: ast.expr) -> bool:
    """No limit, or one that a test means to reach."""
    match limit:
        case ast.Constant(value=None) | ast.Name(id="TINY") | ast.Attribute(attr="TINY"):
            return True
    return False


def _is_number(node: ast.expr) -> bool:
    match node:
        case ast.BinOp(left=left, right=right):
            return all(isinstance(side, ast.Name) or _is_number(side) for side in (left, right))
        case ast.Constant(value=value):
            return isinstance(value, int | float)
    return False


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_no_test_counts_seconds(path: Path) -> None:
    if str(path.relative_to(TESTS)) not in EXEMPT:
        assert waits_in(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("import time; time.sleep(1)", "time.sleep"),
        ("import time as clock; clock.monotonic()", "time.monotonic"),
        ("from time import perf_counter", "time.perf_counter"),
        ("begun = time.monotonic_ns()", "time.monotonic_ns"),
        ("monkeypatch.setattr(live, 'now', time.perf_counter)", "time.perf_counter"),
        ("from e2e.driver import call, patience", "patience"),
        ("limit = patience(240)", "patience"),
        ("subprocess.run(['true'], timeout=240)", "timeout="),
        ("urlopen(url, timeout=2 * LIMIT)", "timeout="),
        ("process.communicate(timeout=LIMIT)", "timeout="),
        ("process.communicate(None, 5)", "communicate(..., seconds)"),
        ("process.wait(60)", "wait(seconds)"),
        ("event.wait(LIMIT)", "wait(seconds)"),
        ("thread.join(2.5)", "join(seconds)"),
        ("future.result(2 * LIMIT)", "result(seconds)"),
        ("condition.wait_for(reached, 3)", "wait_for(..., seconds)"),
        ("found.get(True, 3)", "get(..., seconds)"),
        ("sock.settimeout(3)", "settimeout(seconds)"),
    ],
)
def test_what_counts_seconds_is_found(line: str, told: str) -> None:
    assert waits_in(f"x = 1\n{line}\n") == [f"2: {told}"]


@pytest.mark.parametrize(
    "line",
    [
        "began = time.time()",
        "program = 'import time; time.sleep(600)'",
        "monkeypatch.setattr('steelyard.cli.live.time.monotonic', clock)",
        "sock.settimeout(None)",
        "docker.run('pull', timeout=None)",
        "identify(java, timeout=TINY)",
        "process.wait()",
        "thread.join()",
        "', '.join([text] * 9)",
        "found.get(name, 0)",
        "wait_until(lambda: reached, 'the end', ended(process))",
        "condition.wait_for(reached)",
    ],
)
def test_what_counts_none_is_let_through(line: str) -> None:
    assert waits_in(line) == []
