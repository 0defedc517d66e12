# SPDX-License-Identifier: Apache-2.0
"""Whether an image is what this checkout would build now, and what was pushed: its labels against those of the plan."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.errors import MissingRequirement
from steelyard.host.docker import Docker, DockerFailed
from steelyard.images.bake import Plan

TITLE = "org.opencontainers.image.title"
BASE_NAME = "org.opencontainers.image.base.name"
BASE_DIGEST = "org.opencontainers.image.base.digest"
REVISION = "org.opencontainers.image.revision"
FINGERPRINT = "dev.steelyard.fingerprint"
COMPARED = {"base": BASE_DIGEST, "revision": REVISION, "fingerprint": FINGERPRINT}


@dataclass(frozen=True)
class Subject:
    """An image of the engine, or what a container was started from."""

    name: str
    """Reference of the image; with the container's name before it where there is one."""
    reference: str
    digests: frozenset[str]
    """Digests that the engine knows it by."""
    labels: Mapping[str, str]


@dataclass(frozen=True)
class Check:
    """One comparison."""

    subject: str
    name: str
    """base, revision, fingerprint or digest."""
    passed: bool
    detail: str


def named_images(docker: Docker, references: Sequence[str]) -> list[Subject]:
    """Images by reference.

    Raises:
        MissingRequirement: one is not in the engine.
    """
    try:
        return [subject_of(reference, docker.inspect("image", [reference])[0]) for reference in references]
    except DockerFailed as error:
        raise MissingRequirement(
            f"{error.said}: build the image with `./steelyard images build`, or pull it"
        ) from error


def present(docker: Docker, plan: Plan) -> Iterator[Subject]:
    """Every planned image that is in the engine, and what every container of ours was started from, running or not.

    A container may run an image whose tag has moved on: it is looked up by the digest that the container holds.
    """
    here = set(docker.run("image", "ls", "--format", "{{.Repository}}:{{.Tag}}").split())
    yield from named_images(
        docker, [tag for target in plan.values() for tag in target["tags"] if tag in here]
    )
    names = docker.run("ps", "--all", "--quiet", "--no-trunc", "--filter", f"label={FINGERPRINT}").split()
    for described in docker.inspect("container", names) if names else []:
        try:
            image = docker.inspect("image", [described["Image"]])[0]
        except DockerFailed:
            image = {"Id": described["Image"], "Config": described["Config"]}
        yield subject_of(str(described["Config"]["Image"]), image, str(described["Name"]).lstrip("/"))


def subject_of(reference: str, described: Mapping[str, Any], container: str | None = None) -> Subject:
    """From what `docker image inspect` says."""
    digests = {text.partition("@")[2] for text in described.get("RepoDigests") or []}
    return Subject(
        name=reference if container is None else f"{container} ({reference})",
        reference=reference,
        digests=frozenset({str(described["Id"]), *digests} - {""}),
        labels=(described.get("Config") or {}).get("Labels") or {},
    )


def check(subject: Subject, plan: Plan, pushed: Mapping[str, Mapping[str, Any]] | None) -> list[Check]:
    """All comparisons of one image.

    Args:
        subject: the image.
        plan: what this checkout would build on the bases asked for.
        pushed: record of `images push`; None: not compared.
    """
    planned = {target["labels"][TITLE]: target["labels"] for target in plan.values()}
    expected = planned.get(subject.labels.get(TITLE, ""))
    if expected is None:
        return [Check(subject.name, "labels", False, "is none of the images of this checkout's bake file")]
    found = [
        Check(subject.name, name, *_compared(subject.labels.get(label, ""), expected.get(label, "")))
        for name, label in COMPARED.items()
    ]
    if pushed is not None:
        found.append(Check(subject.name, "digest", *_digest(subject, pushed)))
    return found


def _compared(found: str, wanted: str) -> tuple[bool, str]:
    if not wanted:
        return False, "the base is not locked: run `./steelyard images lock`"
    if found == wanted:
        return True, _short(found)
    return False, f"{_short(found) or 'not stated'}, here it would be {_short(wanted)}: build it again"


def _digest(subject: Subject, pushed: Mapping[str, Mapping[str, Any]]) -> tuple[bool, str]:
    for entry in pushed.values():
        known = {entry["containerimage.digest"], *(entry.get("platforms") or {}).values()}
        if subject.digests & known:
            return True, _short(entry["containerimage.digest"])
    return (
        False,
        f"{', '.join(map(_short, sorted(subject.digests)))} is not in the record: pull what was pushed",
    )


def _short(text: str) -> str:
    return text[:19]


def passed(checks: Sequence[Check]) -> bool:
    """Whether everything holds, and something was looked at."""
    return bool(checks) and all(one.passed for one in checks)
