# SPDX-License-Identifier: Apache-2.0
"""The door without a clone: a wheel is installed into an empty home and measures a server that it has never seen.

Where the tests run as root, the session has namespaces of its own: no network but the loopback, and an empty folder
where the checkout is.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from waiting import ended, wait_until
from walks import bare_environment

from steelyard.errors import Exit
from steelyard.host.programs import write_mark
from steelyard.paths import ROOT
from steelyard.published import VARIABLE
from steelyard.results.schema import Trial
from steelyard.results.store import SessionDirectory
from steelyard.spec.injectors import PACKAGE as INJECTOR
from suite.wheel import write_release

from .driver import DONE, EXPERIMENT, free_port, processes_that_mention, void_for_other_reasons_than_noise
from .noise import is_undisturbed

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]

QUESTION = ("jvm-count", "--quick", "--blocks", "2", "--workload", "my-server/workload.yaml")


class Machine(NamedTuple):
    """One that has the wheel's program, a JDK, and an empty home."""

    home: Path
    program: Path
    packages: Path

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Type a command there, in the home; `more`: variables."""
        return subprocess.run(
            [*elsewhere(), self.program, *words],
            cwd=self.home,
            env={**bare_environment(self.home), **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    @contextmanager
    def run_until_stopped(self, *words: str, said: Path, **more: str) -> Iterator[subprocess.Popen[str]]:
        """The same, stopped by Ctrl-C at the end of the block, unless it has ended; `said`: gets what it prints."""
        with (
            said.open("w", encoding="utf-8") as output,
            subprocess.Popen(
                [*elsewhere(), self.program, *words],
                cwd=self.home,
                env={**bare_environment(self.home), **more},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
            ) as process,
        ):
            try:
                yield process
            finally:
                process.send_signal(signal.SIGINT)

    def session(self, experiment: str) -> SessionDirectory | None:
        """The last session of an experiment; None before it has been written down."""
        files = self.home.glob(f"results/{experiment}-*/session.json")
        return max((SessionDirectory(path.parent) for path in files), key=lambda one: one.path, default=None)


def elsewhere() -> Sequence[str]:
    """What a command is run by, so that there is no checkout and no way out."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "ip", "mount"))):
        return ()
    script = 'ip link set lo up && mount -t tmpfs none "$0" && exec "$@"'
    return ("unshare", "--net", "--mount", "sh", "-c", script, str(ROOT))


