# SPDX-License-Identifier: Apache-2.0
"""The steps of a release as programs, and git; a registry on loopback, and a record of what lies in it (fixtures)."""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from fake_site import serving

from steelyard.paths import ROOT

SCRIPTS = ROOT / ".github" / "scripts"
PLATFORMS = ("linux/amd64", "linux/arm64", "linux/ppc64le")
needs_clients = pytest.mark.skipif(
    shutil.which("jq") is None or shutil.which("curl") is None, reason="jq and curl are not both on PATH"
)


def step(name: str, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SCRIPTS / f"{name}.sh", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def git(folder: Path, *words: str) -> str:
    """What a command of git prints in a folder; its commits are of nobody."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.test")
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


class Registry(BaseHTTPRequestHandler):
    """Manifests by digest."""

    kept: ClassVar[dict[str, bytes]] = {}

    def do_GET(self) -> None:
        self._answer(200, self.kept[self.path.rpartition("/")[2]])

    def do_PUT(self) -> None:
        body, digest = self.rfile.read(int(self.headers["Content-Length"])), self.path.rpartition("/")[2]
        named = f"sha256:{hashlib.sha256(body).hexdigest()}"
        self.kept[named] = body
        self._answer(201 if digest == named else 400, b"")

    def do_DELETE(self) -> None:
        self._answer(405 if self.kept.pop(self.path.rpartition("/")[2], None) is None else 202, b"no")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Nothing is printed."""


def keep(value: Any) -> str:
    """A manifest in the registry; its digest."""
    body = json.dumps(value).encode()
    digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
    Registry.kept[digest] = body
    return digest


@pytest.fixture
def registry() -> Iterator[str]:
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Registry)) as server:
        yield f"127.0.0.1:{server.server_address[1]}"


@pytest.fixture
def record(registry: str, tmp_path: Path) -> Path:
    """Two images for all platforms, each platform with what the builder says of it."""
    entries = {}
    for target in ("loadgen", "ping-openj9"):
        manifests, platforms = [], {}
        for platform in PLATFORMS:
            system, architecture = platform.split("/")
            digest = platforms[platform] = keep({"image": target, "platform": platform})
            manifests += [
                {"digest": digest, "platform": {"os": system, "architecture": architecture}},
                {
                    "digest": keep({"statement": target, "platform": platform}),
                    "platform": {"os": "unknown", "architecture": "unknown"},
                    "annotations": {"vnd.docker.reference.digest": digest},
                },
            ]
        entries[target] = {
            "image.name": f"{registry}/o/steelyard/{target}:1",
            "containerimage.digest": keep({"schemaVersion": 2, "manifests": manifests}),
            "platforms": platforms,
            "openj9": target.endswith("openj9"),
        }
    path = tmp_path / "record.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path
