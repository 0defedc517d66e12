# SPDX-License-Identifier: Apache-2.0
"""Stages that are skipped, that need each other, and that give back what was started."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.host.tools import Maven
from steelyard.suite.containers import why_no_engine
from steelyard.suite.runner import Outcome, Stage, run_all
from steelyard.suite.stages import Choice, stages

PASS, FAIL = [sys.executable, "-c", "print('said')"], [sys.executable, "-c", "raise SystemExit(1)"]


def run(*wanted: Stage) -> tuple[Outcome, list[str]]:
    lines: list[str] = []
    return run_all(wanted, {}, lines.append), lines


def stage(
    name: str,
    command: list[str] = PASS,
    needs: str | None = None,
    undo: bool = False,
    unless: Callable[[], str | None] = lambda: None,
    beside_next: bool = False,
) -> Stage:
    return Stage(name, command, Path(), needs=needs, undo=undo, unless=unless, beside_next=beside_next)


def test_each_command_counts_as_one_check() -> None:
    total, lines = run(stage("a"), stage("b", FAIL))
    assert (total.passed, total.failed, total.skipped) == (1, 1, 0)
    assert "said" in lines


def test_what_cannot_run_is_counted_as_skipped_with_its_reason() -> None:
    total, lines = run(stage("a", unless=lambda: "no such tool"))
    assert (total.passed, total.failed, total.skipped) == (0, 0, 1)
    assert lines == ["== a: skipped: no such tool"]


@pytest.mark.parametrize("first", [stage("a", FAIL), stage("a", unless=lambda: "why")])
def test_what_needs_a_stage_that_did_not_pass_is_skipped(first: Stage) -> None:
    total, lines = run(first, stage("b", needs="a"), stage("c", needs="b"))
    assert total.passed == 0
    assert lines[-1].startswith("== c: skipped: it needs b, which was not run")


def test_what_was_started_is_given_back_last_and_only_then(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    write = [sys.executable, "-c", f"open({str(trace)!r}, 'a').write('x')"]
    total, lines = run(stage("start"), stage("stop", write, "start", undo=True), stage("use", FAIL, "start"))
    assert trace.read_text(encoding="utf-8") == "x"
    assert [line for line in lines if line.startswith("== ") and ":" not in line] == [
        "== start",
        "== use",
        "== stop",
    ]
    # Giving back is no check of its own.
    assert (total.passed, total.failed, total.skipped) == (1, 1, 0)
    run(stage("start", unless=lambda: "why"), stage("stop", write, "start", undo=True))
    assert trace.read_text(encoding="utf-8") == "x"
    # A start that failed may have started something.
    run(stage("start", FAIL), stage("stop", write, "start", undo=True))
    assert trace.read_text(encoding="utf-8") == "xx"


def test_a_stage_beside_the_next_one_runs_with_it_and_is_told_of_after_it(tmp_path: Path) -> None:
    """Each waits for the other, so one after the other would not end well."""
    meet = (
        "import pathlib, sys, time; mine, other = map(pathlib.Path, sys.argv[1:]); mine.touch(); print(mine.name)\n"
        "for _ in range(600):\n    if other.exists(): raise SystemExit(0)\n    time.sleep(0.1)\nraise SystemExit(1)"
    )
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    total, lines = run(
        stage("first", [sys.executable, "-c", meet, a, b], beside_next=True),
        stage("second", [sys.executable, "-c", meet, b, a]),
        stage("third", needs="first"),
    )
    assert (total.passed, total.failed, total.skipped) == (3, 0, 0)
    told = [line for line in lines if not line.endswith(" s")]
    assert told == ["== second", "b", "== first", "a", "== third", "said"]


def test_an_interrupt_gives_back_what_was_started(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    write = [sys.executable, "-c", f"open({str(trace)!r}, 'a').write('x')"]

    def interrupt() -> str | None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(
            stage("start"),
            stage("use", needs="start", unless=interrupt),
            stage("stop", write, "start", undo=True),
        )
    assert trace.read_text(encoding="utf-8") == "x"


def test_the_slow_parts_can_be_left_out() -> None:
    maven = Maven(Path("/usr/bin/mvn"), "3.9.0")
    quick = {one.name for one in stages(maven, Choice(java=False, e2e=False, containers=False))}
    full = {one.name for one in stages(maven, Choice())}
    assert {"Containerfile lint", "shell lint", "YAML lint", "Python unit tests"} <= quick
    assert full - quick >= {"end to end", "containers", "bundle compose/ping/compose.yaml"}
    needed = {one.needs for one in stages(maven, Choice()) if one.needs}
    assert needed <= full


def test_where_bases_cannot_be_made_the_reason_is_told(tmp_path: Path) -> None:
    other = tmp_path / "os-release"
    other.write_text('NAME="Fedora Linux"\nID=fedora\n', encoding="utf-8")
    assert why_no_engine(other) is not None
    assert "not Debian" in (why_no_engine(tmp_path / "none") or "")
