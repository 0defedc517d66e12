# SPDX-License-Identifier: Apache-2.0
"""Class caches in their declared state: `cold` is an empty folder, `warm` a copy of what a populating run has filled.

The populating run of an arm is made once in a session, before the arm's first trial: its servers run under the arm's
load with options that fill the caches, and are stopped in order, on which HotSpot writes them. It leaves
`caches/ARM/KIND/` and its logs in `trials/populate-ARM/`; nothing of it is a trial.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.engines.base import Deployment, Engine
from steelyard.errors import ServerFailed
from steelyard.results.spec import Spec
from steelyard.results.store import SessionDirectory, no_space
from steelyard.session.context import RunContext
from steelyard.session.flight import Flight, TrialFailedError
from steelyard.session.schedule import populating_load
from steelyard.spec.plan import populating_spec

WRITE_GRACE = 120.0
"""Seconds that a server may take to write its archive when it ends (JDK 25 starts a JVM of its own for it)."""


@dataclass(frozen=True)
class Caches:
    """The class caches of a session."""

    directory: SessionDirectory
    engines: Mapping[str, Engine]
    context: RunContext

    def bring(self, spec: Spec, deployment: Deployment[Any]) -> None:
        """Give a deployment's components, which do not run, caches in the state that the spec declares."""
        warm = spec.caches("warm")
        for kind in spec.caches("cold", "warm"):
            folder = deployment.cache(kind)
            source = self.directory.path / "caches" / spec.arm / kind
            try:
                shutil.rmtree(folder, ignore_errors=True)
                if kind in warm:
                    shutil.copytree(source, folder)
                else:
                    folder.mkdir(parents=True)
            except OSError as error:
                raise no_space(folder, error) from error

    def populate(self, spec: Spec) -> None:
        """Make the populating run of an arm, unless the session has it already.

        Raises:
            ServerFailed: the servers do not run, or write no cache.
        """
        kept = self.directory.path / "caches" / spec.arm
        if not spec.caches("warm") or kept.exists():
            return
        folder = self.directory.trials_path / f"populate-{spec.arm}"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "replay").mkdir(parents=True)
        self.directory.log(self.context.clock.time(), "populate", arm=spec.arm)
        plain = populating_spec(spec)
        deployment = self.engines[spec.engine].open(plain, folder)
        flight = Flight(plain, folder, deployment, self.context, lambda _phase: None)
        try:
            self._run(flight)
            self._keep(spec, deployment)
        except TrialFailedError as failure:
            raise ServerFailed(f"the run that fills the class caches failed: {failure}") from failure
        finally:
            flight.abandon()

    def _run(self, flight: Flight) -> None:
        with flight.phase("prepare", populating_load(flight.spec)):
            flight.deployed.bring_up()
            flight.deployed.load_data()
            flight.start_injectors()
            flight.injectors.go()
            flight.watch(populating_load(flight.spec))
            problems = flight.injectors.stop()
            if problems:
                raise TrialFailedError(problems[0])
            flight.deployed.take_down(("proxy", "server", "compiler"), WRITE_GRACE)

    def _keep(self, spec: Spec, deployment: Deployment[Any]) -> None:
        kept = self.directory.path / "caches" / spec.arm
        new = kept.with_name(f".{spec.arm}.new")
        try:
            shutil.rmtree(new, ignore_errors=True)
            for kind in spec.caches("warm"):
                folder = deployment.cache(kind)
                if not folder.is_dir() or not any(folder.iterdir()):
                    logs = deployment.logs(next(one.name for one in spec.components if one.kind == kind))
                    raise ServerFailed(f"{kind} of arm {spec.arm} wrote no cache: see {logs}")
                shutil.copytree(folder, new / kind)
            new.rename(kept)
        except OSError as error:
            raise no_space(kept, error) from error
