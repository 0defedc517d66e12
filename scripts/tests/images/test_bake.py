# SPDX-License-Identifier: Apache-2.0
"""What bake is given and how its answers are read, from its recorded output."""

import json
import re
from pathlib import Path

import pytest
from recorded import FIXTURES, client

from steelyard.errors import BadInput, BuildFailed
from steelyard.images import bake
from steelyard.images.bake import variables
from steelyard.images.lock import Base, read_bases
from steelyard.paths import ROOT
from steelyard.workload.loader import load_workload

PRINTED = (FIXTURES / "bake-print.json").read_text(encoding="utf-8")
A = f"sha256:{'a' * 64}"
BASES = {"tools": Base("busybox:musl", A)}


def bakery(folder: Path, printed: str) -> bake.Bakery:
    return bake.Bakery(client(folder, {"--print": printed}), "r/s", BASES, ["linux/amd64"])


def test_the_environment_holds_every_choice(tmp_path: Path) -> None:
    given = bakery(tmp_path, PRINTED).environment
    assert (given["REGISTRY"], given["PLATFORMS"]) == ("r/s", "linux/amd64")
    assert given["BASE_TOOLS"] == f"busybox:musl@{A}"


def test_every_variable_that_is_set_is_declared_in_the_bake_files() -> None:
    text = (ROOT / bake.BAKE_FILES[0]).read_text(encoding="utf-8")
    listed = json.loads((ROOT / bake.BAKE_FILES[1]).read_text(encoding="utf-8"))["variable"]
    declared = {*re.findall(r'^variable "(\w+)"', text, re.MULTILINE), *listed}
    given = {"REGISTRY", "PLATFORMS", *(f"BASE_{name.upper()}" for name in read_bases() if name != "maven")}
    assert given | set(variables()) - {"SOURCE_DATE_EPOCH"} <= declared  # bake's own
    assert set(bake.GROUPS.values()) == set(re.findall(r'^group "(\w+)"', text, re.MULTILINE))


def test_what_has_no_base_is_left_out_or_refused(tmp_path: Path) -> None:
    known = bakery(tmp_path, PRINTED)
    assert list(known.plan(["hotspot"])) == ["harness", "loadgen", "ping-hotspot", "socket-proxy"]
    without = PRINTED.replace(
        "docker.io/library/eclipse-temurin:17-jre-noble", known.environment["BASE_OPENJ9"]
    )
    lacking = bakery(tmp_path, without)
    with pytest.raises(BadInput, match=r"loadgen \(there is no base openj9 here\): .*--flavour hotspot"):
        lacking.plan(["hotspot"])
    said: list[str] = []
    assert list(lacking.plan(["hotspot"], said.append)) == ["harness", "socket-proxy"]
    assert [line.partition(" (")[0] for line in said] == ["left out: loadgen", "left out: ping-hotspot"]


def test_bundles_are_told_what_was_built(tmp_path: Path) -> None:
    plan = bakery(tmp_path, PRINTED).plan(["hotspot"])
    assert bake.settings_of(plan, None, {}) == {"STEELYARD_FLAVOUR": "hotspot"}
    assert bake.settings_of({"ping-openj9": {}}, "r/s", {}) == {"STEELYARD_REGISTRY": "r/s"}
    replaces = {"dev.steelyard.replaces": "mongo"}
    database = {"embedded-mongo": {"tags": ["r/s/embedded-mongo:1"], "labels": replaces}}
    local = {"tools": Base("b/tools:1", A), "nginx": Base("b/nginx:1", A), "postgresql": Base("b/pg:1", A)}
    assert bake.settings_of({**plan, **database}, "r/s", local) == {
        "STEELYARD_REGISTRY": "r/s",
        "STEELYARD_FLAVOUR": "hotspot",
        "STEELYARD_BASE_TOOLS": "b/tools:1",
        "STEELYARD_NGINX_IMAGE": "b/nginx:1",
        "STEELYARD_POSTGRESQL_IMAGE": "b/pg:1",
        "STEELYARD_MONGO_IMAGE": "r/s/embedded-mongo:1",
    }


def test_what_bake_does_not_know_is_its_own_sentence(tmp_path: Path) -> None:
    docker = client(tmp_path, {})
    with pytest.raises(BadInput, match=r"cannot plan pong \(dial tcp: no such host\)"):
        bake.Bakery(docker, None, BASES, []).plan(["pong"])


def test_a_build_that_fails_and_one_that_leaves_its_digests(tmp_path: Path) -> None:
    known = bakery(tmp_path, PRINTED)
    plan = known.plan(["hotspot"])
    with pytest.raises(BuildFailed, match="exit code 1"):
        known.bake(plan, "--load")
    asked = tmp_path / "asked"
    known.docker.client.write_text(
        f'#!/bin/sh\necho "$@" >{asked}\n'
        f'while [ "$1" != --metadata-file ]; do shift; done\ncp {FIXTURES}/bake-metadata.json "$2"\n',
        encoding="utf-8",
    )
    made = known.bake({"harness": {**plan["harness"], "platforms": ["linux/amd64"]}}, "--load")
    assert made == {
        "tiny": {
            "image.name": "127.0.0.1:5102/h2/tiny2:s",
            "containerimage.digest": "sha256:a7600de22ff585a664856379cf9c1a76383ea27f451a719f1a9b8fdf4968217b",
        }
    }
    assert asked.read_text(encoding="utf-8").endswith("--set harness.platform=linux/amd64 --load harness\n")


def test_this_checkout_states_version_and_build() -> None:
    stated = variables()
    assert len(stated["FINGERPRINT"]) == 16
    assert stated["BUILD"] == f".steelyard/build/{stated['FINGERPRINT']}"
    assert json.loads(stated["WORKLOAD_VERSIONS"])["ping"] == load_workload("ping").workload.version


def test_outside_a_repository_the_revision_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "pom.xml").write_text("<project/>", encoding="utf-8")
    assert variables(tmp_path)["REVISION"] == "unknown"


def test_the_recorded_plan_is_what_bake_reads_again() -> None:
    assert json.loads(PRINTED)["target"].keys() == bake.parse_plan(PRINTED).keys()
