# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace
from typing import Any

import pytest

from steelyard.images.bake import Target
from steelyard.images.checkout import Sources
from steelyard.images.lock import Base, Lock
from steelyard.images.record import Published, Record
from steelyard.images.verify import (
    BASE_DIGEST,
    BASE_NAME,
    FINGERPRINT,
    REVISION,
    Subject,
    check,
    is_ours,
    passed,
    subject_of_image,
)

A, B, C, D = (f"sha256:{digit * 64}" for digit in "abcd")
REPOSITORY = "g.io/s/ping"
REFERENCE = f"{REPOSITORY}:0.1.0-hotspot"
HOTSPOT = "docker.io/library/eclipse-temurin:17"
SOURCES = Sources("0.1.0", "c0ffee", 0, "0123456789abcdef")
BASES = Lock(
    {
        "hotspot": Base(reference=HOTSPOT, index=A, platforms={}),
        "harness": Base(reference="docker.io/library/python:3", index=D, platforms={}),
    }
)
TARGET = Target("ping-hotspot", REPOSITORY, ("0.1.0-hotspot",), ("linux/amd64",), {"BASE": f"{HOTSPOT}@{A}"})
RECORD = Record(
    version="0.1.0",
    revision="c0ffee",
    fingerprint="0123456789abcdef",
    images=[
        Published(
            target="ping-hotspot",
            repository=REPOSITORY,
            tags=["0.1.0-hotspot"],
            index=B,
            sources=[B],
            platforms={"linux/amd64": C},
        )
    ],
)
LABELS = {BASE_NAME: HOTSPOT, BASE_DIGEST: A, REVISION: "c0ffee", FINGERPRINT: "0123456789abcdef"}
DESCRIBED: dict[str, Any] = {
    "Id": B,
    "RepoDigests": [f"{REPOSITORY}@{B}"],
    "Os": "linux",
    "Architecture": "amd64",
    "Config": {"Labels": LABELS},
}


@pytest.fixture
def subject() -> Subject:
    return subject_of_image(REFERENCE, DESCRIBED)


def failed(subject: Subject, bases: Lock = BASES, target: Target | None = TARGET) -> dict[str, str]:
    checks = check(subject, bases, SOURCES, RECORD, target)
    assert [one.name for one in checks] == ["base", "revision", "fingerprint", "digest"]
    return {one.name: one.detail for one in checks if not one.passed}


def test_what_was_locked_built_here_and_pushed_passes(subject: Subject) -> None:
    assert failed(subject) == {}
    assert passed(check(subject, BASES, SOURCES, RECORD, TARGET))


def test_the_image_of_one_platform_passes_as_its_index_does(subject: Subject) -> None:
    assert failed(replace(subject, digests=frozenset({C}))) == {}


def test_an_image_that_was_not_pushed_differs(subject: Subject) -> None:
    assert set(failed(replace(subject, digests=frozenset({D})))) == {"digest"}
    other = subject_of_image(f"{REPOSITORY}:0.1.0-openj9", DESCRIBED)
    assert failed(other)["digest"] == "the record has no such image"


@pytest.mark.parametrize("label", [REVISION, FINGERPRINT])
def test_another_checkout_differs(subject: Subject, label: str) -> None:
    name = "revision" if label == REVISION else "fingerprint"
    assert set(failed(replace(subject, labels={**LABELS, label: "decaf"}))) == {name}
    without = {key: value for key, value in LABELS.items() if key != label}
    assert "not stated" in failed(replace(subject, labels=without))[name]


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ({BASE_DIGEST: B}, "locked is sha256:aaaaaaaaaaaa: build it again"),
        ({BASE_DIGEST: ""}, "carries no label"),
        ({BASE_DIGEST: B, BASE_NAME: "127.0.0.1:5000/bases/hotspot:17"}, "not among the bases asked for"),
        # The base of another image is locked as well, and is still the wrong one.
        ({BASE_DIGEST: D, BASE_NAME: "docker.io/library/python:3"}, "built on harness"),
    ],
)
def test_another_base_differs(subject: Subject, labels: dict[str, str], says: str) -> None:
    assert says in failed(replace(subject, labels={**LABELS, **labels}))["base"]


def test_a_base_without_a_digest_proves_nothing(subject: Subject) -> None:
    bases = Lock({"hotspot": Base(reference=HOTSPOT, platforms={})})
    assert "is not locked: run `./steelyard images lock`" in failed(subject, bases)["base"]


def test_a_container_is_named_with_its_image(subject: Subject) -> None:
    running = subject_of_image(REFERENCE, DESCRIBED, "lab-server-1")
    assert check(running, BASES, SOURCES, None, TARGET)[0].subject == f"lab-server-1 ({REFERENCE})"


def test_nothing_found_is_not_a_pass() -> None:
    assert not passed([])
    assert is_ours(LABELS)
    assert not is_ours({BASE_DIGEST: A})
