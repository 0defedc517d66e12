# SPDX-License-Identifier: Apache-2.0
"""What tests of sessions ask, and how they look at the outcome."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from builders import make_jvm
from fake_engine import FakeChildren, FakeEngine, Recorder, World
from one_table import require_one_table
from planned import asked, processes, session_of, specs_of
from trees import Kernel

from steelyard.cli import run as run_module
from steelyard.engines.base import Engine
from steelyard.experiment.loader import LoadedExperiment
from steelyard.gate.interim import ends_at
from steelyard.host.doctor import examine
from steelyard.host.system import System
from steelyard.results.schema import Trial
from steelyard.results.store import SessionDirectory, write_record
from steelyard.session import opening, runner
from steelyard.session.context import RunContext

WINDOW = {"ramp": 1, "warmup": {"until": "fixed", "at_least": 2}, "measure": 5}


class Bench:
    """Sessions in a folder, on one world."""

    port = 21000
    """The first of the specs' ports. Nobody listens there: fake components have any port that is free."""

    def __init__(self, folder: Path, world: World) -> None:
        self.folder, self.world = folder, world
        self.kernel: Kernel | None = None
        self.children = FakeChildren(world)

    def session(
        self,
        question: LoadedExperiment,
        blocks: int = 2,
        feature: int = 17,
        kind: Literal["hotspot", "openj9"] = "hotspot",
        **servers: Any,
    ) -> SessionDirectory:
        """A session that has not begun; `servers` replaces fields of each."""
        found = specs_of(question, runtime=processes(make_jvm(kind, feature)), first_port=self.port)
        specs = {name: spec.with_changes("server", lambda _: servers) for name, spec in found.items()}
        directory = SessionDirectory(self.folder / f"session-{len(list(self.folder.iterdir()))}")
        (directory.path / "trials").mkdir(parents=True)
        write_record(directory.path / "session.json", session_of(question, specs, blocks))
        return directory

    def run(
        self, directory: SessionDirectory, report: bool = False, differs: str = "", **watching: Any
    ) -> list[Trial]:
        """Run it, or what is left of it; a report is drawn where it is asked for."""
        with pytest.MonkeyPatch.context() as patch:
            if not report:
                patch.setattr(runner, "write_report", lambda _: [])
            return self._run(directory, differs, **watching)

    def _run(self, directory: SessionDirectory, differs: str, **watching: Any) -> list[Trial]:
        # With the rule of gates, as commands call it for every session.
        trials = self.run_here(directory, differs, self.context(**watching), ends_at=ends_at)
        for trial in directory.trials():
            require_one_table(trial)
        return trials

    def run_here(
        self, directory: SessionDirectory, differs: str, context: RunContext, **more: Any
    ) -> list[Trial]:
        """`run_session` on this world. Its host has no files but `kernel`'s: what another suite's session set on the
        real one, and has not put back yet, is none of its business."""
        engines: dict[str, Engine] = {"process": FakeEngine(self.world)}
        system = self.kernel or System(self.folder / "no-host")
        lock = f"test-{os.getpid()}"
        return runner.run_session(directory, engines, context, differs, system=system, lock=lock, **more)

    def take_commands(self, patch: pytest.MonkeyPatch, watching: Callable[[], dict[str, Any]] = dict) -> None:
        """Have commands run their sessions here, without a report; `watching` gives what each watcher is told."""

        def run_session(directory: Any, _engines: Any, _context: Any, differs: str = "", **more: Any) -> Any:
            return self.run_here(directory, differs, self.context(**watching()), **more)

        # Only a power cut would show it, and on a busy disk it is most of a trial on the fake engine.
        patch.setattr(os, "fsync", lambda _: None)
        for name in ("ensure_builds", "require_idle", "require_ports"):
            patch.setattr(run_module, name, lambda *_: None)
        # The whole examination, but for a moment alone.
        patch.setattr(opening, "examine", partial(examine, seconds=0.05))
        patch.setattr(run_module, "run_session", run_session)
        patch.setattr(runner, "write_report", lambda _: [])

    def context(self, **watching: Any) -> RunContext:
        """What sessions on this world share, with a new watcher."""
        self.watcher = Recorder(**watching)
        return RunContext(
            self.children,
            self.watcher,
            self.world.clock,
            read_back=self.world.observe,
            # Of this process's own group: on a host with a CPU limit it grows by itself.
            read_throttling=lambda: 0.0,
            wash_out=lambda: 0.0,
        )


def order(directory: SessionDirectory) -> list[tuple[int, str, int]]:
    return [(one.block, one.arm, one.attempt) for one in directory.trials()]


def events(directory: SessionDirectory) -> list[str]:
    return [entry.event for entry in directory.journal()]


def failed(one: Trial) -> list[str]:
    return [f"{check.name}: {check.detail}" for check in one.checks if check.voids and check.has_failed]


def ping(**keys: Any) -> LoadedExperiment:
    return asked("ping", **{"load": {"users": 8, "injectors": 2, **WINDOW}, **keys})
