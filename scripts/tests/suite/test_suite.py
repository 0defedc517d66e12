# SPDX-License-Identifier: Apache-2.0
"""Counts of real runs of pytest: every end that is not well is a failure, and what was started is given back."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from stages import LONGEST, fail_with_log, maven_command, why_no_engine
from waiting import wait_until

import suite.__main__ as runner
from steelyard.build import fingerprint
from steelyard.cli.app import app
from suite import SCRIPTS
from suite.reports import Outcome, count, maven_reports, read_report, slowest
from suite.tiers import EVERY

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
ONCE = """import pathlib, pytest
def once(name):
    seen = pathlib.Path(__file__).with_name(name)
    if not seen.exists():
        seen.touch()
        raise AssertionError
"""
"""What fails at its first try alone."""
OPTION = "def pytest_addoption(parser): parser.addoption('--tier', action='append')\n"
TIERS = ("sessions",)
# This may run in one of several workers; what is run here must not take itself for one.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


@pytest.fixture(autouse=True)
def _reports_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "REPORTS", tmp_path / "reports")
    monkeypatch.setattr(runner, "UNITS_RUN", tmp_path / "reports" / "units.lock")
    monkeypatch.setattr(runner, "RETRIED", tmp_path / "reports" / "flaky.txt")
    monkeypatch.setattr(runner, "maven_reports", lambda _: [])


def run(folder: Path, text: str, *more: str, tiers: tuple[str, ...] = TIERS) -> list[Outcome]:
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "conftest.py").write_text(OPTION, encoding="utf-8")
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    return runner.run_tiers(tiers, more, ENVIRONMENT, folder)


def test_outcomes_are_counted_and_errors_are_failures(tmp_path: Path) -> None:
    assert count(run(tmp_path, MIXED)) == Counter(passed=1, failed=2, skipped=1)


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
    assert count(run(tmp_path, text)) == Counter(failed=1)


def test_further_arguments_choose_in_each_of_the_two_runs(tmp_path: Path) -> None:
    text = "def test_a(): pass\ndef test_b(): pass"
    assert count(run(tmp_path, text, tiers=("unit", "sessions"))) == Counter(passed=4)
    assert count(run(tmp_path, text, "-k", "test_b")) == Counter(passed=1)


def test_a_crash_beside_tests_that_pass_is_a_failure(tmp_path: Path) -> None:
    text = "import os\ndef test_it():\n    if 'PYTEST_XDIST_WORKER' in os.environ: os.kill(os.getppid(), 9)"
    assert count(run(tmp_path, text, tiers=("unit", "sessions"))) == Counter(passed=1, failed=1)


def test_what_measures_waits_until_checks_and_units_have_ended(tmp_path: Path) -> None:
    """However they end: the kernel lets go of the lock."""
    text = (
        "import fcntl, os, pathlib, time\n"
        "here = pathlib.Path(__file__).parent\n"
        "def test_it():\n"
        "    if 'PYTEST_XDIST_WORKER' in os.environ:\n"
        "        while not (here / 'waits').exists(): time.sleep(0.01)\n"
        "        (here / 'ended').touch()\n"
        "        return\n"
        "    (here / 'waits').touch()\n"
        "    with (here / 'reports' / 'units.lock').open() as lock: fcntl.flock(lock, fcntl.LOCK_SH)\n"
        "    assert (here / 'ended').exists()\n"
    )
    assert count(run(tmp_path, text, tiers=("unit", "sessions"))) == Counter(passed=2)


def test_reports_of_maven_are_those_of_this_run(tmp_path: Path) -> None:
    reports = tmp_path / "apps" / "acmeair" / "auth" / "target" / "surefire-reports"
    reports.mkdir(parents=True)
    for name in ("TEST-old.xml", "TEST-new.xml"):
        (reports / name).write_text("<testsuite/>", encoding="utf-8")
    os.utime(reports / "TEST-old.xml", (1, 1))
    os.utime(reports / "TEST-new.xml", (2000, 2000))
    assert [path.name for path in maven_reports(1000.0, tmp_path)] == ["TEST-new.xml"]


def test_a_report_of_maven_tells_each_test(tmp_path: Path) -> None:
    path = tmp_path / "TEST-b.xml"
    path.write_text(
        '<testsuite tests="5"><testcase classname="a.B" name="good" time="1,200.5"/>'
        '<testcase classname="a.B" name="bad"><failure message="expected 1&#10;but was 2"/></testcase>'
        '<testcase classname="a.B" name="worse"><error>java.io.IOException: no\n at a.B</error></testcase>'
        '<testcase classname="a.B" name="again"><flakyFailure message="late"/></testcase>'
        '<testcase classname="a.B" name="off"><skipped/></testcase></testsuite>',
        encoding="utf-8",
    )
    tests = read_report(path)
    assert count(tests) == Counter(passed=2, failed=2, skipped=1)
    assert [test.failure for test in tests] == [None, "expected 1", "java.io.IOException: no", None, None]
    assert [test.name for test in tests if test.is_retried] == ["a.B.again"]
    assert [test.name for test in slowest(tests, 1)] == ["a.B.good"]
    assert tests[0].seconds == 1200.5


def test_a_test_that_is_tried_twice_counts_once(tmp_path: Path) -> None:
    text = (
        f"{ONCE}"
        "@pytest.fixture\n"
        "def late(): once('late')\n"
        "@pytest.fixture\n"
        "def never(): assert False\n"
        "@pytest.fixture\n"
        "def badly_ended():\n"
        "    yield\n"
        "    assert False\n"
        "@pytest.mark.flaky(reruns=1)\n"
        "def test_call(): once('call')\n"
        "@pytest.mark.flaky(reruns=1)\n"
        "def test_setup(late): pass\n"
        "@pytest.mark.flaky(reruns=1)\n"
        "def test_never(never): pass\n"
        "def test_teardown(badly_ended): pass\n"
    )
    assert count(run(tmp_path, text)) == Counter(passed=2, failed=2)


def test_a_torn_report_is_a_failure(tmp_path: Path) -> None:
    torn = tmp_path / "TEST-torn.xml"
    torn.write_text('<testsuites><testsuite tests="1">', encoding="utf-8")
    assert count(runner._read_or_failure(torn)) == Counter(failed=1)


def test_the_tests_that_failed_are_shown_however_long_a_log_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "maven.log"
    log.write_text("[ERROR] a.B.bad:7 expected 1\n" + "[INFO] more\n" * 1000 + "the end\n", encoding="utf-8")
    with pytest.raises(pytest.fail.Exception, match="maven ended: see"):
        fail_with_log("maven ended", log)
    shown = capsys.readouterr().out
    assert shown.endswith("the end\n\n[ERROR] a.B.bad:7 expected 1\n\n")
    assert len(shown) < 5000


@pytest.mark.parametrize(("is_complete", "failed"), [(False, 1), (True, 3)])
def test_tests_that_were_tried_twice_are_named_and_fail_a_complete_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], is_complete: bool, failed: int
) -> None:
    runner.REPORTS.mkdir()
    runner.RETRIED.write_text("tests/e2e/test_a.py::test_a\n", encoding="utf-8")
    tests = [
        Outcome("b.slow", 9.0, None, is_skipped=False, is_retried=True),
        Outcome("a.quick", 1.0, None, is_skipped=False, is_retried=False),
        Outcome("c.bad", 2.0, "expected 1", is_skipped=False, is_retried=False),
    ]
    counts = runner.report(tests, is_complete)
    assert capsys.readouterr().out.splitlines() == [
        "slowest tests:",
        "     9.0 s  b.slow",
        "     2.0 s  c.bad",
        "     1.0 s  a.quick",
        "FAILED c.bad - expected 1",
        "flaky: b.slow",
        "flaky: tests/e2e/test_a.py::test_a",
    ]
    assert runner.RETRIED.read_text(encoding="utf-8").splitlines() == [
        "b.slow",
        "tests/e2e/test_a.py::test_a",
    ]
    assert (counts["failed"], sum(counts.values())) == (failed, 3)


def test_only_tests_on_real_servers_are_tried_twice_and_only_what_then_passes_is_flaky(
    tmp_path: Path,
) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_it.py").write_text(
        f"{ONCE}"
        "@pytest.mark.e2e\n"
        "def test_session(): once('session')\n"
        "@pytest.mark.e2e\n"
        "def test_never(): assert False\n"
        "def test_unit(): once('unit')\n",
        encoding="utf-8",
    )
    noted = tmp_path / "flaky.txt"
    program = (
        f"import pathlib, sys, pytest, stages\nstages.RETRIED = pathlib.Path({str(noted)!r})\n"
        "sys.exit(pytest.main(['-q', '-p', 'stages', '-p', 'no:cacheprovider',"
        f" '-c', {str(SCRIPTS / 'pyproject.toml')!r}, '--rootdir', {str(tmp_path)!r}, {str(tests)!r}]))"
    )
    path = os.pathsep.join((str(SCRIPTS), str(SCRIPTS / "tests")))
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**ENVIRONMENT, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert [line.rpartition("::")[2] for line in noted.read_text(encoding="utf-8").splitlines()] == [
        "test_session"
    ]
    log = noted.with_suffix(".log").read_text(encoding="utf-8")
    assert "test_session\n" in log
    assert "AssertionError" in log
    assert "test_never" not in log


def test_an_interrupt_reaches_the_fixtures_once(tmp_path: Path) -> None:
    """As with the terminal's Ctrl-C and with the signal of a CI system that gives up."""
    began, given_back = tmp_path / "began", tmp_path / "given-back"
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "conftest.py").write_text(OPTION, encoding="utf-8")
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
        "import os, pathlib, signal\n"
        "import suite.__main__ as runner\n"
        "def interrupt(*_): raise KeyboardInterrupt\n"
        "signal.signal(signal.SIGTERM, interrupt)\n"
        f"runner.REPORTS = pathlib.Path({str(tmp_path / 'reports')!r})\n"
        "runner.UNITS_RUN = runner.REPORTS / 'units.lock'\n"
        "runner.RETRIED = runner.REPORTS / 'flaky.txt'\n"
        f"runner.run_tiers(['sessions'], [], os.environ, pathlib.Path({str(tmp_path)!r}))\n"
    )
    environment = {**ENVIRONMENT, "PYTHONPATH": str(SCRIPTS)}
    with subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stderr=subprocess.PIPE, text=True
    ) as outer:
        wait_until(began.exists, "the first fixture", lambda: "the run has ended" if outer.poll() else None)
        outer.send_signal(signal.SIGTERM)
        _, said = outer.communicate()
    assert "KeyboardInterrupt" in said
    assert given_back.exists()