@pytest.fixture(scope="module")
def machine(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    build = tmp_path_factory.mktemp("build") / built.name
    build.mkdir()
    (build / INJECTOR).symlink_to(built / INJECTOR)
    write_mark(build / INJECTOR)
    packages, home = tmp_path_factory.mktemp("release"), tmp_path_factory.mktemp("home")
    # An address that nobody has: what is not in the folder cannot be had.
    wheel = write_release(ROOT, build, "http://packages.invalid/v0", packages)
    place = home / "venv"
    commands: tuple[list[str | Path], ...] = (
        [sys.executable, "-m", "venv", place],
        [place / "bin" / "python", "-m", "pip", "install", "--quiet", wheel],
    )
    for command in commands:
        done = subprocess.run(
            command, cwd=home, env=bare_environment(home), capture_output=True, text=True, check=False
        )
        if done.returncode != 0 and "No matching distribution" in done.stderr:
            pytest.skip("pip reaches no packages from here")
        assert done.returncode == 0, done.stderr
    return Machine(home, place / "bin" / "steelyard", packages)


@pytest.fixture(scope="module")
def workload(machine: Machine) -> Path:
    """The file that three answers make."""
    shutil.copy(ROOT / "scripts" / "bench" / "walks" / "Shop.java", machine.home)
    made = machine.run(
        *("init", "my-server", "--start", "java Shop.java 8080", "--port", "8080", "--path", "/items")
    )
    assert made.returncode == 0, made.stderr
    assert "  steelyard run jvm-count --quick --workload my-server/workload.yaml\n" in made.stdout
    return machine.home / "my-server" / "workload.yaml"


@pytest.fixture
def _no_results(machine: Machine, workload: Path) -> None:
    """A session finds none beside it, as of a test that is tried again."""
    del workload
    shutil.rmtree(machine.home / "results", ignore_errors=True)


def test_what_it_says_is_typed_there(machine: Machine, workload: Path) -> None:
    assert "steelyard journey from-har" in workload.read_text(encoding="utf-8")
    assert "./steelyard" not in workload.read_text(encoding="utf-8")
    for words in (["list"], ["doctor"], ["explain", "other-cpu"], ["plan", *QUESTION]):
        said = machine.run(*words)
        assert said.returncode == 0, said.stderr
        assert "./steelyard" not in said.stdout + said.stderr
        assert str(ROOT) not in said.stdout + said.stderr


@pytest.mark.usefixtures("workload")
def test_what_cannot_be_fetched_is_one_sentence_with_what_to_do(machine: Machine) -> None:
    for question in (QUESTION, ("jvm-count", "--quick")):
        refused = machine.run("run", *question)
        assert refused.returncode == Exit.ENVIRONMENT, refused.stderr
        assert refused.stderr.splitlines()[-1].endswith(
            f": try again, or set {VARIABLE} to a folder or address that has it"
        )
        assert not list(machine.home.glob("results/*/trials/*"))


@pytest.mark.usefixtures("_no_results")
def test_the_session_of_the_page_measures_both_arms_and_keeps_them_when_it_is_stopped(
    machine: Machine, tmp_path: Path
) -> None:
    words = ("run", *QUESTION, "--port", str(free_port()))
    said = tmp_path / "said.txt"
    with machine.run_until_stopped(*words, said=said, STEELYARD_PACKAGES=str(machine.packages)) as running:
        for count in (1, 2):  # each has a patience of its own
            wait_until(
                lambda count=count: len(_undisturbed_arms(machine.session("jvm-count"))) >= count,  # type: ignore[misc]
                lambda count=count: f"arm {count}, measured: {said.read_text(encoding='utf-8')}",  # type: ignore[misc]
                ended(running),
            )
    session = machine.session("jvm-count")
    assert session is not None
    _is_sound(machine, session)
    if running.returncode not in DONE:
        assert running.returncode in (Exit.INTERRUPTED, -signal.SIGINT)
        assert f"Go on with: steelyard resume {session.path}\n" in said.read_text(encoding="utf-8")
    assert (machine.home / ".cache" / "steelyard" / "build").is_dir()


@pytest.mark.usefixtures("_no_results")
def test_a_session_ends_with_its_answer_or_says_what_made_it_void(machine: Machine) -> None:
    """Of two blocks without repeats, so that a busy machine has as many trials as a quiet one."""
    (machine.home / "tiny.yaml").write_text(EXPERIMENT.replace("repeats: 1", "repeats: 0"), encoding="utf-8")
    question = ("tiny.yaml", "--workload", "my-server/workload.yaml", "--port", str(free_port()), "--trust")
    ran = machine.run("run", *question, STEELYARD_PACKAGES=str(machine.packages))
    session = machine.session("tiny")
    assert session is not None, ran.stderr
    trials = _is_sound(machine, session)
    assert sorted((trial.block, trial.arm) for trial in trials) == [
        (block, arm) for block in (1, 2) for arm in ("jvms-1", "jvms-2")
    ]
    void = [trial for trial in trials if trial.state == "void"]
    report = (session.path / "report.md").read_text(encoding="utf-8")
    assert ran.returncode == (Exit.INCOMPLETE if void else Exit.OK), ran.stdout + ran.stderr
    assert f"report: {session.path / 'report.html'}\n" in ran.stdout
    if void:
        assert f"{len(void)} of 4 trials were void; they are in the report and in no average\n" in ran.stdout
        assert "incomplete: no valid trials to compare in block " in ran.stderr
        failed = {check.name for trial in void for check in trial.checks if check.voids and check.has_failed}
        assert all(f"- {name}: failed in " in report for name in failed)
    else:
        assert "jvms-2" in session.analysis().estimates["throughput"]


def _undisturbed_arms(session: SessionDirectory | None) -> set[str]:
    trials = session.trials() if session is not None else []
    return {trial.arm for trial in trials if is_undisturbed(trial)}


def _is_sound(machine: Machine, directory: SessionDirectory) -> list[Trial]:
    """Trials of a session: void by noise alone, measured unless everything stood still; with a report that can be made
    again, and nothing left running."""
    session, trials = directory.session(), directory.trials()
    assert {trial.arm for trial in trials} == {"jvms-1", "jvms-2"}
    assert not void_for_other_reasons_than_noise(trials)
    for trial in trials:
        assert trial.measurement is not None or trial.failure is not None
        if trial.measurement is not None and is_undisturbed(trial):
            assert trial.measurement.injector_requests > 0
    assert session.revision is not None
    assert (directory.path / "report.html").stat().st_size > 0
    again = machine.run("report", str(directory.path))
    assert again.returncode == 0, again.stderr
    assert not processes_that_mention(str(machine.home))
    return trials
