# SPDX-License-Identifier: Apache-2.0
"""Runs the command line as a user does, and looks at what it leaves behind."""

import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from one_table import require_one_table
from waiting import wait_until

from steelyard.errors import Busy
from steelyard.host.java import named_jdks
from steelyard.host.lock import host_lock
from steelyard.paths import ROOT
from steelyard.results.schema import Trial
from steelyard.results.store import SessionDirectory
from steelyard.session.workload_up import STATE

from .noise import NOISE, is_undisturbed, void_for_other_reasons_than_noise

__all__ = ["NOISE", "void_for_other_reasons_than_noise"]

DONE = (0, 9)
"""Complete, or blocks lost to a noisy machine: each test looks at why trials were void."""

EXPERIMENT = """\
steelyard: 1
name: tiny
title: A small session on real servers
question: Does the harness work?
workload: ping
factors:
  jvms: {levels: [1, 2]}
deployment:
  total_heap: 256m
  # The quick compiler alone: several JVMs that start together leave little of two cores to the thorough one. A small
  # nursery: collections fall into a short window however little a busy machine gets done.
  jvm: {gc: generational, nursery: 8m, jvm_args: ["-XX:TieredStopAtLevel=1"]}
load:
  users: 8
  ramp: 500ms
  warmup: {until: fixed, at_least: 1s}
  measure: 4s
  request_timeout: 2m  # a machine that stands still must not make errors
design: {blocks: 2, repeats: 1}
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "steelyard", *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "scripts"), "COLUMNS": "200", "STEELYARD_TRUST": "1"}


def call(*arguments: str, through: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; `through`: what it is run by, as in another network."""
    return subprocess.run(
        [*through, *command(*arguments)], capture_output=True, text=True, env=environment(), check=False
    )


def openj9(*, jitserver: bool = False) -> Path:
    """The folder of an OpenJ9 of this host, with a JITServer or in any case; skips the test where there is none."""
    homes = [jdk.home for jdk in named_jdks().values() if jdk.identity.kind == "openj9"]
    found = next((home for home in homes if not jitserver or (home / "bin" / "jitserver").exists()), None)
    if found is None:
        kind = "OpenJ9 with a JITServer" if jitserver else "OpenJ9"
        pytest.skip(f"this host has no {kind}: name the folder of one in STEELYARD_JDKS")
    return found


_ports = itertools.count(20000 + os.getpid() % 1000 * 10, 10)
_held = contextlib.ExitStack()
"""Locks of the ports that this process has asked for: nobody listens there yet, and no other process may get them."""


def only_session(out: Path) -> SessionDirectory:
    """The one session below a folder."""
    (directory,) = (SessionDirectory(path.parent) for path in out.glob("*/session.json"))
    return directory


def free_port() -> int:
    """A port for this process alone; its next few neighbours are free as well. Below those of outgoing connections."""
    return next(
        port for port in _ports if _hold(port) and all(_is_free(port + offset) for offset in range(10))
    )


def _hold(port: int) -> bool:
    """Keep a port and its neighbours until this process ends; False: another process has them."""
    with contextlib.suppress(Busy):
        _held.enter_context(host_lock(f"steelyard-tests-port-{port}"))
        return True
    return False


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@contextmanager
def taken_port() -> Iterator[int]:
    """A port on which a program listens; one that was free a moment ago may be gone, or still be closing."""
    for port in iter(free_port, None):
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                taken.bind(("0.0.0.0", port))
            except OSError:
                continue
            taken.listen()
            yield port
            return