def test_what_follows_two_dashes_reaches_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line's own parser takes the dashes away."""
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, words: started.append(words))
    monkeypatch.setattr(sys, "argv", ["steelyard", "test", "--tier", "unit", "--", "-k", "heap"])
    app(sys.argv[1:], standalone_mode=False)
    assert started[0][2:] == ["suite", "--tier", "unit", "--", "-k", "heap"]


def test_help_needs_the_standard_library_alone(tmp_path: Path) -> None:
    """The first thing that many type in a fresh clone."""
    program = (
        f"import runpy, sys; sys.path.insert(0, {str(SCRIPTS)!r}); sys.argv[1:] = ['--help'];"
        "runpy.run_module('suite', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )
    assert all(tier in done.stdout for tier in EVERY)


@pytest.mark.parametrize("words", [["--tier", "none"], ["--all", "--changed"], ["--no-java"]])
def test_what_is_typed_wrong_is_told_in_a_line_and_never_ends_as_a_gate(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "suite", *words], cwd=SCRIPTS, capture_output=True, text=True, check=False
    )
    assert done.returncode == runner.USAGE
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("steelyard: ")


def test_pages_are_checked_without_java(tmp_path: Path) -> None:
    assert runner.java_environment(tmp_path / "no-jdk", ("checks", "unit", "site")) == {}


