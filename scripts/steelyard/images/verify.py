# SPDX-License-Identifier: Apache-2.0
"""Whether an image is what this checkout would build now, and what was pushed: its labels against those of the plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from steelyard.errors import MissingRequirement
from steelyard.host.docker import Docker, DockerFailed
from steelyard.images.bake import Plan

TITLE = "org.opencontainers.image.title"
BASE_DIGEST = "org.opencontainers.image.base.digest"
REVISION = "org.opencontainers.image.revision"
FINGERPRINT = "dev.steelyard.fingerprint"
COMPARED = {"base": BASE_DIGEST, "revision": REVISION, "fingerprint": FINGERPRINT}


class Subject(NamedTuple):
    """An image of the engine, or what a container was started from."""

    name: str
    """Reference of the image; with the container's name before it where there is one."""
    described: Mapping[str, Any]  # Docker's own JSON
    """What `docker image inspect` says."""


@dataclass(frozen=True)
class ImageCheck:
    """One comparison."""

    subject: str
    name: str
    """base, revision, fingerprint or digest."""
    passed: bool
    detail: str


def named_images(docker: Docker, references: Sequence[str]) -> list[Subject]:
    """Images by reference; one that is not in the engine raises MissingRequirement."""
    try:
        return [Subject(reference, docker.inspect("image", [reference])[0]) for reference in references]
    except DockerFailed as error:
        raise MissingRequirement(
            f"{error.said}: build the image with `./steelyard images build`, or pull it"
        ) from error


def present(docker: Docker, plan: Plan) -> list[Subject]:
    """Every planned image that is in the engine, and what every container of ours was started from, running or not.

    A container may run an image whose tag has moved on: it is looked up by the digest that the container holds.
    """
    here = set(docker.run("image", "ls", "--format", "{{.Repository}}:{{.Tag}}").split())
    subjects = named_images(
        docker, [tag for target in plan.values() for tag in target["tags"] if tag in here]
    )
    names = docker.run("ps", "--all", "--quiet", "--no-trunc", "--filter", f"label={FINGERPRINT}").split()
    for container in docker.inspect("container", names) if names else []:
        try:
            image = docker.inspect("image", [container["Image"]])[0]
        except DockerFailed:
            image = {"Id": container["Image"], "Config": container["Config"]}
        name = f"{container['Name'].lstrip('/')} ({container['Config']['Image']})"
        subjects.append(Subject(name, image))
    return subjects


# `pushed` is the release's JSON, as bake wrote it.
def check(subject: Subject, plan: Plan, pushed: Mapping[str, Mapping[str, Any]] | None) -> list[ImageCheck]:
    """All comparisons of one image.

    Args:
        subject: the image.
        plan: what this checkout would build on the bases asked for.
        pushed: record of a release; None: not compared.
    """
    labels = (subject.described.get("Config") or {}).get("Labels") or {}
    planned = {target["labels"][TITLE]: target["labels"] for target in plan.values()}
    expected = planned.get(labels.get(TITLE))
    if expected is None:
        return [
            ImageCheck(subject.name, "labels", False, "is none of the images of this checkout's bake file")
        ]
    checks = [
        ImageCheck(subject.name, name, *_compare(labels.get(label, ""), expected.get(label, "")))
        for name, label in COMPARED.items()
    ]
    if pushed is not None:
        checks.append(ImageCheck(subject.name, "digest", *_digest(subject.described, pushed)))
    return checks


def _compare(actual: str, wanted: str) -> tuple[bool, str]:
    if not wanted:
        return False, "the base is not locked: run `./steelyard images lock`"
    if actual == wanted:
        return True, _short(actual)
    return False, f"{_short(actual) or 'not stated'}, here it would be {_short(wanted)}: build it again"


def _digest(described: Mapping[str, Any], pushed: Mapping[str, Mapping[str, Any]]) -> tuple[bool, str]:
    known_by = {described["Id"], *(text.partition("@")[2] for text in described.get("RepoDigests") or [])}
    for entry in pushed.values():
        if known_by & {entry["containerimage.digest"], *(entry.get("platforms") or {}).values()}:
            return True, _short(entry["containerimage.digest"])
    return False, f"{', '.join(map(_short, sorted(known_by)))} is not in the record: pull what was pushed"


def _short(text: str) -> str:
    return text[:19]


def is_verified(checks: Sequence[ImageCheck]) -> bool:
    """Whether everything holds, and something was looked at."""
    return bool(checks) and all(check.passed for check in checks)