def processes_that_mention(text: str) -> list[str]:
    """Command lines of processes whose command, environment or folder holds the text (ours left out)."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        if int(folder.name) == os.getpid():
            continue
        try:
            command_line = (folder / "cmdline").read_bytes()
            place = bytes((folder / "cwd").readlink())
            held = b"\0".join((command_line, (folder / "environ").read_bytes(), place))
        except OSError:
            continue
        if text.encode() in held:
            found.append(command_line.replace(b"\0", b" ").decode(errors="replace"))
    return found


_started: "list[Running]" = []


def end_all() -> None:
    """End sessions and a workload that a failed test left running, so that they do not fail the tests after it."""
    if STATE.exists():
        call("down")
    while _started:
        process = _started.pop().process
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(AssertionError):
                wait_until(lambda process=process: process.poll() is not None, "the end of a session")
            process.kill()
            process.wait()


class Running:
    """A session that runs in a process of its own."""

    def __init__(self, *arguments: str, out: Path, through: Sequence[str] = ()) -> None:
        self.out = out
        self.errors = out.parent / "stderr.txt"
        with self.errors.open("w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                [*through, *command(*arguments)],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=environment(),
                cwd=out.parent,
            )

        _started.append(self)

    @property
    def directory(self) -> SessionDirectory:
        """The newest session in `out`."""
        self.wait_until(lambda: bool(list(self.out.glob("*/session.json"))), "a session directory")
        return SessionDirectory(max(path.parent for path in self.out.glob("*/session.json")))

    def wait_until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait while the session runs."""
        wait_until(holds, what, lambda: self._ended)

    @property
    def _ended(self) -> str | None:
        code = self.process.poll()
        return None if code is None else f"it ended with {code}: {self.errors.read_text(encoding='utf-8')}"

    def wait_for_phase(self, phase: str, after: float) -> None:
        """Wait until the phase begins in some trial, later than the epoch time `after`."""
        directory = self.directory

        def reached() -> bool:
            return any(entry.phase == phase and entry.time > after for entry in directory.journal())

        self.wait_until(reached, f"phase {phase}")

    def running_pids(self, role: str) -> list[int]:
        """Process ids of the trial in flight, as given to the sampler."""
        newest = max(self.directory.path.glob("trials/*/sampler.json"), key=lambda path: path.stat().st_mtime)
        processes: list[dict[str, Any]] = json.loads(newest.read_text(encoding="utf-8"))["processes"]
        return [process["pid"] for process in processes if process["role"] == role]

    def interrupt(self) -> int:
        """The exit code after Ctrl-C, as a shell tells it.

        Python ends itself by the signal, though only at its end, if that came while it made code from text, as in the
        import of a module with data classes.
        """
        self.process.send_signal(signal.SIGINT)
        code = self.end()
        return 128 + signal.SIGINT if code == -signal.SIGINT else code

    def kill(self) -> None:
        """End the harness as a crash does, and wait until its guard has ended all that it ran."""
        self.process.kill()
        self.end()
        wait_until(
            lambda: not processes_that_mention(str(self.out)),
            lambda: f"the end of what a killed session left: {processes_that_mention(str(self.out))}",
        )

    def wait_for_trials(self, count: int) -> list[Trial]:
        """Wait until so many trials have ended."""
        directory = self.directory
        for number in range(1, count + 1):  # each has a patience of its own
            self.wait_until(lambda number=number: len(directory.trials()) >= number, f"trial {number}")  # type: ignore[misc]
        return directory.trials()

    def wait_for_undisturbed(
        self, arms: int = 1, enough: Callable[[Trial], bool] = lambda _: True
    ) -> list[Trial]:
        """Wait until so many arms have an undisturbed trial; a session has more blocks than a quiet machine needs.

        Args:
            arms: how many.
            enough: whether what a busy machine got done in a trial suffices for what is asked of it.

        Returns:
            The first such trial of each of these arms. Of all trials that there are, none failed a check for another
            reason than noise.
        """
        directory = self.directory
        found: dict[str, Trial] = {}
        ended = 0
        while len(found) < arms:
            ended += 1
            self.wait_until(lambda: len(directory.trials()) >= ended, f"trial {ended}, undisturbed")  # noqa: B023
            trials = directory.trials()
            void = void_for_other_reasons_than_noise(trials)
            assert not void, void  # pytest explains only assertions of test modules
            for trial in trials[:ended]:
                if is_undisturbed(trial) and enough(trial):
                    found.setdefault(trial.arm, trial)
        return list(found.values())

    def kill_in_a_trial(self, role: str, phase: str = "measure", at_once: int = 1) -> list[Trial]:
        """Kill a process of a trial in a phase of it.

        Args:
            role: as the sampler has it.
            phase: in which it is killed.
            at_once: how many trials run at once.

        Returns:
            The trials that ended by that. Where all stood still before the kill, so that it came too late, it is the
            next one.
        """
        directory = self.directory
        while True:
            ended = len(directory.trials())
            self.wait_for_phase(phase, time.time())
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.running_pids(role)[0], signal.SIGKILL)
            trials = self.wait_for_trials(ended + at_once)[ended : ended + at_once]
            if all(trial.failure is not None for trial in trials):
                return trials

    def end(self) -> int:
        """Wait for the end; the exit code. What each trial says as a whole is what it says of its components."""
        self.process.communicate()
        for path in self.out.glob("*/session.json") if self.out.exists() else ():
            for trial in SessionDirectory(path.parent).trials():
                require_one_table(trial)
        return self.process.returncode


def start(experiment: Path, out: Path, *more: str) -> Running:
    """Run an experiment; sessions go below `out`."""
    port = str(free_port())
    return Running("run", str(experiment), "--out", out.name, "--port", port, "--seed", "7", *more, out=out)


def block_on_two_topologies(experiment: Path, out: Path, jvms: Mapping[str, int]) -> list[Trial]:
    """Run a session whose two arms are two topologies until each has an undisturbed trial, and end it.

    Args:
        experiment: its file.
        out: where the session goes.
        jvms: how many server JVMs each arm has.

    Returns:
        Its trials. Every JVM had its part in each, no request failed, the data is consistent and was loaded once for
        each topology, and nothing is left behind.
    """
    session = start(experiment, out)
    trials = session.wait_for_undisturbed(len(jvms))
    session.interrupt()
    directory = session.directory
    assert session.process.returncode in (*DONE, 130, -2)
    assert {trial.arm for trial in trials} == jvms.keys()
    for trial in trials:
        served = [one.requests for one in trial.components if one.role == "server"]
        assert len(served) == jvms[trial.arm]
        assert all(served), "every JVM had its part"
        assert trial.measurement is not None
        assert trial.measurement.injector_errors == 0
        # None is not consistent, and the check has been made.
        assert next(one for one in trial.checks if one.name == "consistency").passed
    assert [entry.event for entry in directory.journal()].count("load") == 2, "one for each topology"
    assert not list(directory.path.glob("trials/*/servers/*/data"))
    assert not processes_that_mention(str(out))
    return trials


def mount(line: str) -> None:
    """Run a mount or umount command."""
    assert os.waitstatus_to_exitcode(os.system(line)) == 0
