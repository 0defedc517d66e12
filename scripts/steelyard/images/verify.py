# SPDX-License-Identifier: Apache-2.0
"""Whether an image is what was locked, what this checkout holds and what was pushed (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.images.bake import Target
from steelyard.images.checkout import Sources
from steelyard.images.lock import Lock
from steelyard.images.record import Published, Record

BASE_NAME = "org.opencontainers.image.base.name"
BASE_DIGEST = "org.opencontainers.image.base.digest"
REVISION = "org.opencontainers.image.revision"
FINGERPRINT = "dev.steelyard.fingerprint"
OURS = "dev.steelyard."


@dataclass(frozen=True)
class Subject:
    """An image of the engine, or what a container was started from."""

    name: str
    """Reference of the image."""
    container: str | None
    """Name of the container; None for an image alone."""
    digests: frozenset[str]
    """Digests that the engine knows it by."""
    platform: str
    labels: Mapping[str, str]


@dataclass(frozen=True)
class Check:
    """One comparison."""

    subject: str
    name: str
    """base, revision, fingerprint, digest or signature."""
    passed: bool
    detail: str


def subject_of_image(reference: str, described: Mapping[str, Any], container: str | None = None) -> Subject:
    """From what `docker image inspect` says."""
    digests = {text.partition("@")[2] for text in described.get("RepoDigests") or []}
    return Subject(
        name=reference,
        container=container,
        digests=frozenset({str(described["Id"]), *digests} - {""}),
        platform=f"{described.get('Os')}/{described.get('Architecture')}",
        labels=(described.get("Config") or {}).get("Labels") or {},
    )


def is_ours(labels: Mapping[str, str]) -> bool:
    """Whether the labels say that the image is one of Steelyard's."""
    return any(name.startswith(OURS) for name in labels)


def check(
    subject: Subject, bases: Lock, sources: Sources, record: Record | None, target: Target | None
) -> list[Check]:
    """All comparisons that need no tool.

    Args:
        subject: the image.
        bases: what images have to be built on.
        sources: this checkout.
        record: what was pushed; None: not compared.
        target: what the bake file makes under this reference; None: the base may be any of the lock.
    """
    name = subject.name if subject.container is None else f"{subject.container} ({subject.name})"
    found = [
        Check(name, "base", *_base(subject, bases, target)),
        Check(name, "revision", *_same(subject.labels.get(REVISION), sources.revision, "commit")),
        Check(name, "fingerprint", *_same(subject.labels.get(FINGERPRINT), sources.fingerprint, "build")),
    ]
    if record is not None:
        found.append(Check(name, "digest", *_digest(subject, record.of(subject.name))))
    return found


def _base(subject: Subject, bases: Lock, target: Target | None) -> tuple[bool, str]:
    digest, base = subject.labels.get(BASE_DIGEST), subject.labels.get(BASE_NAME)
    if not digest:
        return False, f"carries no label {BASE_DIGEST}: it was not built by `./steelyard images build`"
    expected = {n: b for n, b in bases.root.items() if b.index == digest and _may_be(b.reference, target)}
    if expected:
        return True, f"{next(iter(expected))} {_short(digest)}"
    by_name = next((n for n, b in bases.root.items() if base and _bare(base) == b.reference), None)
    if by_name is None:
        return False, f"built on {base or 'a base without a name'}, which is not among the bases asked for"
    wanted = bases.root[by_name].index
    if wanted is None:
        return (
            False,
            f"built on {_short(digest)}, and the base {by_name} is not locked: run `./steelyard images lock`",
        )
    return False, f"built on {by_name} {_short(digest)}, locked is {_short(wanted)}: build it again"


def _may_be(reference: str, target: Target | None) -> bool:
    """A ping on the base of the harness would be wrong although that base is locked."""
    if target is None:
        return True
    return _bare(target.args.get("BASE", "")) == reference


def _same(found: str | None, wanted: str, what: str) -> tuple[bool, str]:
    if found == wanted:
        return True, found[:19]
    return False, f"{what} {(found or 'not stated')[:19]}, this checkout is {wanted[:19]}: build it again"


def _digest(subject: Subject, published: Published | None) -> tuple[bool, str]:
    if published is None:
        return False, "the record has no such image"
    known = {published.index, *published.sources, published.platforms.get(subject.platform)} - {None}
    hit = sorted(digest for digest in subject.digests if digest in known)
    if hit:
        return True, _short(hit[0])
    return (
        False,
        f"{', '.join(map(_short, sorted(subject.digests)))}, pushed was {_short(published.index or '')}: pull it",
    )


def _bare(reference: str) -> str:
    return reference.partition("@")[0]


def _short(digest: str) -> str:
    return digest[:19]


def passed(checks: Sequence[Check]) -> bool:
    """Whether everything holds, and something was looked at."""
    return bool(checks) and all(one.passed for one in checks)
