# SPDX-License-Identifier: Apache-2.0
"""The steps of a release (.github/scripts), rehearsed with one small image: what each leaves, and what stops it."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from platforms import LOCAL_REGISTRY, PLATFORMS, narrowed
from waiting import fetch

from steelyard import __version__
from steelyard.host.docker import Docker, native_architecture
from steelyard.images.bake import Bakery
from steelyard.images.lock import find_bases
from steelyard.paths import ROOT

pytestmark = pytest.mark.containers
PATH = f"rehearsal-{os.getpid()}"
IMAGE = f"{LOCAL_REGISTRY}/{PATH}/socket-proxy"
NAME = f"{IMAGE}:{__version__}"
_ENVIRONMENT = {**os.environ, "COSIGN_PASSWORD": ""}


def step(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / ".github" / "scripts" / f"{name}.sh", *arguments],
        cwd=ROOT,
        env=_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )


def names() -> list[str]:
    """Tags in the registry but those under which cosign keeps signatures."""
    try:
        told = json.loads(fetch(f"http://{LOCAL_REGISTRY}/v2/{PATH}/socket-proxy/tags/list"))
    except HTTPError as error:
        if error.code != 404:  # nothing was ever named there
            raise
        return []
    return [tag for tag in told["tags"] or [] if not tag.startswith("sha256-")]


@pytest.fixture(scope="module")
def definition(docker: Docker, registry: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    bakery = Bakery(docker, f"{LOCAL_REGISTRY}/{PATH}", find_bases(docker, "local"), PLATFORMS)
    path = tmp_path_factory.mktemp("release") / "definition.json"
    path.write_text(json.dumps({"target": narrowed(bakery.plan(["socket-proxy"]))}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def record(definition: Path) -> Path:
    assert step("free", definition).returncode == 0
    path = definition.with_name("record.json")
    done = step("build", definition, path)
    assert done.returncode == 0, done.stderr
    return path


def only(record: Path) -> dict[str, Any]:
    found: dict[str, dict[str, Any]] = json.loads(record.read_text(encoding="utf-8"))
    return found["socket-proxy"]


def test_the_steps_in_their_order(record: Path, tmp_path: Path) -> None:
    pushed = only(record)
    digest = f"{IMAGE}@{pushed['containerimage.digest']}"
    asked = json.loads(record.with_name("definition.json").read_text(encoding="utf-8"))["target"]
    assert sorted(pushed["platforms"]) == sorted(asked["socket-proxy"]["platforms"])
    assert names() == []

    # A failure half way: an image that does not work ends the release, and nothing has a name.
    broken = step("start", f"linux/{native_architecture()}", f"{LOCAL_REGISTRY}/{PATH}/nobody:1")
    assert broken.returncode != 0
    assert names() == []
    started = step("start", f"linux/{native_architecture()}", digest)
    assert started.returncode == 0, started.stderr

    if shutil.which("cosign") is not None:
        generate = ["cosign", "generate-key-pair"]
        subprocess.run(generate, cwd=tmp_path, env=_ENVIRONMENT, capture_output=True, check=True)
        signed = step("sign", record, tmp_path / "cosign.key")
        assert signed.returncode == 0, signed.stderr
        verify = ["cosign", "verify", "--key", str(tmp_path / "cosign.pub"), "--insecure-ignore-tlog=true"]
        verify += ["--allow-http-registry"]
        for one in (pushed["containerimage.digest"], *pushed["platforms"].values()):
            subprocess.run([*verify, f"{IMAGE}@{one}"], capture_output=True, check=True)
    assert names() == []

    for _ in range(2):  # again: as after a failure between two names
        tagged = step("tag", record)
        assert tagged.returncode == 0, tagged.stderr
    assert names() == [__version__]
    assert "is taken by" in step("free", record.with_name("definition.json")).stderr

    other = {"socket-proxy": {**pushed, "containerimage.digest": next(iter(pushed["platforms"].values()))}}
    changed = tmp_path / "other.json"
    changed.write_text(json.dumps(other), encoding="utf-8")
    refused = step("tag", changed)
    assert refused.returncode == 1
    assert f"{NAME} is taken by {pushed['containerimage.digest']}" in refused.stderr
    assert step("tag", record).returncode == 0  # still what it was


def test_a_registry_that_does_not_answer_is_not_one_without_the_name(record: Path, tmp_path: Path) -> None:
    away = tmp_path / "away.json"
    away.write_text(
        record.read_text(encoding="utf-8").replace(LOCAL_REGISTRY, "127.0.0.1:1"), encoding="utf-8"
    )
    for name in ("free", "tag"):
        done = step(name, away)
        assert done.returncode == 1
        assert "cannot be told" in done.stderr


@pytest.mark.parametrize("text", ["{}", "[", '{"target": {}}'])
@pytest.mark.parametrize("name", ["free", "tag", "sign"])
def test_a_record_of_nothing_stops_every_step(name: str, text: str, tmp_path: Path) -> None:
    damaged = tmp_path / "record.json"
    damaged.write_text(text, encoding="utf-8")
    assert step(name, damaged).returncode != 0
