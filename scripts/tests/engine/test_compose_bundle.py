# SPDX-License-Identifier: Apache-2.0
"""The override of a trial: what it says of servers and injectors, and how it merges with the base."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from steelyard.engines.compose.bundle import SESSION_LABEL, User, override
from steelyard.engines.compose.engine import BUNDLES
from steelyard.engines.compose.images import Image, Images, references
from steelyard.load.injector import InjectorPlan
from steelyard.results.schema import InstanceRecord, JvmIdentity, TopologyRecord
from steelyard.topology.plan import INSTANCE_FOLDER


def server(number: int, memory: int | None = None) -> InstanceRecord:
    return InstanceRecord(
        name=f"server-{number}",
        cpus=[2 * number, 2 * number + 1],
        cpus_shared_with=1,
        cores=1,
        heap_bytes=64 << 20,
        memory_bytes=memory,
        port=9079 + number,
        jvm_options=["-Xmx64m", "-Dprice=$5 each", f"-Xlog:gc:file={INSTANCE_FOLDER}/logs/gc.log"],
    )


@pytest.fixture
def text(hotspot: JvmIdentity, tmp_path: Path) -> str:
    image = Image("reg/ping:1-hotspot", "reg/ping@sha256:12", "amd64", {})
    images = Images(image, Image("reg/loadgen:1", "reg/loadgen@sha256:34", "amd64", {}), hotspot, hotspot)
    topology = TopologyRecord(
        engine="compose",
        instances=[server(1), server(2, memory=150 << 20)],
        injector_cpus=[0],
        injectors=1,
        injectors_share_cores=False,
        server_cores=2,
        notes=[],
    )
    plan = InjectorPlan("injector-1", tmp_path / "load" / "injector-1", [0, 1], {"users": 8, "cost": "$1"})
    return override(topology, [plan], images, User(1000, 1000), "jvm-count-1")


class _Loader(yaml.SafeLoader):
    pass


_Loader.add_constructor(
    "!override",
    lambda loader, node: (
        loader.construct_sequence(node)
        if isinstance(node, yaml.SequenceNode)
        else loader.construct_mapping(node, deep=True)
    ),
)


def test_each_server_has_what_its_instance_says(text: str) -> None:
    services = yaml.load(text, _Loader)["services"]
    first, second = services["server-1"], services["server-2"]
    assert first["cpuset"] == "2,3"
    assert first["image"] == "reg/ping@sha256:12"
    assert first["user"] == "1000:1000"
    assert first["labels"] == {SESSION_LABEL: "jvm-count-1"}
    assert first["ports"] == ["127.0.0.1:9080:9080"]
    assert first["volumes"] == ["${TRIAL:-.}/servers/server-1/logs:/steelyard/logs"]
    assert (
        first["environment"]["JVM_ARGS"] == "-Xmx64m '-Dprice=$$5 each' -Xlog:gc:file=/steelyard/logs/gc.log"
    )
    assert "mem_limit" not in first
    assert second["mem_limit"] == second["memswap_limit"] == 150 << 20


def test_an_injector_gets_its_settings_and_waits_for_the_servers(text: str) -> None:
    injector = yaml.load(text, _Loader)["services"]["injector-1"]
    settings = json.loads(injector["environment"]["LOADGEN_SETTINGS"].replace("$$", "$"))
    assert settings == {"users": 8, "cost": "$1", "output": "/load/injector-1"}
    assert injector["cpuset"] == "0,1"
    assert list(injector["depends_on"]) == ["server-1", "server-2"]


@pytest.mark.skipif(shutil.which("docker") is None, reason="docker's client is not installed")
def test_compose_itself_reads_base_and_override(text: str, tmp_path: Path) -> None:
    """`docker compose config` needs no engine, and says what would be created."""
    (tmp_path / "compose.yaml").write_text(
        (BUNDLES / "ping" / "compose.yaml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    (tmp_path / "trial.yaml").write_text(text, encoding="utf-8")
    if subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode != 0:
        pytest.skip("docker's compose plugin is not installed")
    done = subprocess.run(
        [
            "docker",
            "compose",
            "-f",
            "compose.yaml",
            "-f",
            "trial.yaml",
            "--profile",
            "load",
            "config",
            "--format",
            "json",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    services: dict[str, Any] = json.loads(done.stdout)["services"]
    first, injector = services["server-1"], services["injector-1"]
    assert first["read_only"] is True
    assert first["cap_drop"] == ["ALL"]
    assert [port["published"] for port in first["ports"]] == ["9080"]
    assert {volume["target"]: volume["type"] for volume in first["volumes"]} == {
        "/steelyard": "volume",
        "/steelyard/logs": "bind",
    }
    assert services["server"]["scale"] == 0
    assert {service["image"] for service in services.values()} == {
        "reg/ping@sha256:12",
        "reg/loadgen@sha256:34",
    }
    assert set(injector["depends_on"]) == {"server-1", "server-2"}
    assert [volume["source"] for volume in injector["volumes"]] == [str(tmp_path / "load")]
    assert json.loads(injector["environment"]["LOADGEN_SETTINGS"].replace("$$", "$"))["cost"] == "$1"


def test_images_are_named_by_the_same_variables_as_in_the_bundles() -> None:
    named = {"STEELYARD_REGISTRY": "lab:5000/s", "STEELYARD_VERSION": "2", "STEELYARD_FLAVOUR": "hotspot"}
    assert references("ping", named) == ("lab:5000/s/ping:2-hotspot", "lab:5000/s/loadgen:2")
    server_image, loadgen_image = references("ping", {})
    base = yaml.safe_load((BUNDLES / "ping" / "compose.yaml").read_text(encoding="utf-8"))["services"]

    def plain(reference: str) -> str:
        for variable in ("REGISTRY", "VERSION", "FLAVOUR"):
            before, _, rest = reference.partition(f"${{STEELYARD_{variable}:-")
            default, brace, after = rest.partition("}")
            reference = before + default + after if brace else reference
        return reference

    assert (plain(base["server"]["image"]), plain(base["load"]["image"])) == (server_image, loadgen_image)
