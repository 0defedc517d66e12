# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: T201
"""Does the suite turn red when the harness is wrong? Plants known faults, one at a time, in copies of this checkout.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/mutants.py [--jobs N] [--markdown] [NAME ...]

A fault is a patch, `mutants/NAME.patch`, whose first line says what is wrong and which tests should tell, folders or
files. In a copy with the fault those run first and, when they are green, all Python tests of the default tier; lint and
types are left out, for a fault must be told by what it does. The first test that fails has to fail again, alone, and to
pass in a copy without the fault. The checkout itself is never changed, and the copies are removed at the end, also
after Ctrl-C. Exit code 1: a fault was told by no test, or its patch does not apply.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATCHES = Path(__file__).with_suffix("")
SELECTION = "not full and not e2e and not containers and not java and not checks"
NOT_RUN = "tests/checks"
"""Lint and types, and the test that patches apply, which in a copy with the fault they no longer do."""
TELLS = " Tells: "
END_SECONDS = 10.0
"""What tests get to clean up after Ctrl-C."""
TESTS_FAILED, ALL_PASSED = 1, 0
"""Exit codes of pytest."""

_PLAIN = threading.Lock()
"""In the copy without a fault one test runs at a time."""


@dataclass(frozen=True)
class Fault:
    """A patch."""

    name: str
    path: Path
    wrong: str
    """What is wrong, one sentence."""
    tests: tuple[str, ...]
    """Folders or files of tests that should tell, below scripts/."""

    @classmethod
    def read(cls, path: Path) -> "Fault":
        """Read the first line of a patch: `What is wrong. Tells: tests/FOLDER, tests/FOLDER/FILE, ...`."""
        wrong, tells, tests = path.read_text(encoding="utf-8").partition("\n")[0].partition(TELLS)
        if not tells:
            raise SystemExit(f"{path}: the first line does not say which tests tell it ('{TELLS.strip()}')")
        return cls(path.stem, path, wrong, tuple(tests.split(", ")))


@dataclass(frozen=True)
class Outcome:
    """What a fault came to."""

    fault: Fault
    killer: str | None
    """The test that failed."""
    problem: str
    """Why there is none."""
    seconds: float


class Runs:
    """Child processes that end with this program."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._ended = False

    def run(self, command: Sequence[str], folder: Path, log: Path) -> int:
        """Run a command to its end, in a process group of its own; returns its exit code."""
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        with log.open("wb") as output:
            with self._lock:
                if self._ended:
                    raise InterruptedError
                child = subprocess.Popen(
                    command,
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                self._running.add(child)
            code = child.wait()
            with self._lock:
                self._running.discard(child)
        if self._ended:
            raise InterruptedError
        return code

    def end(self) -> None:
        """End what runs: first so that tests clean up, then for certain."""
        with self._lock:
            self._ended = True
            running = list(self._running)
        for number in (signal.SIGINT, signal.SIGKILL):
            for child in running:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, number)
            for child in running if number == signal.SIGINT else ():
                with suppress(subprocess.TimeoutExpired):
                    child.wait(END_SECONDS)


def faults(names: Sequence[str] = ()) -> list[Fault]:
    """The faults of these names, or all of them; raises SystemExit where there is none of a name."""
    found = {path.stem: Fault.read(path) for path in sorted(PATCHES.glob("*.patch"))}
    if unknown := [name for name in names if name not in found]:
        raise SystemExit(f"no fault is called {', '.join(unknown)}: see --list")
    return [fault for name, fault in found.items() if not names or name in names]


