# SPDX-License-Identifier: Apache-2.0
"""Data sets that are loaded once: where components keep their data in a folder, every trial starts from a copy of it.

Before the first trial that needs a data set its components are started, loaded by the workload's requests and stopped
in order; their folders then stand in `data/KEY/COMPONENT/`, the logs in `trials/load-ARM/`. What trials run is the spec
with those folders in place of the requests: no JVM that is weighed has loaded data, and none waits for it.

Where one arm cannot have that, as containers and pods keep no folder here, no arm has it: a JVM that has just loaded
data is warmer than one that found it.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard.engines.base import Engine, log_folder
from steelyard.errors import ServerFailed
from steelyard.results.spec import ORDER, Spec
from steelyard.results.store import SessionDirectory, no_space
from steelyard.session.context import RunContext
from steelyard.session.flight import Flight, TrialFailedError
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
            ServerFailed: the components do not run, do not load, or do not end by themselves.
        """
        if not spec.data or not spec.data_once or not _kept_in_folders(spec):
            return spec
        kept = self.directory.path / "data" / key(spec)
        if not kept.exists():
            self._load(spec, kept)
        components = [
            one.model_copy(update={"data_from": str((kept / one.name).resolve())}) if one.data else one
            for one in spec.components
        ]
        return spec.model_copy(update={"data": [], "components": components})

    def _load(self, spec: Spec, kept: Path) -> None:
        folder = self.directory.trials_path / f"load-{spec.arm}"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "replay").mkdir(parents=True)
        self.directory.log(self.context.clock.time(), "load", arm=spec.arm)
        plain = without_caches(spec)
        deployment = self.engines[spec.engine].open(plain, folder)
        flight = Flight(plain, folder, deployment, self.context, lambda _phase: None)
        new = kept.with_name(f".{kept.name}.new")
        try:
            with flight.phase("prepare"):
                flight.deployed.bring_up()
                flight.deployed.load_data()
                # Killed, a database would leave work to the next start: to every trial's.
                if problems := flight.deployed.take_down(ORDER[:-1], STOP_GRACE):
                    raise ServerFailed(f"after its data was loaded, {problems[0]}")
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(parents=True)
            for one in spec.deployed:
                if one.data is None:
                    continue
                filled = folder / Path(log_folder(one)).parent / one.data
                if not filled.is_dir():
                    raise ServerFailed(f"{one.name} kept no data in {filled}: is that where it was told to?")
                shutil.move(filled, new / one.name)
            new.rename(kept)
        except TrialFailedError as failure:
            raise ServerFailed(f"the run that loads the data failed: {failure}") from failure
        except OSError as error:
            raise no_space(kept, error) from error
        finally:
            flight.abandon()


def alike(specs: Mapping[str, Spec]) -> dict[str, Spec]:
    """The specs of a session, all with data that is loaded once, or none."""
    once = all(_kept_in_folders(spec) for spec in specs.values() if spec.data)
    return {arm: spec.model_copy(update={"data_once": once}) for arm, spec in specs.items()}


def _kept_in_folders(spec: Spec) -> bool:
    return any(one.data for one in spec.deployed)


def key(spec: Spec) -> str:
    """A name for the data set that a spec loads: the same for arms that load the same with the same programs."""
    artifacts = {f"{one.package} {one.build} {one.path}" for one in (each.artifact for each in spec.deployed)}
    data = [step.model_dump() for step in spec.data]
    told = [spec.engine, spec.workload, spec.workload_version, spec.topology, data, spec.settings]
    return hashlib.sha256(json.dumps([*told, sorted(artifacts)]).encode()).hexdigest()[:12]
