# SPDX-License-Identifier: Apache-2.0
"""`./steelyard test`: pytest runs everything, Maven's tests among it; here its reports are counted.

What a run goes through:

1. `python -m pytest` on `tests/`, in a session of its own: `tests/stages.py` says in which order, with what beside it;
2. the counts of its JUnit file and of those that Maven's plugins wrote meanwhile.

An end that no test accounts for (a test that cannot be imported, a crash, no test at all) is one failure.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from steelyard.paths import CACHE, ROOT

REPORTS = CACHE / "test"
"""Where a run leaves its reports and logs."""
ENGINE_STATE = REPORTS / "engine"
"""What `setup-engine.sh` keeps of the engine that the tests started; one that somebody set up by hand is not here."""
STAGES = ("checks", "unit", "java", "e2e", "containers")
"""In the order in which they run; all but `unit` are markers of pytest."""
SCRIPTS = ROOT / "scripts"
# A shell starts background jobs with SIGINT ignored, and all that they start inherits it: tests that interrupt
# something would wait for ever, and so would an interrupt of the tests.
_PYTEST = (
    "import signal, sys, pytest;"
    " signal.signal(signal.SIGINT, signal.default_int_handler);"
    " sys.exit(pytest.main())"
)
_MAVEN = ("apps/**/target/*-reports/TEST-*.xml", "loadgen/target/*-reports/TEST-*.xml")


@dataclass(frozen=True)
class Counts:
    """What tests came to."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def run_suite(
    left_out: Iterable[str],
    more: Sequence[str] = (),
    environment: Mapping[str, str] = os.environ,
    folder: Path = SCRIPTS,
) -> Counts:
    """Run the tests; pytest writes to this process's own output.

    Args:
        left_out: stages that are not wanted.
        more: further arguments of pytest.
        environment: of pytest and of all that it starts.
        folder: where pytest is run.

    Raises:
        KeyboardInterrupt: after everything that was started has ended.
    """
    report = REPORTS / "suite.xml"
    REPORTS.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    began = time.time()
    wanted = " and ".join(f"not {stage}" for stage in left_out)
    code = _pytest([f"--junitxml={report}", "-m", wanted, *more], environment, folder)
    well = code == 0 and report.exists()
    found = [report] if report.exists() else []
    if "java" not in left_out:
        found += [path for pattern in _MAVEN for path in ROOT.glob(pattern) if path.stat().st_mtime >= began]
    counts = sum(map(count, found), Counts())
    return counts if well or counts.failed else counts + Counts(failed=1)


def count(report: Path) -> Counts:
    """The tests of a JUnit file; a damaged file, as a crash leaves it, is one failure."""
    try:
        suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    except ElementTree.ParseError:
        return Counts(failed=1)
    tests, failures, errors, skipped = (
        sum(int(suite.get(name, 0)) for suite in suites)
        for name in ("tests", "failures", "errors", "skipped")
    )
    return Counts(tests - failures - errors - skipped, failures + errors, skipped)


def _pytest(arguments: Sequence[str], environment: Mapping[str, str], folder: Path) -> int:
    """Exit code of pytest; an interrupt reaches it once, so that it can end its fixtures."""
    # In a session of its own: a terminal's Ctrl-C would come twice, and the second one cuts fixtures short.
    child = subprocess.Popen(
        [sys.executable, "-c", _PYTEST, "-q", "--color=no", *arguments],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return child.wait()
    except KeyboardInterrupt:
        child.send_signal(signal.SIGINT)
        child.wait()
        raise
