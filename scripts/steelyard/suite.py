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
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
_MAVEN = ("apps/**/target/*-reports/TEST-*.xml", "loadgen/target/*-reports/TEST-*.xml")


def run_suite(
    left_out: Iterable[str],
    more: Sequence[str] = (),
    environment: Mapping[str, str] = os.environ,
    folder: Path = SCRIPTS,
) -> Counter[str]:
    """Run the tests, by pytest on this process's own output; counts of `passed`, `failed` and `skipped`.

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
    # A shell starts background jobs with SIGINT ignored, and all that they start inherits it: tests that interrupt
    # something would wait for ever, and so would an interrupt of the tests.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # In a session of its own: a terminal's Ctrl-C would come twice, and the second one cuts fixtures short.
    child = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "--color=no", f"--junitxml={report}", "-m", wanted, *more],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = child.wait()
    except KeyboardInterrupt:
        child.send_signal(signal.SIGINT)  # once, so that pytest can end its fixtures
        child.wait()
        raise
    found = [report]
    if "java" not in left_out:
        found += [path for pattern in _MAVEN for path in ROOT.glob(pattern) if path.stat().st_mtime >= began]
    for failure in (line for path in found[1:] for line in failures(path)):
        print(f"FAILED {failure}", flush=True)  # noqa: T201 - as pytest does of its own, where a reader looks for it
    counts = sum(map(count, found), Counter[str]())
    return counts if code == 0 or counts["failed"] else counts + Counter(failed=1)


def failures(report: Path) -> list[str]:
    """Tests of a JUnit file that failed, each with the first line of what it said; none of a damaged one."""
    try:
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return []
    return [
        f"{case.get('classname')}.{case.get('name')} - {next(iter(said.splitlines()), '')}"
        for case in cases
        for bad in (*case.iter("failure"), *case.iter("error"))
        for said in [(bad.get("message") or bad.text or "").strip()]
    ]


def count(report: Path) -> Counter[str]:
    """The tests of a JUnit file; one that is missing or damaged, as a crash leaves it, is one failure."""
    try:
        suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    except (OSError, ElementTree.ParseError):
        return Counter(failed=1)
    names = ("tests", "failures", "errors", "skipped")
    tests, failures, errors, skipped = (sum(int(suite.get(name, 0)) for suite in suites) for name in names)
    return Counter(passed=tests - failures - errors - skipped, failed=failures + errors, skipped=skipped)
