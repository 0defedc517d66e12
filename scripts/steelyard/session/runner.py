# SPDX-License-Identifier: Apache-2.0
"""Runs a session from its first trial to its report; resumes one that was cut off."""

import os
import platform
import subprocess
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from steelyard import __version__
from steelyard.analysis.estimates import analyse
from steelyard.build import Build
from steelyard.engines.base import Engine
from steelyard.errors import BadInput, ServerFailed
from steelyard.experiment.schema import Experiment
from steelyard.host.doctor import examine
from steelyard.host.facts import read_facts
from steelyard.host.lock import host_lock
from steelyard.paths import ROOT
from steelyard.processes import Children
from steelyard.report import write_report
from steelyard.results.analysis import Analysis
from steelyard.results.schema import ArmRecord, HostFacts, JournalEntry, Session, Trial
from steelyard.results.store import SessionDirectory, no_space, write_record
from steelyard.session.plan import Request, SessionPlan, plan_for
from steelyard.session.progress import Watcher
from steelyard.session.schedule import Planned, next_trial, run_schedule
from steelyard.session.toolchains import ImageToolchain
from steelyard.session.trial import TrialRunner

START_FAILURES_IN_A_ROW = 2
"""Trials in a row that fail to start before the session gives up: the reason is then not chance."""


def new_session(plan: SessionPlan, request: Request, build: Build | None, results: Path) -> SessionDirectory:
    """Make the directory of a new session and write its `session.json`.

    Args:
        plan: the session.
        request: how it was asked for.
        build: the Java parts, when an engine of the session needs them.
        results: where sessions are kept.

    Raises:
        NoSpace: it cannot be written.
    """
    now = datetime.now(UTC)
    name = f"{plan.experiment.name}-{now:%Y%m%dT%H%M%SZ}"
    directory = SessionDirectory(_fresh(results, name))
    findings = examine(results)
    session = Session(
        id=directory.path.name,
        created=now.timestamp(),
        steelyard_version=__version__,
        revision=_revision(),
        fingerprint=fingerprint_of(plan, build),
        experiment=plan.experiment.model_dump(mode="json"),
        quick=plan.quick,
        command=request.command(plan.seed),
        seed=plan.seed,
        arms=[
            ArmRecord(
                name=arm.name,
                levels=dict(arm.levels),
                baseline=arm.baseline,
                settings={
                    "deployment": arm.deployment.model_dump(mode="json"),
                    "load": arm.load.model_dump(mode="json"),
                },
            )
            for arm in plan.arms
        ],
        schedule=plan.schedule,
        host=read_facts(),
        server_jvm=plan.main_toolchain.server_jvm,
        injector_jvm=plan.main_toolchain.injector_jvm,
        engine_jvms={name: toolchain.server_jvm for name, toolchain in plan.toolchains.items()},
        images=plan.images,
        versions=component_versions(plan, build),
        first_port=plan.first_port,
        injectors_share_cores=plan.injectors_share_cores,
        notes=plan.notes,
        doctor=[
            f"{finding.topic}: {finding.state}. {finding.why}"
            for finding in findings
            if finding.level == "warn"
        ],
    )
    write_record(directory.path / "session.json", session)
    return directory


def plan_of(session: Session) -> SessionPlan:
    """The plan of a session that was begun earlier, on this host, with its own schedule.

    Raises:
        BadInput: the host or the JVM is not the one that the session was begun with.
    """
    host = read_facts()
    changed = _changed(session.host, host)
    if changed:
        raise BadInput(f"this session was begun on another host ({changed}): start a new one with `run`")
    experiment = Experiment.model_validate(session.experiment)
    process = session.engine_jvms.get("process")
    plan = plan_for(
        experiment, session.quick, session.seed, Path(process.home) if process else None, session.first_port
    )
    for engine, before in session.engine_jvms.items():
        now = plan.toolchains[engine].server_jvm
        if now.runtime_version != before.runtime_version:
            raise BadInput(
                f"the servers' JVM of the {engine} engine is now {now.runtime_version}, the session was begun with"
                f" {before.runtime_version}: start a new session with `run`"
            )
    for role, image in session.images.items():
        if plan.images.get(role) != image:
            raise BadInput(
                f"the {role} image is now {plan.images.get(role)}, the session was begun with {image}: start a new"
                " session with `run`"
            )
    return plan


