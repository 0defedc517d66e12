# SPDX-License-Identifier: Apache-2.0
"""Runs one trial. What it goes through:

    what the trial before left is washed out -> host states set -> data loaded, class cache filled (an arm's first)
    -> components up, its procedure, components down (procedures.py) -> host states read back
    -> files collected to figures -> judged by the ledger

It leaves, in `trials/BLOCK-ARM/` (docs/files.md): `trial.json` (all that counts), `replay/` (repeats it by hand),
`servers/*/logs/` and `logs/`, `load/*/` (histograms and health of the injectors), `samples/` (per-second series). A
trial whose servers or injectors fail is void and kept; one that is interrupted is set aside and runs again.
"""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from steelyard.engines.base import Engine
from steelyard.engines.both import CombinedDeployment, side_of
from steelyard.engines.process.deployment import working_files
from steelyard.errors import ServerFailed
from steelyard.host.switching import HostStates
from steelyard.measure.ledger import is_void
from steelyard.measure.record import metrics_of
from steelyard.results.binding import digests
from steelyard.results.failure import Failure
from steelyard.results.schema import Check, Phase, Planned, Trial
from steelyard.results.spec import Component, Spec
from steelyard.results.store import SessionDirectory, report_no_space, write_record
from steelyard.session.caches import Caches
from steelyard.session.context import RunContext
from steelyard.session.datasets import DataSets
from steelyard.session.duet import DUET, CombinedRun, judge_together, merge_sides
from steelyard.session.evidence import TrialOutcome, gather, measure_outcome
from steelyard.session.procedures import PROCEDURES
from steelyard.session.schedule import Schedule
from steelyard.session.trial_run import TrialFailedError, TrialRun
from steelyard.spec.search import with_value


@dataclass
class TrialRunner:
    """Runs the trials of one session."""

    schedule: Schedule
    directory: SessionDirectory
    engines: Mapping[str, Engine]
    context: RunContext
    states: HostStates

    def run(self, together: Sequence[Planned]) -> list[Trial]:
        """Run one trial, or the two of a duet at once, and write `trial.json` of each.

        Returns:
            The trials, valid or void; a server or injector that fails makes them void.

        Raises:
            NoSpace, PortInUse: the session cannot go on.
            KeyboardInterrupt: the user wants to stop; everything that was started is stopped first.
        """
        specs = {planned.arm: self._spec(planned) for planned in together}
        started = self.context.clock.time()
        # Before a folder is set aside: what the partner of a lost side left has ended until then, by the journal.
        for planned in together:
            self._log(planned, "trial-start", value=planned.value)
        folders = {planned.arm: self._folder(planned) for planned in together}
        phases: dict[str, tuple[float, float]] = {}
        run: TrialRun | None = None
        prepared: str | None = None
        caches = Caches(self.directory, self.engines, self.context)
        data = DataSets(self.directory, self.engines, self.context)
        try:
            with ExitStack() as cleanup:
                self._wash_out(together, specs.values(), phases)
                self._set_host(together[0], specs[together[0].arm])
                for prepared, spec in specs.items():
                    specs[prepared] = data.in_place(spec)
                    caches.populate(specs[prepared])
                prepared = None
                run = self._open(together, specs, folders, phases)
                run.daemons = [pid for engine in self.engines.values() for pid in engine.daemons()]
                cleanup.callback(run.abandon)
                PROCEDURES[run.spec.procedure](run, partial(_fill_caches, caches, run))
                with run.phase("collect"):
                    self._require_host(run.spec)
                    outcomes = [measure_outcome(gather(trial)) for trial in run.trials]
        except (TrialFailedError, ServerFailed) as error:
            failure = _failure_of(error)
            survived = run.survived if run else None
            # It did not come as far as a measurement, and memory is why: that is what was asked.
            answers = run is not None and survived is False and run.window[1] == 0.0
            blamed = prepared or side_of(failure.component, specs)
            outcomes = [
                TrialOutcome(
                    checks=[_failed_check(failure, answers)] if blamed in (None, planned.arm) else [],
                    failure=failure,
                    survived=survived,
                )
                for planned in together
            ]
        checks = judge_together({arm: outcome.checks for arm, outcome in zip(specs, outcomes, strict=True)})
        return [
            self._record(
                planned, specs[planned.arm], replace(outcome, checks=checks[planned.arm]), started, phases
            )
            for planned, outcome in zip(together, outcomes, strict=True)
        ]

    def _folder(self, planned: Planned) -> Path:
        folder = self.directory.trial_path(planned.block, planned.arm, planned.attempt)
        _set_aside(folder, self.schedule.spec(planned).components)
        return folder

    def _open(
        self,
        together: Sequence[Planned],
        specs: Mapping[str, Spec],
        folders: Mapping[str, Path],
        phases: dict[str, tuple[float, float]],
    ) -> TrialRun:
        """Open the deployments; the run of all of them."""

        def log_phase(phase: Phase) -> None:
            for planned in together:
                self._log(planned, "phase", phase)

        deployments = {arm: self.engines[spec.engine].open(spec, folders[arm]) for arm, spec in specs.items()}
        if len(together) == 1:
            (spec,), (folder,), (deployment,) = specs.values(), folders.values(), deployments.values()
            return TrialRun(spec, folder, deployment, self.context, log_phase, phases)
        folder = self.directory.trial_path(together[0].block, DUET, together[0].attempt)
        _set_aside(folder, ())  # those of the sides are in their own
        return CombinedRun(
            merge_sides(specs),
            folder,
            CombinedDeployment(deployments, folder),
            self.context,
            log_phase,
            phases,
            sides=specs,
            folders=folders,
        )

    def _record(
        self,
        planned: Planned,
        spec: Spec,
        outcome: TrialOutcome,
        started: float,
        phases: Mapping[str, tuple[float, float]],
    ) -> Trial:
        folder = self.directory.trial_path(planned.block, planned.arm, planned.attempt)
        trial = trial_record(planned, spec, outcome, started, phases, digests(folder))
        bound = write_record(folder / "trial.json", trial)
        detail = trial.failure.detail if trial.failure is not None else None
        self._log(planned, "trial-end", state=trial.state, detail=detail, digest=bound)
        return trial

    def _spec(self, planned: Planned) -> Spec:
        """The arm's spec, with this trial's value of a search and this block's seed.

        The seed is the same in every arm of a block: arms differ in what the experiment varies, not in the draw.
        """
        spec = self.schedule.spec(planned)
        if self.schedule.question is not None and planned.value is not None:
            spec = with_value(spec, self.schedule.question.search, planned.value)
        seed = self.schedule.session.seed + planned.block
        return spec.with_changes(
            "injector", lambda injector: {"settings": {**injector.settings, "seed": seed}}
        )

    def _wash_out(
        self, together: Sequence[Planned], specs: Iterable[Spec], phases: dict[str, tuple[float, float]]
    ) -> None:
        """Servers of a cluster run on other machines, which this one cannot wait for."""
        if all(spec.engine == "kubernetes" for spec in specs):
            return
        self.context.watcher.phase("wash-out", None)
        for planned in together:
            self._log(planned, "phase", "wash-out")
        began = self.context.clock.time()
        self.context.wash_out()
        phases["wash-out"] = (began, self.context.clock.time())

    def _set_host(self, planned: Planned, spec: Spec) -> None:
        if spec.host_states:
            self.context.watcher.phase("set-host", None)
            self._log(planned, "phase", "set-host")
            self.states.enter((planned.block, planned.plot), spec.host_states, spec.cpus)
            self._require_host(spec)

    def _require_host(self, spec: Spec) -> None:
        if spec.host_states and (differences := self.states.verify(spec.host_states)):
            raise TrialFailedError(Failure(component=None, cause="settings", detail=differences[0]))

    def _log(self, planned: Planned, event: str, phase: Phase | None = None, **more: object) -> None:
        place = {"block": planned.block, "arm": planned.arm, "attempt": planned.attempt, "phase": phase}
        self.directory.log(self.context.clock.time(), event, **place, **more)


