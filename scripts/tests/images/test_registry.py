# SPDX-License-Identifier: Apache-2.0
"""What clients really print when a registry says no, as a sentence and an exit code."""

import pytest

from steelyard.errors import Exit, MissingRequirement
from steelyard.images.registry import (
    NotPublished,
    explained,
    insecure,
    inspect_command,
    repository_of,
    untagged,
)

SKOPEO = 'time="2026-11-21T09:19:47Z" level=fatal msg="Error parsing image name \\"docker://{0}\\": {1}"'


@pytest.mark.parametrize(
    ("said", "kind", "says"),
    [
        ("ERROR: r.io/x:1: not found", NotPublished, "r.io/x:1 is not published"),
        (
            SKOPEO.format("r.io/x:1", "reading manifest 1 in r.io/x: manifest unknown: manifest unknown"),
            NotPublished,
            "not",
        ),
        (
            "ERROR: failed to do request: Head: dial tcp: lookup r.io: no such host",
            MissingRequirement,
            "on a machine that reaches it",
        ),
        (
            SKOPEO.format(
                "r.io/x:1", "pinging container registry: dial tcp 127.0.0.1:9: connect: connection refused"
            ),
            MissingRequirement,
            "cannot be reached",
        ),
        ("ERROR: unexpected status from HEAD request: 401 Unauthorized", MissingRequirement, "docker login"),
        ("", MissingRequirement, "no reason given"),
    ],
)
def test_no_is_one_sentence(said: str, kind: type[Exception], says: str) -> None:
    error = explained("r.io/x:1", said)
    assert type(error) is kind
    assert says in str(error)
    assert "\n" not in str(error)
    assert "level=fatal" not in str(error)
    assert error.exit_code is Exit.ENVIRONMENT


def test_only_a_registry_of_this_host_is_spoken_to_in_plain_http() -> None:
    for address in ("127.0.0.1:5000/a", "localhost:5000/a", "localhost/a", "127.0.0.1/a"):
        assert insecure(address, "-x") == ("-x",)
    for address in ("ghcr.io/a", "127.0.0.1.example.org/a", "localhost.org:80/a", "10.0.0.1:5000/a"):
        assert insecure(address, "-x") == ()


def test_a_digest_wins_over_a_tag() -> None:
    assert untagged("r.io:5000/a/b:1.0@sha256:12") == "r.io:5000/a/b@sha256:12"
    assert untagged("r.io:5000/a/b@sha256:12") == "r.io:5000/a/b@sha256:12"
    assert untagged("r.io:5000/a/b:1.0") == "r.io:5000/a/b:1.0"
    for reference in ("r.io:5000/b:1.0", "r.io:5000/b@sha256:12", "r.io:5000/b"):
        assert repository_of(reference) == "r.io:5000/b"


def test_without_any_client_the_user_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(MissingRequirement, match="install skopeo with `sudo apt install skopeo`"):
        inspect_command("r.io/x:1")
