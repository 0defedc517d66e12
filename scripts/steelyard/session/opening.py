# SPDX-License-Identifier: Apache-2.0
"""The record of a session: written when it begins, held against this host when it goes on."""

import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from steelyard import __version__
from steelyard.build import BUILDS, git
from steelyard.errors import BadInput, MissingRequirement, ProgramGone
from steelyard.experiment.schema import Experiment
from steelyard.host.docker import Docker, DockerFailed
from steelyard.host.doctor import examine
from steelyard.host.facts import read_facts
from steelyard.host.java import identify
from steelyard.host.programs import is_whole
from steelyard.paths import ROOT
from steelyard.results.schema import ArmRecord, HostFacts, Session
from steelyard.results.spec import Spec
from steelyard.results.store import SessionDirectory, no_space, write_record
from steelyard.session.plan import SessionPlan
from steelyard.yamlfile import first_error

_SAME_HOST = (
    *(
        "hostname",
        "architecture",
        "virtualization",
        "cpu_model",
        "sockets",
        "cores",
        "cpus",
        "threads_per_core",
    ),
    *(
        "smt",
        "numa_nodes",
        "memory_bytes",
        "page_size",
        "kernel",
        "governor",
        "turbo",
        "thp",
        "huge_pages",
        "extra",
    ),
)
"""Facts over which a session must not be mixed; a state that the session sets itself is none of them."""
_TOLD = ("os", "swap_bytes", "cgroup_version")
"""Facts that the report tells of when they changed."""
_SAME_MEMORY = 0.01
"""Relative difference of the memory that a start of the same kernel may make."""


def new_session(plan: SessionPlan, results: Path) -> SessionDirectory:
    """Make the directory of a new session and write its `session.json`.

    Args:
        plan: the session.
        results: where sessions are kept.

    Raises:
        NoSpace: it cannot be written.
    """
    experiment, now = plan.experiment, datetime.now(UTC)
    directory = SessionDirectory(_fresh(results, f"{experiment.name}-{now:%Y%m%dT%H%M%SZ}"))
    session = Session(
        id=directory.path.name,
        created=now.timestamp(),
        steelyard_version=__version__,
        revision=_revision(),
        workload=plan.workload.workload.model_dump(mode="json", by_alias=True),
        workload_path=experiment.workload,
        experiment=experiment.model_dump(mode="json", by_alias=True),
        quick=plan.request.quick,
        command=plan.request.command(plan.seed),
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
            )
            for arm in plan.arms
        ],
        schedule=plan.schedule,
        host=read_facts(),
        versions=_versions(plan),
        first_port=plan.request.first_port,
        injectors_share_cores=plan.injectors_share_cores,
        notes=plan.notes,
        doctor=[
            f"{finding.topic}: {finding.state}. {finding.why}"
            for finding in examine(results)
            if finding.level == "warn"
        ],
    )
    write_record(directory.path / "session.json", session)
    return directory


def require_same(session: Session, docker: Docker | None) -> list[str]:
    """Refuse to go on with a session where it would be another one: another host, kernel, setting of the host, version,
    JVM, build or image.

    Returns:
        What else differs, one sentence each for the report.

    Raises:
        BadInput: what differs, and what to do.
        ProgramGone: what it runs is not there, or is another.
    """
    try:
        Experiment.model_validate(session.experiment)
    except ValidationError as error:
        where = ": ".join(first_error(error))
        raise BadInput(
            f"session.json holds no experiment ({where}): start a new session with `run`"
        ) from error
    varied = {name for arm in session.arms for name in arm.spec.host_states}
    before, now = (_facts(facts, varied) for facts in (session.host, read_facts()))
    for name in _SAME_HOST:
        if before.get(name) != now.get(name) and not _near(name, before[name], now[name]):
            raise BadInput(
                f"this session was begun on another host ({name} was {before[name]}, is {now[name]}): start a new one"
                " with `run`"
            )
    if session.steelyard_version != __version__:
        raise BadInput(
            f"this session was begun with Steelyard {session.steelyard_version}, this is {__version__}: go on with the"
            " former, or start a new one with `run`"
        )
    for spec in (arm.spec for arm in session.arms):
        _require_artifacts(spec, docker)
    pairs = {name: (before[name], now[name]) for name in _TOLD}
    pairs["revision of Steelyard"] = session.revision, _revision()
    parts = _own_versions()
    pairs |= {name: (told, parts[name]) for name, told in session.versions.items() if name in parts}
    return [f"After a resume {name} was {b}; before, {a}." for name, (a, b) in pairs.items() if a != b]


def _facts(facts: HostFacts, varied: set[str]) -> dict[str, Any]:
    """Facts of a host without the states that a session varies: a killed one may have left them otherwise."""
    found = {name: value for name, value in facts.model_dump().items() if name not in varied}
    return found | {"extra": {name: value for name, value in facts.extra.items() if name not in varied}}


def _near(name: str, before: Any, now: Any) -> bool:
    return name == "memory_bytes" and abs(before - now) <= _SAME_MEMORY * before


def _require_artifacts(spec: Spec, docker: Docker | None) -> None:
    for component in spec.components:
        artifact = component.artifact
        if artifact.image is not None:
            assert docker is not None
            try:
                docker.inspect("image", [artifact.image])
            except DockerFailed as error:
                raise ProgramGone(
                    f"the image {artifact.image} of {component.name} is gone: pull or build it again, or start a new"
                    " session with `run`"
                ) from error
            continue
        if artifact.build is not None and not is_whole(BUILDS / artifact.build):
            raise ProgramGone(
                f"the build {artifact.build} that this session began with is gone or damaged and the sources have"
                " changed: check out its revision, or start a new session with `run`"
            )
        if artifact.jvm is not None:
            before = artifact.jvm
            try:
                now = identify(Path(before.home) / "bin" / "java").identity.runtime_version
            except MissingRequirement:
                now = "gone"
            if now != before.runtime_version:
                raise ProgramGone(
                    f"the JVM of {component.name} in {before.home} is now {now}, the session was begun with"
                    f" {before.runtime_version}: put that back, or start a new session with `run`"
                )


def _versions(plan: SessionPlan) -> dict[str, str]:
    """Versions of the parts that can influence a figure."""
    parts = {"steelyard": __version__, **_own_versions()}
    for mark in plan.runtimes.builds:
        for jar in sorted((BUILDS / mark / "loadgen" / "lib").glob("gatling-core-[0-9]*.jar")):
            parts["gatling"] = jar.stem.removeprefix("gatling-core-")
    return parts | plan.runtimes.versions()


def _own_versions() -> dict[str, str]:
    """Of what the harness itself runs on."""
    parts = {name: version(name) for name in ("numpy", "scipy", "ruptures", "hdrhistogram")}
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
    try:
        commit = git(ROOT, "rev-parse", "--short=12", "HEAD")
        # A session must not hold a lock that a person's git waits for.
        changed = git(ROOT, "--no-optional-locks", "status", "--porcelain", "--untracked-files=no")
        return commit + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None