def run_session(
    directory: SessionDirectory,
    plan: SessionPlan,
    engines: Mapping[str, Engine],
    children: Children,
    watcher: Watcher,
) -> list[Trial]:
    """Run what is left of a session, then analyse it and write its report.

    Returns:
        Every trial of the session, valid and void.

    Raises:
        Busy: another session or workload runs on this host.
        ServerFailed: the servers do not start; PortInUse, NoSpace: as they say. What was measured is kept.
        KeyboardInterrupt: passed on after everything was stopped and what was measured was analysed.
    """
    done = directory.trials()
    with host_lock(directory.path):
        for name, engine in engines.items():
            engine.check([topology for topology in plan.topologies.values() if topology.engine == name])
        _log(directory, "session-resume" if done or _has_journal(directory) else "session-start")
        runner = TrialRunner(plan, directory, engines, children, watcher)
        trials = list(done)
        failures = 0

        def run_trial(planned: Planned) -> Trial:
            watcher.trial_started(planned, len(trials), _total(plan, trials))
            return runner.run(planned)

        try:
            for trial in run_schedule(plan.schedule, plan.experiment.design.repeats, run_trial, done):
                trials.append(trial)
                watcher.trial_ended(trial, len(trials), _total(plan, trials))
                failures = failures + 1 if _failed_to_start(trial) else 0
                if failures >= START_FAILURES_IN_A_ROW:
                    raise ServerFailed(f"{failures} trials in a row did not start: {trial.failure}")
        except KeyboardInterrupt:
            _log(directory, "interrupted")
            raise
        finally:
            if trials:
                finish(directory)
        _log(directory, "session-end")
    return trials


def finish(directory: SessionDirectory) -> None:
    """Analyse what there is and write the report; the same as `analyze` and `report` do later."""
    analyse_again(directory)
    write_report(directory)


def analyse_again(directory: SessionDirectory) -> Analysis:
    """Make `analysis.json` from the trials that there are, and return it."""
    analysis = analyse(directory.session(), directory.trials())
    write_record(directory.path / "analysis.json", analysis)
    return analysis


def missing(plan: SessionPlan, trials: Sequence[Trial]) -> list[str]:
    """Arms and blocks without a valid trial, for the closing message."""
    valid = {(trial.block, trial.arm) for trial in trials if trial.state == "valid"}
    return [
        f"block {place.block} of {place.arm}"
        for place in plan.schedule
        if (place.block, place.arm) not in valid
    ]


def fingerprint_of(plan: SessionPlan, build: Build | None) -> str:
    """Fingerprint of the Java sources that the session's servers were built from."""
    compose = plan.toolchains.get("compose")
    if build is None and isinstance(compose, ImageToolchain):
        return compose.images.fingerprint
    assert build is not None
    return build.fingerprint


def component_versions(plan: SessionPlan, build: Build | None) -> dict[str, str]:
    """Versions of the parts that can influence a figure."""
    parts = {"steelyard": __version__, "python": platform.python_version()}
    parts.update({name: version(name) for name in ("numpy", "scipy", "ruptures", "hdrhistogram")})
    for jar in sorted((build.loadgen / "lib").glob("gatling-core-[0-9]*.jar")) if build is not None else ():
        parts["gatling"] = jar.stem.removeprefix("gatling-core-")
    compose = plan.toolchains.get("compose")
    if isinstance(compose, ImageToolchain):
        parts["docker"] = compose.docker.engine_version
        parts["docker compose"] = compose.docker.compose_version
    return parts


def _total(plan: SessionPlan, trials: Sequence[Trial]) -> int:
    """Trials of the session as far as is known: those that ended, and what is still to come."""
    outcomes = list(trials)
    ended = {(trial.block, trial.arm) for trial in outcomes}
    left = sum((place.block, place.arm) not in ended for place in plan.schedule)
    if left == 0 and next_trial(plan.schedule, outcomes, plan.experiment.design.repeats) is not None:
        left = 1
    return len(outcomes) + left


def _failed_to_start(trial: Trial) -> bool:
    return trial.failure is not None and "ramp" not in trial.phases


def _fresh(results: Path, name: str) -> Path:
    path, number = results / name, 1
    while path.exists():
        number += 1
        path = results / f"{name}-{number}"
    try:
        (path / "trials").mkdir(parents=True)
    except OSError as error:
        raise no_space(path, error) from error
    return path


def _has_journal(directory: SessionDirectory) -> bool:
    return (directory.path / "journal.jsonl").exists()


def _log(directory: SessionDirectory, event: str) -> None:
    directory.log(JournalEntry.model_validate({"time": time.time(), "event": event}))


def _changed(before: HostFacts, now: HostFacts) -> str:
    """What differs between two hosts as far as a session must not be mixed over it; empty when nothing does."""
    old, new = before.model_dump(), now.model_dump()
    for field in ("hostname", "architecture", "cpu_model", "cores", "cpus", "smt"):
        if old[field] != new[field]:
            return f"{field} was {old[field]}, is {new[field]}"
    return ""


def _revision() -> str | None:
    """Commit of the checkout, with `+` when it was changed; None outside a git checkout."""
    try:
        commit = _git("rev-parse", "--short=12", "HEAD")
        return commit + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*arguments: str) -> str:
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout.strip()
