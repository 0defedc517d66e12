# SPDX-License-Identifier: Apache-2.0
"""Names of a version: which are free, which are taken back, and whether strangers may pull."""

import json
import os
import re
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest
from fake_site import serving
from release_steps import Registry, needs_clients, step

pytestmark = needs_clients

# All names stand for what the record says, but for those of TAKEN.
TOLD = """#!/bin/sh
case "$*" in
*"$TAKEN"*"json .Manifest"*) echo '{"digest": "sha256:other"}' ;;
*"json .Manifest"*) jq --compact-output --arg name "$4" '.[] | select(.["image.name"] | split(",") | index($name))
    | {digest: .["containerimage.digest"]}' "$RECORD" ;;
esac
"""


def told_by(folder: Path, record: Path, taken: str) -> dict[str, str]:
    """The environment of clients to whom a registry tells digests of names."""
    for name, text in (("docker", TOLD), ("skopeo", "#!/bin/sh\n")):
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}", "RECORD": str(record), "TAKEN": taken}


def test_what_was_half_made_is_taken_back_unless_a_name_is_another_s(record: Path, tmp_path: Path) -> None:
    digests = [entry["containerimage.digest"] for entry in json.loads(record.read_text()).values()]
    refused = step("undo", record, **told_by(tmp_path, record, taken="ping"))
    assert refused.returncode == 1
    assert "nothing was taken back" in refused.stderr
    assert all(digest in Registry.kept for digest in digests)

    done = step("undo", record, **told_by(tmp_path, record, taken="nobody"))
    assert done.returncode == 0, done.stderr
    assert [line.rpartition("@")[2] for line in done.stdout.splitlines()] == [
        f"{digest} is gone" for digest in digests
    ]
    assert not any(digest in Registry.kept for digest in digests)

    refused = step("undo", record, **told_by(tmp_path, record, taken="nobody"))
    assert refused.returncode == 1
    assert "does not delete" in refused.stderr


def test_github_takes_back_by_its_own_interface(record: Path, tmp_path: Path, registry: str) -> None:
    record.write_text(record.read_text().replace(registry, "ghcr.io/somebody/steelyard"))
    asked, client = tmp_path / "asked", tmp_path / "gh"
    client.write_text(
        f'#!/bin/sh\necho "$*" >>{asked}\ncase $* in *orgs*) exit 1 ;; *DELETE*) ;; *) echo 7 ;; esac\n',
        encoding="utf-8",
    )
    client.chmod(0o755)
    done = step("undo", record, **told_by(tmp_path, record, taken="nobody"))
    assert done.returncode == 0, done.stderr
    deleted = [line for line in asked.read_text().splitlines() if "DELETE" in line]
    assert len(deleted) == len(json.loads(record.read_text()))
    assert all(
        re.fullmatch(r"api --method DELETE users/somebody/packages/container/steelyard%2F\S+/versions/7", one)
        for one in deleted
    ), deleted


def client(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


NOT_FOUND = "echo 'gh: Not Found (HTTP 404)' >&2; exit 1"


@pytest.mark.parametrize(
    ("registry", "said", "github", "is_free"),
    [
        ("ghcr.io", "manifest unknown", "exit 3", True),
        ("ghcr.io", "requested access to the resource is denied", NOT_FOUND, True),
        # There is one, and it is not ours to read.
        ("ghcr.io", "denied", "echo '{}'", False),
        ("ghcr.io", "denied", f"case $* in *users*) echo '{{}}' ;; *) {NOT_FOUND} ;; esac", False),
        ("ghcr.io", "denied", "echo 'gh: Forbidden (HTTP 403)' >&2; exit 1", False),
        ("ghcr.io", "no such host", NOT_FOUND, False),
        ("quay.example", "denied", NOT_FOUND, False),
    ],
)
def test_a_name_is_free_where_somebody_says_so(
    tmp_path: Path, registry: str, said: str, github: str, *, is_free: bool
) -> None:
    client(tmp_path, "skopeo", f"echo '{said}' >&2; exit 1")
    client(tmp_path, "gh", f'echo "$*" >>{tmp_path}/asked; {github}')
    definition = tmp_path / "definition.json"
    tags = [f"{registry}/somebody/steelyard/ping:1"]
    definition.write_text(json.dumps({"target": {"ping": {"tags": tags}}}), encoding="utf-8")
    done = step("free", definition, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == (0 if is_free else 1), done.stderr
    assert (f"whether {tags[0]} is free cannot be told: {said}" in done.stderr) != is_free
    if is_free and said != "manifest unknown":
        assert (tmp_path / "asked").read_text(encoding="utf-8").splitlines() == [
            f"api {kind}/somebody/packages/container/steelyard%2Fping" for kind in ("orgs", "users")
        ]


class Guarded(Registry):
    """One that wants a token, as public registries do of strangers too."""

    gives_token: ClassVar = True
    takes_token: ClassVar = True

    def do_GET(self) -> None:  # noqa: N802 - the library's name
        host = self.headers["Host"]
        address = urlsplit(self.path)
        if address.path == "/token":
            asked = parse_qs(address.query)
            assert asked["service"] == ["here"]
            is_given = self.gives_token or asked["scope"] != ["repository:o/steelyard/loadgen:pull"]
            self._answer(*((200, b'{"token": "of-nobody"}') if is_given else (401, b"{}")))
        elif self.headers["Authorization"] is None:
            self.send_response(401)
            self.send_header(
                "WWW-Authenticate", f'Bearer realm="http://{host}/token",service="here",scope="x"'
            )
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.headers["Authorization"] != "Bearer of-nobody" or (
            not self.takes_token and "loadgen" in self.path
        ):
            self._answer(403, b"")
        else:
            super().do_GET()


@pytest.fixture
def guarded(record: Path, registry: str) -> Iterator[Path]:
    """The record of a registry that wants a token."""
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Guarded)) as server:
        text = record.read_text(encoding="utf-8")
        record.write_text(text.replace(registry, f"127.0.0.1:{server.server_address[1]}"), encoding="utf-8")
        yield record


@pytest.mark.parametrize(("gives", "takes"), [(True, True), (False, True), (True, False)])
def test_a_version_is_public_when_a_stranger_may_pull_all_of_it(
    guarded: Path, monkeypatch: pytest.MonkeyPatch, *, gives: bool, takes: bool
) -> None:
    monkeypatch.setattr(Guarded, "gives_token", gives)
    monkeypatch.setattr(Guarded, "takes_token", takes)
    done = step("public", guarded)
    if gives and takes:
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) == 2
    else:
        assert done.returncode == 1
        (line,) = done.stderr.splitlines()
        assert line.endswith("make the package steelyard/loadgen public, then run this job again")
        assert "ping-openj9" in done.stdout


def test_a_registry_of_all_is_public_and_one_that_does_not_answer_is_not(record: Path, registry: str) -> None:
    assert step("public", record).returncode == 0
    record.write_text(record.read_text().replace(registry, "127.0.0.1:1"))
    done = step("public", record)
    assert done.returncode == 1
    assert "cannot be told: 000" in done.stderr
