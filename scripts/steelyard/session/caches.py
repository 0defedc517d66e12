# SPDX-License-Identifier: Apache-2.0
"""Class caches in their declared state: `cold` is an empty folder, `warm` a copy of what a populating run has filled.

The populating run of an arm is made once in a session, before the arm's first trial: its servers run under the arm's
load with options that fill the caches, and are stopped in order, on which HotSpot writes them. It leaves
`caches/ARM/KIND/` and its logs in `trials/populate-ARM/`; nothing of it is a trial.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.engines.base import Deployment, Engine
from steelyard.errors import ServerFailed
from steelyard.results.spec import Spec
from steelyard.results.store import SessionDirectory, report_no_space, write_folder
from steelyard.session.context import RunContext
from steelyard.session.schedule import populating_load
from steelyard.session.trial_run import TrialFailedError, TrialRun, extra_run
from steelyard.spec.plan import populating_spec

WRITE_GRACE = 120.0
"""Seconds that a server may take to write its archive when it ends (JDK 25 starts a JVM of its own for it)."""


@dataclass(frozen=True)
class Caches:
    """The class caches of a session."""

    directory: SessionDirectory
    engines: Mapping[str, Engine]
    context: RunContext

    def install(self, spec: Spec, deployment: Deployment[Any]) -> None:
        """Give a deployment's components, which do not run, what they start from: caches in the state that the spec
        declares, and of servers the checkpoints that it asks for."""
        warm = spec.caches("warm")
        for service in spec.caches("cold", "warm"):
            folder = deployment.cache(service)
            source = self.directory.path / "caches" / spec.arm / service
            with report_no_space(folder):
                shutil.rmtree(folder, ignore_errors=True)
                if service in warm:
                    shutil.copytree(source, folder)
                else:
                    folder.mkdir(parents=True)
        for server in spec.checkpoint_servers:
            deployment.take_checkpoint(server)

    def populate(self, spec: Spec) -> None:
        """Make the populating run of an arm, unless the session has it already.

        Raises:
            ServerFailed: the servers do not run, or write no cache.
        """
        kept = self.directory.path / "caches" / spec.arm
        if not spec.caches("warm") or kept.exists():
            return
        self.directory.log(self.context.clock.time(), "populate", arm=spec.arm)
        place = self.directory, self.engines, self.context, f"populate-{spec.arm}"
        try:
            with extra_run(*place, populating_spec(spec)) as run:
                _fill(run)
                with write_folder(kept) as new:
                    for service in spec.caches("warm"):
                        shutil.copytree(_filled_cache(spec, run.deployment, service), new / service)
        except TrialFailedError as failure:
            raise ServerFailed(f"the run that fills the class caches failed: {failure}") from failure


def _fill(run: TrialRun) -> None:
    with run.phase("prepare", populating_load(run.spec)):
        run.deployed.start()
        run.deployed.load_data()
        run.start_injectors()
        run.injectors.go()
        run.watch(populating_load(run.spec))
        problems = run.injectors.stop()
        if problems:
            raise TrialFailedError(problems[0])
        # One that was killed has written a part of its cache.
        if problems := run.deployed.stop(("proxy", "server", "compiler"), WRITE_GRACE):
            raise TrialFailedError(problems[0])


def _filled_cache(spec: Spec, deployment: Deployment[Any], service: str) -> Path:
    folder = deployment.cache(service)
    if not folder.is_dir() or not any(folder.iterdir()):
        logs = deployment.logs(next(each.name for each in spec.components if each.kind == service))
        raise ServerFailed(f"{service} of arm {spec.arm} wrote no cache: see {logs}")
    return folder