def _fill_caches(caches: Caches, run: TrialRun) -> None:
    for spec, deployment in run.deployments:
        caches.install(spec, deployment)


def trial_record(
    planned: Planned,
    spec: Spec,
    outcome: TrialOutcome,
    started: float,
    phases: Mapping[str, tuple[float, float]],
    files: Mapping[str, str] | None = None,
) -> Trial:
    """The record of a trial: valid or void, with its metrics."""
    trial = Trial(
        **dict(planned),
        **vars(outcome),
        state="void" if is_void(outcome.checks) else "valid",
        started=started,
        phases=dict(phases),
        metrics={},
        files=dict(files or {}),
    )
    return trial.model_copy(update={"metrics": metrics_of(trial, spec)})


def _failure_of(error: TrialFailedError | ServerFailed) -> Failure:
    if isinstance(error, TrialFailedError):
        return error.failure
    return Failure(component=error.component, cause="start", detail=str(error))


def _failed_check(failure: Failure, answers: bool) -> Check:
    """The check that a trial failed before its measurement ended: void, kept and shown.

    Args:
        failure: which check, and why.
        answers: that it failed is what the procedure asks for, and voids nothing: a mean over those that came up would
            be one of survivors.
    """
    return Check(
        name=str(failure.cause),
        passed=False,
        voids=not answers,
        value=None,
        limit=None,
        unit="",
        detail=failure.detail,
    )


def _set_aside(folder: Path, components: Iterable[Component]) -> None:
    """Keep what an interrupted trial of these left, under another name, and make a new folder."""
    with report_no_space(folder):
        if folder.exists():
            number = 1
            while (aside := folder.with_name(f"{folder.name}.interrupted-{number}")).exists():
                number += 1
            folder.rename(aside)
            for path in working_files(aside, components):
                shutil.rmtree(path, ignore_errors=True)
        (folder / "replay").mkdir(parents=True)
