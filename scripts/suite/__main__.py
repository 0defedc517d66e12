# SPDX-License-Identifier: Apache-2.0
"""Runs the project's own tests: `./steelyard test`, or `python -m suite` in `scripts/`.

Two runs of pytest side by side: checks and unit tests on several workers, and one after the other what starts Maven,
servers, containers (`tests/stages.py`). An end that no test accounts for (a test that cannot be imported, a crash, no
test at all) is one failure.
"""

import argparse
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree

from suite import REPORTS, RETRIED, SCRIPTS, UNITS_RUN
from suite.reports import Outcome, count, maven_reports, merge_tries, read_report, slowest
from suite.tiers import DEFAULT, EVERY, TIERS, changed_paths, tiers_for

FAILED, USAGE, INTERRUPTED = 12, 13, 130  # as the other commands (docs/commands.md)
SIDE_BY_SIDE = ("checks", "unit")
WITHOUT_JAVA = (*SIDE_BY_SIDE, "site")
_NO_TEST = 5  # pytest's exit code where nothing is chosen
_NO_XDIST = ("-p", "no:xdist")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"steelyard: {message}: see ./steelyard test --help\n")


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    tiers = "\n".join(
        f"  {tier.name:<12}{tier.holds}{'' if tier.is_default else ' (--all)'}" for tier in TIERS
    )
    made = _Parser(
        prog="./steelyard test",
        description="Run the project's own tests and checkers. The last line is `N passed, N failed, N skipped`; "
        f"exit code {FAILED} when something failed. What cannot run here is skipped, with the reason.",
        epilog=f"tiers:\n{tiers}\n\nReports and logs are in .steelyard/test.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    which = made.add_mutually_exclusive_group()
    which.add_argument(
        "--all", action="store_true", help="every tier; a test that had to be tried twice fails"
    )
    which.add_argument(
        "--changed",
        nargs="?",
        const="@{upstream}",
        metavar="REF",
        help="the tiers that the paths changed since REF need (default: the branch's upstream)",
    )
    which.add_argument("--tier", action="append", choices=EVERY, help="this tier; may be given several times")
    made.add_argument(
        "--jdk",
        metavar="JDK",
        help="the JDK that builds and runs the Java parts: a name or a path (default: JAVA_HOME, PATH)",
    )
    made.add_argument("pytest", nargs="*", metavar="-- PYTEST", help="further arguments of pytest")
    return made


def main(arguments: Sequence[str]) -> int:
    """Run what the arguments ask for; the exit code."""
    asked = parser().parse_args(arguments)
    try:
        tiers = chosen_tiers(asked)
    except ValueError as error:
        sys.stderr.write(
            f"steelyard: {error}: name another reference, as in ./steelyard test --changed main\n"
        )
        return USAGE
    _print(f"tiers: {', '.join(tiers) or 'none, as nothing has changed'}")
    if not tiers:
        _print("0 passed, 0 failed, 0 skipped")
        return 0
    began = time.monotonic()
    try:
        tests = run_tiers(tiers, asked.pytest, {**os.environ, **java_environment(asked.jdk, tiers)})
    except KeyboardInterrupt:
        return INTERRUPTED
    counts = report(tests, asked.all)
    minutes, seconds = divmod(round(time.monotonic() - began), 60)
    _print(f"all tiers took {minutes} min {seconds:02} s")
    _print(", ".join(f"{counts[name]} {name}" for name in ("passed", "failed", "skipped")))
    return FAILED if counts["failed"] else 0


def chosen_tiers(asked: argparse.Namespace) -> tuple[str, ...]:
    """The tiers of a command line.

    Raises:
        ValueError: what has changed since the reference cannot be told, and why.
    """
    if asked.all:
        return EVERY
    if asked.changed is not None:
        return tiers_for(changed_paths(asked.changed))
    return tuple(tier for tier in EVERY if tier in asked.tier) if asked.tier else DEFAULT


def run_tiers(
    tiers: Sequence[str], more: Sequence[str], environment: Mapping[str, str], folder: Path = SCRIPTS
) -> list[Outcome]:
    """Run tiers, their output on this process's own; the tests that ran, Maven's among them.

    Args:
        tiers: their names.
        more: further arguments of pytest.
        environment: of pytest and of all that it starts.
        folder: where pytest is run.

    Raises:
        KeyboardInterrupt: after everything that was started has ended.
    """
    REPORTS.mkdir(parents=True, exist_ok=True)
    RETRIED.unlink(missing_ok=True)
    RETRIED.with_suffix(".log").unlink(missing_ok=True)
    began = time.time()
    # By files, for what the tests of one share is dear; in their order, as the types of all Python take longest.
    workers = ("-n", str(os.cpu_count() or 1), "--dist", "loadfile", "--no-loadscope-reorder")
    wanted = {
        "units": ([tier for tier in tiers if tier in SIDE_BY_SIDE], workers),
        "servers": ([tier for tier in tiers if tier not in SIDE_BY_SIDE], _NO_XDIST),
    }
    # A shell starts background jobs with SIGINT ignored, and all that they start inherits it: tests that interrupt
    # something would wait for ever, and so would an interrupt of the tests.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    runs: dict[str, subprocess.Popen[bytes]] = {}
    with UNITS_RUN.open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name, (parts, options) in wanted.items():
            if parts:
                command = [sys.executable, "-m", "pytest", "-q", "--color=no", *options]
                command += [f"--junitxml={_report(name)}", *(f"--tier={part}" for part in parts), *more]
                _report(name).unlink(missing_ok=True)
                # In a session of its own: a terminal's Ctrl-C would come twice, and the second one cuts fixtures short.
                runs[name] = subprocess.Popen(
                    command,
                    cwd=folder,
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    start_new_session=True,
                    # The lock is held by these alone, and let go by the kernel however they end.
                    pass_fds=[lock.fileno()] if name == "units" else [],
                )
    codes = _wait(runs)
    tests = [test for name, code in codes.items() for test in _read_pytest(name, code)]
    if "java" in tiers or "servers" in tiers:
        tests += [test for path in maven_reports(began) for test in _read_or_failure(path)]
    if tests:
        return tests
    return [
        Outcome("no test was chosen", 0.0, "see what pytest says above", is_skipped=False, is_retried=False)
    ]


def report(tests: Sequence[Outcome], is_complete: bool) -> Counter[str]:
    """Print the slowest tests, those that failed and those that were tried twice; the counts.

    Args:
        tests: all that ran.
        is_complete: whether a test that was tried twice is a failure, as in the run of every tier.
    """
    _print("slowest tests:")
    for test in slowest(tests):
        _print(f"  {test.seconds:6.1f} s  {test.name}")
    for test in tests:  # last of all: logs of CI are read from their end
        if test.failure is not None:
            _print(f"FAILED {test.name} - {test.failure}")
    retried = [test.name for test in tests if test.is_retried]
    if RETRIED.exists():
        retried += RETRIED.read_text(encoding="utf-8").splitlines()
    for name in retried:
        _print(f"flaky: {name}")
    RETRIED.write_text("".join(f"{name}\n" for name in retried), encoding="utf-8")
    counts = count(tests)
    if is_complete:
        counts["failed"] += len(retried)
        counts["passed"] -= len(retried)
    return counts


def _wait(runs: Mapping[str, subprocess.Popen[bytes]]) -> dict[str, int]:
    try:
        return {name: run.wait() for name, run in runs.items()}
    except KeyboardInterrupt:
        for run in runs.values():
            run.send_signal(signal.SIGINT)  # once, so that pytest can end its fixtures
        for run in runs.values():
            run.wait()
        raise


def _report(name: str) -> Path:
    return REPORTS / f"{name}.xml"


def _read_pytest(name: str, code: int) -> list[Outcome]:
    """The tests of a run of pytest, and one failure more where it ended otherwise than they tell."""
    tests = [] if code == _NO_TEST else merge_tries(_read_or_failure(_report(name)))
    if code in (0, _NO_TEST) or count(tests)["failed"]:
        return tests
    ended = Outcome(name, 0.0, f"pytest ended with exit code {code}", is_skipped=False, is_retried=False)
    return [*tests, ended]


def _read_or_failure(path: Path) -> list[Outcome]:
    """The tests of a report; one that is missing or damaged is one failure."""
    try:
        return read_report(path)
    except (OSError, ElementTree.ParseError) as error:
        return [
            Outcome(path.stem, 0.0, f"its report cannot be read: {error}", is_skipped=False, is_retried=False)
        ]


def java_environment(chosen: Path | None, tiers: Sequence[str]) -> dict[str, str]:
    """JAVA_HOME of the JDK that was chosen, which has a compiler, with Maven beside it; empty if no tier needs it."""
    if not set(tiers) - {*WITHOUT_JAVA}:
        return {}
    from steelyard.errors import SteelyardError  # noqa: PLC0415 - `--help` needs the standard library alone
    from steelyard.host.java import find_jdk, find_maven, require_javac  # noqa: PLC0415

    try:
        jdk = find_jdk(chosen)
        require_javac(jdk)
        find_maven(Path(jdk.identity.home))
    except SteelyardError as error:
        sys.stderr.write(f"steelyard: {error}\n")
        sys.exit(error.exit_code)
    return {"JAVA_HOME": jdk.identity.home}


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - plain lines: this output is read in CI logs


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
