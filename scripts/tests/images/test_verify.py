# SPDX-License-Identifier: Apache-2.0
"""An image's labels against those that this checkout would give it, and its digest against a record."""

from dataclasses import replace

import pytest

from steelyard.images.verify import (
    BASE_DIGEST,
    FINGERPRINT,
    REVISION,
    TITLE,
    Subject,
    check,
    passed,
    subject_of,
)

A, B, C, D = (f"sha256:{digit * 64}" for digit in "abcd")
REFERENCE = "g.io/s/ping:0.1.0-hotspot"
LABELS = {
    TITLE: "Steelyard ping (HotSpot)",
    BASE_DIGEST: A,
    REVISION: "c0ffee",
    FINGERPRINT: "0123456789abcdef",
}
PLAN = {
    "harness": {"labels": {**LABELS, TITLE: "Steelyard harness", BASE_DIGEST: D}},
    "ping-hotspot": {"labels": LABELS},
}
RECORD = {"ping-hotspot": {"containerimage.digest": B, "platforms": {"linux/amd64": C}}}


@pytest.fixture
def subject() -> Subject:
    described = {"Id": B, "RepoDigests": [f"g.io/s/ping@{B}"], "Config": {"Labels": LABELS}}
    return subject_of(REFERENCE, described)


def failing(subject: Subject, record: dict[str, dict[str, object]] | None = RECORD) -> list[str]:  # type: ignore[assignment]
    return [one.name for one in check(subject, PLAN, record) if not one.passed]


def test_an_image_of_this_checkout_passes(subject: Subject) -> None:
    checks = check(subject, PLAN, RECORD)
    assert passed(checks)
    assert [one.name for one in checks] == ["base", "revision", "fingerprint", "digest"]
    assert len(check(subject, PLAN, None)) == 3


@pytest.mark.parametrize(
    ("label", "name"), [(BASE_DIGEST, "base"), (REVISION, "revision"), (FINGERPRINT, "fingerprint")]
)
@pytest.mark.parametrize("value", [D, ""])
def test_what_differs_or_is_not_stated_is_named(subject: Subject, label: str, name: str, value: str) -> None:
    assert failing(replace(subject, labels={**LABELS, label: value})) == [name]


def test_the_base_of_another_image_does_not_do(subject: Subject) -> None:
    """D is among the bases asked for, and not for ping."""
    other = replace(subject, labels={**LABELS, BASE_DIGEST: D})
    assert failing(other) == ["base"]
    assert failing(replace(other, labels={**other.labels, TITLE: "Steelyard harness"})) == []


def test_a_base_that_is_not_locked_is_no_match_for_a_label_that_is_missing(subject: Subject) -> None:
    plan = {"ping-hotspot": {"labels": {**LABELS, BASE_DIGEST: ""}}}
    (base, *_) = check(replace(subject, labels={**LABELS, BASE_DIGEST: ""}), plan, None)
    assert (base.passed, base.name) == (False, "base")
    assert "not locked" in base.detail


def test_what_was_not_pushed_is_told(subject: Subject) -> None:
    assert failing(replace(subject, digests=frozenset({D}))) == ["digest"]
    assert failing(replace(subject, digests=frozenset({C}))) == []
    assert failing(subject, {}) == ["digest"]


def test_an_image_of_somebody_else_is_not_ours(subject: Subject) -> None:
    assert failing(replace(subject, labels={})) == ["labels"]


def test_a_container_is_named_with_its_image() -> None:
    found = subject_of(REFERENCE, {"Id": B, "Config": {"Labels": None}}, "trial-server-1")
    assert (found.name, found.labels) == (f"trial-server-1 ({REFERENCE})", {})


def test_nothing_looked_at_is_not_passed() -> None:
    assert not passed([])
