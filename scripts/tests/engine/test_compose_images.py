# SPDX-License-Identifier: Apache-2.0
"""Which images a session needs and how they are pinned; a script stands for the engine's client."""

import json
import stat
from pathlib import Path

import pytest

from steelyard.engines.compose.images import MONGO, NGINX, find_images
from steelyard.errors import MissingRequirement
from steelyard.experiment.workloads import WORKLOADS
from steelyard.host.docker import Docker, native_architecture

JVM = Path(__file__).parents[1] / "fixtures" / "jvm" / "hotspot.txt"
KINDS = WORKLOADS["acmeair"].kinds
HERE = {"STEELYARD_REGISTRY": "lab:5000/s", "STEELYARD_FLAVOUR": "hotspot"}


def engine(folder: Path, missing: str = "nothing is missing") -> Docker:
    """An engine that has every image, as engines name them, but the one that is missing."""
    answer = {
        "Architecture": native_architecture(),
        "RepoDigests": ["mongo@sha256:12", "nginx@sha256:34", "lab:5000/s/acmeair@sha256:56"],
        "Config": {"Labels": {"dev.steelyard.database": "embedded"}},
    }
    client = folder / "docker"
    client.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *"{missing}"*) echo "no such image" >&2; exit 1;; esac\n'
        f"case $1 in image) echo '{json.dumps([answer])}';; run) cat {JVM};; esac\n",
        encoding="utf-8",
    )
    client.chmod(client.stat().st_mode | stat.S_IXUSR)
    return Docker(client, "26", "2.26")


def test_the_default_database_and_proxy_are_pinned_by_digest(tmp_path: Path) -> None:
    found = find_images(engine(tmp_path), "acmeair", KINDS.values(), HERE)
    assert found.by_role == {
        "server": "lab:5000/s/acmeair@sha256:56",
        "loadgen": "lab:5000/s/loadgen:0.1.0",
        "database": "docker.io/library/mongo@sha256:12",
        "proxy": "docker.io/library/nginx@sha256:34",
    }
    assert found.embedded_database


def test_a_topology_without_a_proxy_needs_no_image_of_one(tmp_path: Path) -> None:
    found = find_images(engine(tmp_path, missing="nginx"), "acmeair", [KINDS["monolith"]], HERE)
    assert found.proxy is None
    alone = find_images(engine(tmp_path, missing="mongo"), "ping", WORKLOADS["ping"].kinds.values(), HERE)
    assert alone.database is None
    assert not alone.embedded_database


def test_a_digest_that_somebody_gave_is_kept(tmp_path: Path) -> None:
    named = {**HERE, "STEELYARD_MONGO_IMAGE": "lab:5000/mongo:8@sha256:78"}
    found = find_images(engine(tmp_path), "acmeair", [KINDS["monolith"]], named)
    assert found.by_role["database"] == "lab:5000/mongo:8@sha256:78"


@pytest.mark.parametrize(("reference", "variable"), [(MONGO, "MONGO"), (NGINX, "NGINX")])
def test_what_cannot_be_had_names_the_variable(tmp_path: Path, reference: str, variable: str) -> None:
    docker = engine(tmp_path, missing=reference)
    with pytest.raises(MissingRequirement, match=rf"{reference} .*no such image.*STEELYARD_{variable}_IMAGE"):
        find_images(docker, "acmeair", [KINDS["microservices"]], HERE)
