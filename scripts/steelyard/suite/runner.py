# SPDX-License-Identifier: Apache-2.0
"""Runs stages of checks and counts what passed, failed and was skipped."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True)
class Outcome:
    """What a stage came to."""

    passed: int
    failed: int
    skipped: int
    seconds: float = 0.0


@dataclass(frozen=True)
class Stage:
    """A command of the suite."""

    name: str
    command: Sequence[str]
    folder: Path
    reports: Path | None = None
    """Where it leaves JUnit XML files; None: the command as a whole counts as one check."""
    pattern: str = "*.xml"
    unless: Callable[[], str | None] = lambda: None
    """Asked just before it would run: a reason not to, which counts as skipped; None: it runs."""
    needs: str | None = None
    """A stage that must have run and passed before."""
    beside_next: bool = False
    """Runs while the next stage does, which it neither needs nor disturbs; its lines come when both are through."""
    undo: bool = False
    """Gives back what `needs` started, wholly or in part: runs whatever came between, and counts only when it fails."""
    environment: Mapping[str, str] = field(default_factory=dict)


def run_all(
    wanted: Sequence[Stage], environment: Mapping[str, str], on_line: Callable[[str], None]
) -> Outcome:
    """Run stages in order, a line before and after each; what was started is given back after an interrupt, too."""
    outcomes: dict[str, Outcome] = {}
    began = time.time()
    try:
        _run_in_order([stage for stage in wanted if not stage.undo], outcomes, environment, on_line)
    finally:
        for stage in wanted:
            before = outcomes.get(stage.needs or "", Outcome(0, 0, 0))
            if stage.undo and before.passed + before.failed:
                ended = _told(replace(stage, needs=None), outcomes, environment, on_line)
                outcomes[stage.name] = Outcome(0, ended.failed, 0, ended.seconds)
    return Outcome(
        sum(one.passed for one in outcomes.values()),
        sum(one.failed for one in outcomes.values()),
        sum(one.skipped for one in outcomes.values()),
        time.time() - began,
    )


def _run_in_order(
    wanted: Sequence[Stage],
    outcomes: dict[str, Outcome],
    environment: Mapping[str, str],
    on_line: Callable[[str], None],
) -> None:
    beside: list[tuple[str, Future[Outcome], list[str]]] = []
    with ThreadPoolExecutor() as pool:
        for number, stage in enumerate(wanted, start=1):
            if stage.beside_next and number < len(wanted):
                lines: list[str] = []
                future = pool.submit(_told, stage, dict(outcomes), environment, lines.append)
                beside.append((stage.name, future, lines))
                continue
            outcomes[stage.name] = _told(stage, outcomes, environment, on_line)
            for name, future, lines in beside:
                outcomes[name] = future.result()
                for line in lines:
                    on_line(line)
            beside.clear()


def _told(
    stage: Stage,
    outcomes: Mapping[str, Outcome],
    environment: Mapping[str, str],
    on_line: Callable[[str], None],
) -> Outcome:
    reason = _unmet(stage, outcomes) or stage.unless()
    if reason is not None:
        on_line(f"== {stage.name}: skipped: {reason}")
        return Outcome(0, 0, 1)
    on_line(f"== {stage.name}")
    outcome = run_stage(stage, {**environment, **stage.environment}, on_line)
    on_line(
        f"== {stage.name}: {outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped"
        f" in {outcome.seconds:.0f} s"
    )
    return outcome


def _unmet(stage: Stage, outcomes: Mapping[str, Outcome]) -> str | None:
    if stage.needs is None:
        return None
    before = outcomes.get(stage.needs)
    if before is not None and before.passed and not before.failed:
        return None
    return (
        f"it needs {stage.needs}, which {'failed' if before is not None and before.failed else 'was not run'}"
    )


def run_stage(stage: Stage, environment: Mapping[str, str], on_line: Callable[[str], None]) -> Outcome:
    """Run a stage and count; output is passed on line by line."""
    began = time.time()
    with subprocess.Popen(
        list(stage.command),
        cwd=stage.folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            on_line(line.rstrip())
    seconds = time.time() - began
    if stage.reports is None:
        good = process.returncode == 0
        return Outcome(int(good), int(not good), 0, seconds)
    counted = _count(stage.reports, stage.pattern, began)
    # A stage that fails without a failed test (a compile error, a crash, a format check) must not pass.
    extra = int(process.returncode != 0 and counted.failed == 0)
    return Outcome(counted.passed, counted.failed + extra, counted.skipped, seconds)


def _count(folder: Path, pattern: str, since: float) -> Outcome:
    tests = failed = skipped = 0
    for path in folder.rglob(pattern):
        if path.stat().st_mtime < since:
            continue
        for suite in ElementTree.parse(path).getroot().iter("testsuite"):
            tests += int(suite.get("tests", 0))
            failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped += int(suite.get("skipped", 0))
    return Outcome(tests - failed - skipped, failed, skipped)
