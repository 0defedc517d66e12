# SPDX-License-Identifier: Apache-2.0
"""The record of a session: written when it begins, held against this host when it goes on."""

import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from steelyard import __version__
from steelyard.build import BUILDS, GitFailed, git
from steelyard.errors import BadInput, MissingRequirement, ProgramGone
from steelyard.host.doctor import DoctorFinding, examine
from steelyard.host.facts import is_same_memory, read_facts
from steelyard.host.java import identify
from steelyard.host.states import STATES
from steelyard.jvm.identity import JvmIdentity
from steelyard.paths import IS_RELEASE, PROGRAM, ROOT
from steelyard.published import read_release
from steelyard.results.schema import ArmRecord, HostFacts, RecordedWorkload, Session
from steelyard.results.store import SessionDirectory, no_space, write_record
from steelyard.sampling.procfs import boot_id
from steelyard.session.plan import RunRequest, SessionPlan
from steelyard.session.runtimes import ClusterTarget
from steelyard.spec.injectors import PACKAGE as INJECTOR
from steelyard.workload.trust import keep

_MAY_DIFFER = {"os", "swap_bytes", "cgroup_version"}
"""Facts of the host that may change; over the others a session must not be mixed."""
_MOVED = {"irq_affinity"}
"""Host states that a service of the host may change at any time."""
_UNKNOWN = {
    **dict.fromkeys(("hostname", "kernel"), "unknown"),
    "memory_bytes": 0,
    **dict.fromkeys(("smt", "governor", "turbo", "thp")),
}
"""What stands for a fact that the host does not show; two of these are not equal. (None of others is a fact.)"""


def new_session(plan: SessionPlan, results: Path, name: str | None = None) -> SessionDirectory:
    """Make the directory of a new session and write its `session.json`.

    Args:
        plan: the session.
        results: where sessions are kept.
        name: of its folder there; None: made of the experiment and the time.

    Raises:
        NoSpace: it cannot be written.
    """
    experiment, now = plan.experiment, datetime.now(UTC)
    directory = SessionDirectory(_fresh(results, name or f"{experiment.name}-{now:%Y%m%dT%H%M%SZ}"))
    findings = examine(results)
    session = Session(
        id=directory.path.name if name is None else f"{results.name}-{name}",
        created=now.timestamp(),
        steelyard_version=__version__,
        revision=_revision(),
        workload=RecordedWorkload.model_validate(
            plan.workload.workload.model_dump(mode="json", by_alias=True)
        ),
        workload_path=experiment.workload,
        experiment=experiment,
        quick=plan.request.quick,
        command=repeat_command(plan.request.argv, plan.seed),
        seed=plan.seed,
        arms=[
            ArmRecord(
                name=arm.name,
                levels=dict(arm.levels),
                baseline=arm.baseline,
                settings={
                    "deployment": arm.deployment.model_dump(mode="json"),
                    "load": arm.load.model_dump(mode="json"),
                    "settings": {**arm.settings, **arm.host},
                },
                spec=plan.specs[arm.name],
                second=plan.second.get(arm.name),
            )
            for arm in plan.arms
        ],
        schedule=plan.schedule,
        host=read_facts(),
        boot=boot_id(),
        versions=_versions(plan),
        first_port=min(
            (port for spec in plan.specs.values() for port in spec.ports), default=plan.request.first_port
        ),
        injectors_share_cores=plan.injectors_share_cores,
        notes=plan.notes,
        profilers=list(plan.profilers),
        profile_starts=plan.request.profile_starts,
        counters=dict(plan.counters),
        gate=plan.gate,
        certificate=plan.certificate,
        doctor=_sentences(findings, "warn"),
        doctor_notes=_sentences(findings, "info"),
    )
    begin(directory, session)
    return directory


def begin(directory: SessionDirectory, session: Session) -> None:
    """Write `session.json`, and note that it was written here: `resume` asks about any other (raises NoSpace)."""
    record = directory.path / "session.json"
    write_record(record, session)
    keep([record])


def _sentences(findings: Sequence[DoctorFinding], level: str) -> list[str]:
    return [
        f"{finding.topic}: {finding.state}. {finding.why}" for finding in findings if finding.level == level
    ]


_NOT_REPEATED = {"--resume": 0, "--json": 0, "--metrics-port": 1}
"""Options that say nothing of what is measured: name -> number of values."""


def repeat_command(argv: Sequence[str], seed: int) -> str:
    """The command line that runs the same session again, in the same order: as it was typed, with the seed."""
    kept = [PROGRAM, *leave_out(argv, _NOT_REPEATED)]
    if not any(word == "--seed" or word.startswith("--seed=") for word in kept):
        kept += ["--seed", str(seed)]
    return shlex.join(kept)


def leave_out(words: Iterable[str], options: Mapping[str, int]) -> list[str]:
    """The words of a command line without some options.

    Args:
        options: name -> number of its values, 0 or 1, which follow it as a word or behind a `=`.
    """
    kept, words = list[str](), iter(words)
    for word in words:
        name, _, value = word.partition("=")
        if name not in options:
            kept.append(word)
        elif options[name] and not value:
            next(words, None)
    return kept


