# SPDX-License-Identifier: Apache-2.0
"""Runs one trial: host states -> components up -> its procedure -> everything down -> collect -> judge.

What it goes through is in `procedures.py`. It leaves, in `trials/BLOCK-ARM/`: `trial.json` (all that counts), `replay/`
(repeats it by hand), `servers/*/logs/`, `load/*/` (histograms and health of the injectors), `samples/` (per-second
series). A trial whose servers or injectors fail is void and kept; one that is interrupted is set aside and runs
again.
"""

import shutil
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.analysis.ledger import is_void, judge
from steelyard.analysis.metrics import metrics_of
from steelyard.engines.base import Deployment, Engine
from steelyard.errors import ServerFailed
from steelyard.experiment.schema import Search
from steelyard.host.switching import HostStates
from steelyard.processes import Children
from steelyard.results.schema import Check, JournalEntry, Phase, Trial
from steelyard.results.spec import Spec
from steelyard.results.store import SessionDirectory, no_space, write_record
from steelyard.session import collect
from steelyard.session.caches import Caches
from steelyard.session.flight import Flight, TrialFailedError
from steelyard.session.procedures import PROCEDURES
from steelyard.session.progress import Watcher
from steelyard.session.schedule import Planned
from steelyard.spec.search import with_value


@dataclass(frozen=True)
class Rules:
    """What a session decided for all of its trials, as session.json has it."""

    specs: Mapping[str, Spec]
    seed: int
    search: Search | None = None


@dataclass
class TrialRunner:
    """Runs the trials of one session."""

    rules: Rules
    directory: SessionDirectory
    engines: Mapping[str, Engine]
    children: Children
    watcher: Watcher
    states: HostStates
    caches: Caches = field(init=False)

    def __post_init__(self) -> None:
        self.caches = Caches(self.directory, self.engines, self.children, self.watcher)

    def run(self, planned: Planned) -> Trial:
        """Run one trial and write its `trial.json`.

        Returns:
            The trial, valid or void; a server or injector that fails makes it void.

        Raises:
            NoSpace, PortInUse: the session cannot go on.
            KeyboardInterrupt: the user wants to stop; everything that the trial started is stopped first.
        """
        spec = self._spec(planned)
        folder = self.directory.trial_path(planned.block, planned.arm, planned.attempt)
        _set_aside(folder)
        started = time.time()
        self._log("trial-start", planned, value=planned.value)
        phases: dict[str, tuple[float, float]] = {}
        try:
            with ExitStack() as cleanup:
                self._set_host(planned, spec)
                self.caches.populate(spec)
                deployment = self.engines[spec.engine].open(spec, folder)
                cleanup.callback(deployment.close)
                flight = self._flight(planned, spec, folder, deployment, phases)
                cleanup.callback(flight.abandon)
                PROCEDURES[spec.procedure](flight, lambda: self.caches.bring(spec, deployment))
                with flight.phase("collect"):
                    trial = self._collect(flight, started)
        except TrialFailedError as failure:
            trial = _failed(planned, started, failure.check, str(failure))
        except ServerFailed as failure:
            trial = _failed(planned, started, "start", str(failure))
        trial = trial.model_copy(update={"phases": phases})
        write_record(folder / "trial.json", trial)
        self._log("trial-end", planned, state=trial.state, detail=trial.failure)
        return trial

    def _spec(self, planned: Planned) -> Spec:
        """The arm's spec, with this trial's value of a search and this block's seed.

        The seed is the same in every arm of a block: arms differ in what the experiment varies, not in the draw.
        """
        spec = self.rules.specs[planned.arm]
        if self.rules.search is not None and planned.value is not None:
            spec = with_value(spec, self.rules.search, planned.value)
        seed = self.rules.seed + planned.block
        components = [
            one.model_copy(update={"settings": {**one.settings, "seed": seed}})
            if one.role == "injector"
            else one
            for one in spec.components
        ]
        return spec.model_copy(update={"components": components})

    def _set_host(self, planned: Planned, spec: Spec) -> None:
        if not spec.host_states:
            return
        self.watcher.phase("set-host", None)
        self._log("phase", planned, phase="set-host")
        self.states.enter((planned.block, planned.plot), spec.host_states)
        self._require_host(spec)

    def _require_host(self, spec: Spec) -> None:
        differences = self.states.verify(spec.host_states) if spec.host_states else []
        if differences:
            raise TrialFailedError("settings", differences[0])

    def _flight(
        self,
        planned: Planned,
        spec: Spec,
        folder: Path,
        deployment: Deployment,
        phases: dict[str, tuple[float, float]],
    ) -> Flight:
        def log_phase(phase: Phase) -> None:
            self._log("phase", planned, phase=phase)

        return Flight(planned, spec, folder, deployment, self.children, self.watcher, log_phase, phases)

    def _collect(self, flight: Flight, started: float) -> Trial:
        self._require_host(flight.spec)
        evidence = collect.gather(flight, flight.deployed.started)
        components = collect.component_results(evidence)
        measured = collect.measure(evidence, components)
        checks = judge(measured, flight.spec)
        planned, procedure = flight.planned, flight.spec.procedure
        trial = Trial(
            block=planned.block,
            arm=planned.arm,
            attempt=planned.attempt,
            order=planned.order,
            state="void" if is_void(checks) else "valid",
            started=started,
            phases=flight.phases,
            value=planned.value,
            measurement=measured,
            checks=checks,
            steady=measured.steady,
            metrics={},
            latency={**evidence.recorded.latency(), collect.ALL: evidence.recorded.overall()},
            components=components,
            first_answers=collect.first_answers(evidence) if procedure == "start-up" else {},
            curves=collect.curves(evidence) if procedure == "ramp-up" else {},
            survived=flight.survived,
            trace=collect.trace(evidence) if procedure in ("steady", "survive") else [],
        )
        return trial.model_copy(update={"metrics": metrics_of(trial, flight.spec)})

    def _log(self, event: str, planned: Planned, **more: object) -> None:
        entry = {"time": time.time(), "event": event, "block": planned.block, "arm": planned.arm}
        self.directory.log(JournalEntry.model_validate({**entry, "attempt": planned.attempt, **more}))


def _failed(planned: Planned, started: float, check: str, sentence: str) -> Trial:
    """A trial without measurement: void, kept and shown."""
    return Trial(
        block=planned.block,
        arm=planned.arm,
        attempt=planned.attempt,
        order=planned.order,
        state="void",
        started=started,
        phases={},
        value=planned.value,
        measurement=None,
        checks=[
            Check(name=check, passed=False, voids=True, value=None, limit=None, unit="", detail=sentence)
        ],
        steady=None,
        metrics={},
        latency={},
        components=[],
        trace=[],
        failure=sentence,
    )


def _set_aside(folder: Path) -> None:
    """Keep what an interrupted trial left, under another name, and make a new folder."""
    try:
        if folder.exists():
            number = 1
            while (aside := folder.with_name(f"{folder.name}.interrupted-{number}")).exists():
                number += 1
            folder.rename(aside)
            # Copies of server folders hold keys, and are of no use any more.
            for copied in (*aside.glob("servers/*/usr"), aside / "cache"):
                shutil.rmtree(copied, ignore_errors=True)
        (folder / "replay").mkdir(parents=True)
    except OSError as error:
        raise no_space(folder, error) from error
