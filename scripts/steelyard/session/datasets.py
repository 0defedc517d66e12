# SPDX-License-Identifier: Apache-2.0
"""Data sets that are loaded once: where components keep their data in a folder, every trial starts from a copy of it.

Before the first trial that needs a data set its components are started, loaded by the workload's requests and stopped
in order; their folders then stand in `data/KEY/COMPONENT/`, the logs in `trials/load-ARM/`. What trials run is the spec
with those folders in place of the requests: no JVM that is measured has loaded data, and none waits for it.

Where one arm cannot have that, as containers and pods keep no folder here, no arm has it: a JVM that has just loaded
data is warmer than one that found it.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard.engines.base import Engine, log_folder
from steelyard.errors import ServerFailed
from steelyard.results.spec import ORDER, Component, Spec
from steelyard.results.store import SessionDirectory, write_folder
from steelyard.session.context import RunContext
from steelyard.session.trial_run import TrialFailedError, extra_run
from steelyard.spec.plan import without_caches

STOP_GRACE = 120.0
"""Seconds that a component may take to write what it holds when it ends."""


@dataclass(frozen=True)
class DataSets:
    """The data sets of a session."""

    directory: SessionDirectory
    engines: Mapping[str, Engine]
    context: RunContext

    def in_place(self, spec: Spec) -> Spec:
        """What a trial of the arm runs: the same where nothing keeps its data in a folder, else with its data there.

        Raises:
            ServerFailed: the components do not run, do not load, or do not end by themselves; one of them wrote to a
                file that every trial has.
        """
        if not spec.data or not spec.data_once or not _has_data_folders(spec):
            return spec
        kept = self.directory.path / "data" / key(spec)
        if not kept.exists():
            self._load(spec, kept)
        for component in spec.components:
            require_unwritten(kept / component.name, component.write_once)
        components = [
            component.model_copy(update={"data_from": str((kept / component.name).resolve())})
            if component.data
            else component
            for component in spec.components
        ]
        return spec.model_copy(update={"data": [], "components": components})

    def _load(self, spec: Spec, kept: Path) -> None:
        self.directory.log(self.context.clock.time(), "load", arm=spec.arm)
        place = self.directory, self.engines, self.context, f"load-{spec.arm}"
        try:
            with extra_run(*place, without_caches(spec)) as run:
                with run.phase("prepare"):
                    run.deployed.start()
                    run.deployed.load_data()
                    # Killed, a database would leave work to the next start: to every trial's.
                    if problems := run.deployed.stop(ORDER[:-1], STOP_GRACE):
                        raise ServerFailed(f"after its data was loaded, {problems[0]}")
                with write_folder(kept) as new:
                    for component in spec.without_injectors:
                        if component.data is not None:
                            shutil.move(_filled_folder(run.folder, component), new / component.name)
        except TrialFailedError as failure:
            raise ServerFailed(f"the run that loads the data failed: {failure}") from failure


def require_unwritten(folder: Path, write_once: Iterable[str]) -> None:
    """Raise ServerFailed where a file of a component's folders that are written once is newer than its data set."""
    loaded = folder.parent.stat().st_mtime_ns
    files = (path for name in write_once for path in (folder / name).rglob("*") if path.is_file())
    if written := next((path for path in files if path.stat().st_mtime_ns > loaded), None):
        raise ServerFailed(
            f"{folder.name} wrote to {written}, which all trials have, so they are no longer alike: take the folder"
            " out of `write_once` in its workload file, and start a new session"
        )


def _filled_folder(folder: Path, component: Component) -> Path:
    filled = folder / Path(log_folder(component)).parent / str(component.data)
    if not filled.is_dir():
        raise ServerFailed(
            f"{component.name} kept no data in {filled}: is that the folder that its command names?"
        )
    return filled


def share_data(specs: Mapping[str, Spec]) -> dict[str, Spec]:
    """The specs of a session, all with data that is loaded once, or none."""
    once = all(_has_data_folders(spec) for spec in specs.values() if spec.data)
    return {arm: spec.model_copy(update={"data_once": once}) for arm, spec in specs.items()}


def _has_data_folders(spec: Spec) -> bool:
    return any(component.data for component in spec.without_injectors)


def key(spec: Spec) -> str:
    """A name for the data set that a spec loads: the same for arms that load the same with the same programs."""
    programs = {
        f"{artifact.package} {artifact.build} {artifact.path}"
        for artifact in (component.artifact for component in spec.without_injectors)
    }
    data = [step.model_dump() for step in spec.data]
    parts = [spec.engine, spec.workload, spec.workload_version, spec.topology, data, spec.settings]
    return hashlib.sha256(json.dumps([*parts, sorted(programs)]).encode()).hexdigest()[:12]
