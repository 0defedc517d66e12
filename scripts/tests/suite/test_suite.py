# SPDX-License-Identifier: Apache-2.0
"""Counts of real runs of pytest: every end that is not well is a failure, and what was started is given back."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from stages import maven_command, why_no_engine

from steelyard import suite
from steelyard.build import fingerprint
from steelyard.paths import ROOT
from steelyard.suite import count, run_suite

MIXED = """
import pytest
def test_good(): pass
def test_bad(): assert False
@pytest.fixture
def broken(): raise OSError
def test_error(broken): pass
@pytest.mark.skip(reason="not here")
def test_not_here(): pass
"""


@pytest.fixture(autouse=True)
def _reports_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "REPORTS", tmp_path / "reports")


def run(folder: Path, text: str, left_out: tuple[str, ...] = ("java",), *more: str) -> Counter[str]:
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    java\n    e2e\n", encoding="utf-8")
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    return run_suite(left_out, more, folder=folder)


def test_outcomes_are_counted_and_errors_are_failures(tmp_path: Path) -> None:
    assert run(tmp_path, MIXED) == Counter(passed=1, failed=2, skipped=1)


@pytest.mark.parametrize(
    "text",
    [
        "import no_such_module",
        "def test_crash():\n    import os\n    os._exit(3)",
        "def test_hidden_exit():\n    import os\n    os._exit(0)",
        "def test_killed():\n    import os\n    os.kill(os.getpid(), 9)",
        "",
    ],
    ids=["not importable", "crash", "exit without a word", "killed", "no test at all"],
)
def test_an_end_that_no_test_accounts_for_is_a_failure(tmp_path: Path, text: str) -> None:
    assert run(tmp_path, text) == Counter(failed=1)


def test_stages_and_further_arguments_choose(tmp_path: Path) -> None:
    text = (
        "import pytest\n@pytest.mark.java\ndef test_a(): assert False\ndef test_b(): pass\ndef test_c(): pass"
    )
    assert run(tmp_path, text) == Counter(passed=2)
    assert run(tmp_path, text, ("java", "e2e"), "-k", "test_b") == Counter(passed=1)


def test_reports_of_maven_are_counted_only_from_this_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = tmp_path / "apps" / "acmeair" / "auth" / "target" / "surefire-reports"
    reports.mkdir(parents=True)
    old = reports / "TEST-old.xml"
    old.write_text('<testsuite tests="9" failures="9"/>', encoding="utf-8")
    os.utime(old, (1, 1))
    monkeypatch.setattr(suite, "ROOT", tmp_path)
    text = (
        "import pathlib\n"
        f"def test_maven(): pathlib.Path({str(reports)!r}, 'TEST-new.xml').write_text("
        '\'<testsuite tests="5" failures="1" errors="1" skipped="1"/>\')'
    )
    assert run(tmp_path, text, ()) == Counter(passed=3, failed=2, skipped=1)
    assert run(tmp_path, text, ("java",)) == Counter(passed=1)


def test_failures_of_maven_are_named_where_the_output_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = tmp_path / "loadgen" / "target" / "surefire-reports"
    reports.mkdir(parents=True)
    monkeypatch.setattr(suite, "ROOT", tmp_path)
    written = (
        '<testsuite tests="3" failures="1" errors="1"><testcase classname="a.B" name="good"/>'
        '<testcase classname="a.B" name="bad"><failure message="expected 1&#10;but was 2"/></testcase>'
        '<testcase classname="a.B" name="worse"><error>java.io.IOException: no\n at a.B</error></testcase></testsuite>'
    )
    text = f"import pathlib\ndef test_maven(): pathlib.Path({str(reports)!r}, 'TEST-b.xml').write_text({written!r})"
    assert run(tmp_path, text, ())["failed"] == 2
    assert capsys.readouterr().out.splitlines() == [
        "FAILED a.B.bad - expected 1",
        "FAILED a.B.worse - java.io.IOException: no",
    ]


def test_a_torn_report_is_a_failure(tmp_path: Path) -> None:
    torn = tmp_path / "suite.xml"
    torn.write_text('<testsuites><testsuite tests="1">', encoding="utf-8")
    assert count(torn) == Counter(failed=1)


def test_an_interrupt_reaches_the_fixtures_once(tmp_path: Path) -> None:
    """As with the terminal's Ctrl-C and with the signal of a CI system that gives up."""
    began, given_back = tmp_path / "began", tmp_path / "given-back"
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    java\n", encoding="utf-8")
    (tmp_path / "test_it.py").write_text(
        "import pathlib, pytest, time\n"
        "@pytest.fixture(scope='session')\n"
        "def engine():\n"
        f"    pathlib.Path({str(began)!r}).touch()\n"
        "    yield\n"
        f"    time.sleep(1); pathlib.Path({str(given_back)!r}).touch()\n"
        "def test_long(engine): time.sleep(600)\n",
        encoding="utf-8",
    )
    program = (
        "import pathlib, signal\n"
        "from steelyard import suite\n"
        "def interrupt(*_): raise KeyboardInterrupt\n"
        "signal.signal(signal.SIGTERM, interrupt)\n"
        f"suite.REPORTS = pathlib.Path({str(tmp_path / 'reports')!r})\n"
        f"suite.run_suite(['java'], folder=pathlib.Path({str(tmp_path)!r}))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    with subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stderr=subprocess.PIPE, text=True
    ) as outer:
        deadline = time.monotonic() + 120
        while not began.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        outer.send_signal(signal.SIGTERM)
        _, said = outer.communicate(timeout=120)
    assert "KeyboardInterrupt" in said
    assert given_back.exists()


def test_maven_states_the_build_that_sessions_find() -> None:
    assert f"-Dsteelyard.fingerprint={fingerprint()}" in maven_command()


def test_where_bases_cannot_be_made_the_reason_is_told(tmp_path: Path) -> None:
    other = tmp_path / "os-release"
    other.write_text('NAME="Fedora Linux"\nID=fedora\n', encoding="utf-8")
    assert "not Debian" in (why_no_engine(other) or "")
    assert "not Debian" in (why_no_engine(tmp_path / "none") or "")


def test_stages_come_in_their_order_and_nothing_is_begun_by_looking() -> None:
    out_of_order = [f"tests/{'gate' if stage == 'unit' else stage}" for stage in reversed(suite.STAGES)]
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *out_of_order],
        cwd=suite.SCRIPTS,
        env={**os.environ, "PYTHONPATH": str(suite.SCRIPTS)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    folders = [
        line.split("/")[1] for line in collected.splitlines() if line.startswith("tests/") and "::" in line
    ]
    found = [folder if folder in suite.STAGES else "unit" for folder in folders]
    assert found == sorted(found, key=suite.STAGES.index)
    assert set(found) == set(suite.STAGES)