def test_maven_states_the_build_that_sessions_find() -> None:
    assert f"-Dsteelyard.fingerprint={fingerprint()}" in maven_command(is_complete=True)


def test_where_bases_cannot_be_made_the_reason_is_told(tmp_path: Path) -> None:
    other = tmp_path / "os-release"
    other.write_text('NAME="Fedora Linux"\nID=fedora\n', encoding="utf-8")
    assert "not Debian" in (why_no_engine(other) or "")
    assert "not Debian" in (why_no_engine(tmp_path / "none") or "")


def collected(*arguments: str) -> list[str]:
    """The tests of this project that pytest would run, in their order."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:xdist", *arguments],
        cwd=SCRIPTS,
        env={**ENVIRONMENT, "PYTHONPATH": os.pathsep.join((str(SCRIPTS), str(SCRIPTS / "tests")))},
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_tiers_come_in_their_order_and_nothing_is_begun_by_looking() -> None:
    places = (
        "containers/test_bundles.py",
        "e2e/test_applications.py",
        "java",
        "relay",
        "checks/test_checkers.py",
    )
    names = [test.split("/")[1] for test in collected(*(f"tests/{name}" for name in places))]
    assert list(dict.fromkeys(names)) == ["checks", "relay", "java", "e2e", "containers"]


def test_what_sets_this_machine_is_no_unit_test() -> None:
    sets = "tests/host/test_host_set.py::test_it_writes_a_file_of_this_host"
    assert sets in collected("--tier=sessions", "tests/host/test_host_set.py")
    assert sets not in collected("--tier=unit", "tests/host/test_host_set.py")


def test_files_that_have_no_test_of_the_chosen_tiers_are_not_imported(tmp_path: Path) -> None:
    (tmp_path / "test_unit.py").write_text("raise OSError", encoding="utf-8")
    (tmp_path / "test_slow.py").write_text(
        "import pytest\n@pytest.mark.full\ndef test_it(): pass\n", encoding="utf-8"
    )
    tests = collected("--tier=long", "-c", str(SCRIPTS / "pyproject.toml"), "-p", "stages", str(tmp_path))
    assert [name.rpartition("/")[2] for name in tests] == ["test_slow.py::test_it"]


def test_the_longest_files_are_there() -> None:
    assert {path.name for path in (SCRIPTS / "tests").rglob("test_*.py")} >= LONGEST