def resume_command(directory: SessionDirectory, target: ClusterTarget) -> str:
    """The command line that goes on with a session; with the gate, where it is the confirmation of one."""
    terms = directory.session().gate
    confirms = terms is not None and terms.confirms is not None
    path = directory.path.parent if confirms else directory.path
    return shlex.join([PROGRAM, "resume", *target.options(), str(path)])


def find_unfinished(results: Path, request: RunRequest) -> SessionDirectory | None:
    """The last session that the same command line began, unless it has ended.

    Args:
        results: where sessions are kept.
        request: what is asked for now; without a seed it asks for any.

    Raises:
        BadInput, NewerFormat, Altered: a session there cannot be read, so that nobody knows.
    """

    directories = [SessionDirectory(path.parent) for path in results.glob("*/session.json")]
    sessions = [(directory.session(), directory) for directory in directories]
    begun = {
        session.created: directory
        for session, directory in sessions
        if session.command == repeat_command(request.argv, session.seed)
    }
    last = begun[max(begun)] if begun else None
    return None if last is None or last.has_ended() else last


def require_same(session: Session) -> list[str]:
    """Refuse to go on with a session where it would be another one: another host, kernel, setting, version or JVM, or
    where nobody knows. (Engines look for the builds and images.)

    Returns:
        What else differs, one sentence each for the report.

    Raises:
        BadInput: what differs or is not known, and what to do.
        ProgramGone: a JVM is not there, or is another.
    """
    named = {name for arm in session.arms for name in arm.spec.host_states}
    varied = named | {fact for name in named & STATES.keys() for fact in STATES[name].facts} | _MOVED
    before, now = (_facts(facts, varied) for facts in (session.host, read_facts()))
    if is_same_memory(before["memory_bytes"], now["memory_bytes"]):
        before["memory_bytes"] = now["memory_bytes"]
    pairs = {name: (before[name], now[name]) for name in now}
    pairs["version of Steelyard"] = session.steelyard_version, __version__
    differ = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    # Where nothing runs on this host, another one may go on.
    elsewhere = all(arm.spec.remote for arm in session.arms)
    for name in differ.keys() - (_MAY_DIFFER if not elsewhere else set(now)):
        raise BadInput(
            "this session was begun under other conditions ({} was {}, is {}): start a new one with `run`".format(
                name, *differ[name]
            )
        )
    for name in _UNKNOWN.keys() & now.keys() if not elsewhere else ():
        if now[name] == _UNKNOWN[name]:
            raise BadInput(
                f"this host does not show its {name} now, and did not when this session was begun, so nobody knows"
                " whether it is the same: start a new one with `run`"
            )
    artifacts = [component.artifact for arm in session.arms for component in arm.spec.components]
    for jvm in {artifact.jvm for artifact in artifacts if artifact.image is None}:
        if jvm is not None:
            _require_jvm(jvm)
    differ["revision of Steelyard"] = session.revision, _revision()
    differ |= {name: (session.versions.get(name), own) for name, own in _own_versions().items()}
    return [f"After a resume {name} was {b}; before, {a}." for name, (a, b) in differ.items() if a != b]


def _require_jvm(before: JvmIdentity) -> None:
    try:
        now = identify(Path(before.home) / "bin" / "java").identity.runtime_version
    except MissingRequirement:
        now = "gone"
    if now != before.runtime_version:
        raise ProgramGone(
            f"the JVM in {before.home} is now {now}, the session was begun with {before.runtime_version}: put that"
            " back, or start a new session with `run`"
        )


def _facts(facts: HostFacts, varied: set[str]) -> dict[str, Any]:
    """Facts of a host without the states that a session varies: a killed one may have left them otherwise."""
    fixed = {name: value for name, value in facts.model_dump().items() if name not in varied}
    return fixed | {"extra": {name: value for name, value in facts.extra.items() if name not in varied}}


def _versions(plan: SessionPlan) -> dict[str, str]:
    """Versions of the parts that can influence a figure."""
    parts = {"steelyard": __version__, **_own_versions()}
    for mark in plan.runtimes.builds:
        for jar in sorted((BUILDS / mark / INJECTOR / "lib").glob("gatling-core-[0-9]*.jar")):
            parts["gatling"] = jar.stem.removeprefix("gatling-core-")
    return parts | plan.runtimes.versions()


def _own_versions() -> dict[str, str]:
    """Of what the harness itself runs on."""
    parts = {name: version(name) for name in ("numpy", "scipy")}
    return {"python": platform.python_version(), **parts}


def _fresh(results: Path, name: str) -> Path:
    path, number = results / name, 1
    try:
        while path.exists():
            number += 1
            path = results / f"{name}-{number}"
        (path / "trials").mkdir(parents=True)
    except OSError as error:
        raise no_space(path, error) from error
    return path


def _revision() -> str | None:
    """Commit of the checkout, with `+` when it was changed; None outside a git checkout."""
    if IS_RELEASE:
        return read_release().commit
    try:
        commit = git(ROOT, "rev-parse", "--short=12", "HEAD")
        # A session must not hold a lock that a person's git waits for.
        changed = git(ROOT, "--no-optional-locks", "status", "--porcelain", "--untracked-files=no")
        return commit + ("+" if changed else "")
    except GitFailed:
        return None
