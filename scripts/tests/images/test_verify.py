# SPDX-License-Identifier: Apache-2.0
"""An image's labels against those that this checkout would give it, and its digest against a record."""

import pytest

from steelyard.images.verify import BASE_DIGEST, FINGERPRINT, REVISION, TITLE, Subject, check, is_verified

A, B, C, D = (f"sha256:{digit * 64}" for digit in "abcd")
REFERENCE = "g.io/s/ping:1.2.3-hotspot"
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


def image(labels: dict[str, str] | None = LABELS, digest: str = B) -> Subject:
    """An image of the engine, by one digest, with labels."""
    return Subject(
        REFERENCE, {"Id": digest, "RepoDigests": [f"g.io/s/ping@{digest}"], "Config": {"Labels": labels}}
    )


def failing(subject: Subject, record: dict[str, dict[str, object]] | None = RECORD) -> list[str]:  # type: ignore[assignment]
    return [one.name for one in check(subject, PLAN, record) if not one.passed]


def test_an_image_of_this_checkout_passes() -> None:
    checks = check(image(), PLAN, RECORD)
    assert is_verified(checks)
    assert [one.name for one in checks] == ["base", "revision", "fingerprint", "digest"]
    assert len(check(image(), PLAN, None)) == 3


@pytest.mark.parametrize(
    ("label", "name"), [(BASE_DIGEST, "base"), (REVISION, "revision"), (FINGERPRINT, "fingerprint")]
)
@pytest.mark.parametrize("value", [D, ""])
def test_what_differs_or_is_not_stated_is_named(label: str, name: str, value: str) -> None:
    assert failing(image({**LABELS, label: value})) == [name]


def test_the_base_of_another_image_does_not_do() -> None:
    """D is among the bases asked for, and not for ping."""
    labels = {**LABELS, BASE_DIGEST: D}
    assert failing(image(labels)) == ["base"]
    assert failing(image({**labels, TITLE: "Steelyard harness"})) == []


def test_a_base_that_is_not_locked_is_no_match_for_a_label_that_is_missing() -> None:
    plan = {"ping-hotspot": {"labels": {**LABELS, BASE_DIGEST: ""}}}
    (base, *_) = check(image({**LABELS, BASE_DIGEST: ""}), plan, None)
    assert (base.passed, base.name) == (False, "base")
    assert "not locked" in base.detail


def test_what_was_not_pushed_is_told() -> None:
    assert failing(image(digest=D)) == ["digest"]
    assert failing(image(digest=C)) == []
    assert failing(image(), {}) == ["digest"]


@pytest.mark.parametrize("labels", [{}, None])
def test_an_image_of_somebody_else_is_not_ours(labels: dict[str, str] | None) -> None:
    assert failing(image(labels)) == ["labels"]


def test_nothing_looked_at_is_not_passed() -> None:
    assert not is_verified([])