def copy_checkout(folder: Path) -> None:
    """Copy the checkout as it is, changes that are not committed included; what git ignores is left out."""
    git = ("git", "-C", str(ROOT))
    # Some tests ask git; its objects are shared and not copied.
    subprocess.run([*git, "clone", "--quiet", "--shared", "--no-checkout", ROOT, folder], check=True)
    subprocess.run(["git", "-C", folder, "reset", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    listed = subprocess.run(
        [*git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True,
        stdout=subprocess.PIPE,
    )
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_symlink() or source.is_file():  # one that was removed is still listed
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    if (environment := ROOT / ".steelyard" / "venv").exists():
        (folder / ".steelyard").mkdir(exist_ok=True)
        (folder / ".steelyard" / "venv").symlink_to(environment)


def run_tests(runs: Runs, copy: Path, which: Iterable[str]) -> tuple[int, list[str]]:
    """Run tests of a copy up to the first failure; pytest's exit code, and what failed."""
    scripts = copy / "scripts"
    known = scripts / ".pytest_cache" / "v" / "cache" / "lastfailed"
    known.unlink(missing_ok=True)
    options = ("-x", "-q", "-m", SELECTION, f"--ignore={NOT_RUN}")
    code = runs.run([sys.executable, "-m", "pytest", *options, *which], scripts, copy / "tests.log")
    failed = json.loads(known.read_text(encoding="utf-8")) if known.exists() else {}
    return code, list(failed)


def try_fault(runs: Runs, fault: Fault, plain: Path, folder: Path) -> Outcome:
    """Plant a fault in a copy of its own, and see which test tells.

    Args:
        runs: what runs the tests.
        fault: to plant.
        plain: a copy without a fault.
        folder: of the copy that is made.
    """
    begin = time.monotonic()
    copy_checkout(folder)
    try:
        killer, problem = _killer(runs, fault, plain, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Outcome(fault, killer, problem, time.monotonic() - begin)


def _killer(runs: Runs, fault: Fault, plain: Path, folder: Path) -> tuple[str | None, str]:
    """The test that tells a fault, or why there is none."""
    patched = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", fault.path],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if patched.returncode != 0:
        return None, f"the patch does not apply: {patched.stderr.strip()}"
    for which in (fault.tests, ("tests",)):
        code, failed = run_tests(runs, folder, which)
        if code == ALL_PASSED:
            continue
        killer = next((name for name in failed if "::" in name), None)
        if code != TESTS_FAILED or killer is None:
            end = (folder / "tests.log").read_text(encoding="utf-8", errors="replace")[-3000:]
            return None, f"the tests do not run (pytest's exit code {code}):\n{end}"
        code, _ = run_tests(runs, folder, [killer])
        if code != TESTS_FAILED:
            return None, f"{killer} failed once, and not again"
        with _PLAIN:
            code, _ = run_tests(runs, plain, [killer])
        return (killer, "") if code == ALL_PASSED else (None, f"{killer} fails without the fault, too")
    return None, "no test tells it"


def try_all(chosen: Sequence[Fault], jobs: int) -> list[Outcome]:
    """Try faults, some at once, and print what each came to; in the order of the faults."""
    runs = Runs()
    width = max(len(fault.name) for fault in chosen)
    outcomes: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory(prefix="steelyard-mutants-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        copy_checkout(folder / "plain")
        with ThreadPoolExecutor(jobs) as pool:
            try:
                tried = [
                    pool.submit(try_fault, runs, fault, folder / "plain", folder / fault.name)
                    for fault in chosen
                ]
                for done in as_completed(tried):
                    outcome = done.result()
                    outcomes[outcome.fault.name] = outcome
                    result = outcome.killer or f"SURVIVED: {outcome.problem}"
                    print(f"{outcome.fault.name:<{width}}  {outcome.seconds:5.0f} s  {result}", flush=True)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                runs.end()
                raise
    return [outcomes[fault.name] for fault in chosen]


def markdown(outcomes: Iterable[Outcome]) -> str:
    """The table of docs/development.md."""
    rows = [
        f"| `{one.fault.name}` | {one.fault.wrong} | {f'`{one.killer}`' if one.killer else 'no test'} |"
        for one in outcomes
    ]
    return "\n".join(["| Fault | What is wrong | First test that fails |", "| --- | --- | --- |", *rows])


def main() -> int:
    """Try the faults that the command line names."""
    parser = argparse.ArgumentParser(
        description="Plants known faults in copies of this checkout, one at a time, and shows which test tells each.",
        epilog="Exit code 1: a fault was told by no test, or its patch does not apply.",
    )
    parser.add_argument(
        "--list", action="store_true", help="what is wrong in each, and which tests should tell"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="faults that are tried at once (1)")
    parser.add_argument("--markdown", action="store_true", help="the table of docs/development.md at the end")
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults; left out: all")
    asked = parser.parse_args()
    chosen = faults(asked.names)
    if asked.list:
        for fault in chosen:
            print(f"{fault.name}: {fault.wrong} ({', '.join(fault.tests)})")
        return 0
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        outcomes = try_all(chosen, max(1, asked.jobs))
    except KeyboardInterrupt:
        print("interrupted: the copies are removed", file=sys.stderr)
        return 130
    survived = [one.fault.name for one in outcomes if one.killer is None]
    if asked.markdown:
        print(f"\n{markdown(outcomes)}")
    print(f"\n{len(outcomes) - len(survived)} of {len(outcomes)} faults were told by a test.")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
