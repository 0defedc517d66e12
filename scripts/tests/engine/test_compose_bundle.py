# SPDX-License-Identifier: Apache-2.0
"""The override of a trial: what it says of servers and injectors, and how it merges with the base."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from steelyard.engines.compose.bundle import SESSION_LABEL, User, override, targets
from steelyard.engines.compose.engine import BUNDLES
from steelyard.engines.compose.images import MONGO, NGINX, Image, Images, references
from steelyard.experiment.matrix import Arm
from steelyard.experiment.schema import Deployment, Load
from steelyard.experiment.workloads import WORKLOADS, Kind
from steelyard.images.lock import read_lock
from steelyard.load.injector import InjectorPlan
from steelyard.results.schema import InstanceRecord, JvmIdentity, TopologyRecord
from steelyard.topology.plan import INSTANCE_FOLDER, plan_topology


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
    kind = WORKLOADS["ping"].kinds["single"]
    return override(topology, kind, [plan], images, User(1000, 1000), "jvm-count-1")


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


def merged(bundle: str, text: str, folder: Path) -> dict[str, Any]:
    """The services that compose makes of a bundle and a trial."""
    base = (BUNDLES / bundle / "compose.yaml").read_text(encoding="utf-8")
    (folder / "compose.yaml").write_text(base, encoding="utf-8")
    (folder / "trial.yaml").write_text(text, encoding="utf-8")
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
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    services: dict[str, Any] = json.loads(done.stdout)["services"]
    return services


def acmeair(topology: str, jvms: int, hotspot: JvmIdentity, folder: Path) -> tuple[TopologyRecord, Kind, str]:
    """A trial of AcmeAir on four cores, two of them for the injector."""
    deployment = Deployment.model_validate(
        {
            "engine": "compose",
            "topology": topology,
            "jvms": jvms,
            "cores": 2,
            "injector_cores": 2,
            "threads": 16,
        }
    )
    arm = Arm("a", {}, True, deployment, Load(users=8, customers=40))
    workload = WORKLOADS["acmeair"]
    topologies = plan_topology(arm, [(n,) for n in range(4)], hotspot, workload, 9500)
    kind = workload.kinds[topology]
    image = Image("reg/acmeair:1-hotspot", "reg/acmeair@sha256:12", "amd64", {})
    images = Images(
        *(image, Image("reg/loadgen:1", "reg/loadgen@sha256:34", "amd64", {}), hotspot, hotspot),
        database=Image("reg/embedded-mongo:1", "reg/embedded-mongo@sha256:56", "amd64", {}),
        proxy=Image(NGINX, "docker.io/library/nginx@sha256:78", "amd64", {}),
    )
    plan = InjectorPlan("injector-1", folder / "load" / "injector-1", [2, 3], {"users": 8})
    return topologies, kind, override(topologies, kind, [plan], images, User(1000, 1000), "s")


def test_services_databases_and_proxy_of_a_trial(hotspot: JvmIdentity, tmp_path: Path) -> None:
    topology, _, text = acmeair("microservices", 2, hotspot, tmp_path)
    services = yaml.load(text, _Loader)["services"]
    second = services["booking-2"]
    assert second["extends"]["service"] == "booking"
    assert second["networks"] == {"default": {"aliases": ["booking"]}}
    assert second["environment"]["EXECUTOR_THREADS"] == "16"
    assert second["ports"] == ["127.0.0.1:9508:9080"]
    assert services["booking"]["scale"] == 0
    database = services["booking-database"]
    assert (database["image"], database["cpuset"]) == ("reg/embedded-mongo@sha256:56", "2,3")
    assert database["labels"] == {SESSION_LABEL: "s"}
    assert "ports" not in database
    proxy = services["proxy"]
    assert (proxy["image"], proxy["cpuset"]) == ("docker.io/library/nginx@sha256:78", "0,1")
    assert proxy["ports"] == ["127.0.0.1:9500:8080"]
    assert set(proxy["depends_on"]) == {instance.name for instance in topology.instances}
    assert services["injector-1"]["depends_on"] == {"data": {"condition": "service_completed_successfully"}}
    assert targets(topology) == ["http://proxy:8080"]


def test_without_a_proxy_injectors_go_to_the_servers(hotspot: JvmIdentity, tmp_path: Path) -> None:
    topology, _, text = acmeair("monolith", 2, hotspot, tmp_path)
    services = yaml.load(text, _Loader)["services"]
    assert "proxy" not in services
    assert list(services["data"]["depends_on"]) == ["server-1", "server-2"]
    assert targets(topology) == ["http://server-1:9080", "http://server-2:9080"]


@pytest.mark.skipif(shutil.which("docker") is None, reason="docker's client is not installed")
@pytest.mark.parametrize("topology", ["monolith", "microservices"])
def test_compose_reads_what_acmeair_comes_to(topology: str, hotspot: JvmIdentity, tmp_path: Path) -> None:
    _, kind, text = acmeair(topology, 2, hotspot, tmp_path)
    services = merged(kind.bundle, text, tmp_path)
    running = {name: one for name, one in services.items() if one.get("scale", 1)}
    assert {one["image"].partition("@")[0] for one in running.values()} <= {
        *("reg/acmeair", "reg/loadgen", "reg/embedded-mongo", "docker.io/library/nginx")
    }
    assert all(one["read_only"] and one["cap_drop"] == ["ALL"] for one in running.values())
    for service in kind.services:
        command = running[f"{service.name}-2"]["command"]
        assert command == [service.server]
        if service.database is not None:
            assert running[f"{service.name}-2"]["environment"]["MONGO_HOST"] == service.database
        for variable, callee in service.calls.items():
            assert running[f"{service.name}-1"]["environment"][variable] == f"http://proxy:8080/{callee}"
    assert {name for name in services if name.endswith("database")} == set(kind.databases)
    assert ("proxy" in services) == kind.proxied


@pytest.mark.skipif(shutil.which("docker") is None, reason="docker's client is not installed")
def test_compose_itself_reads_base_and_override(text: str, tmp_path: Path) -> None:
    """`docker compose config` needs no engine, and says what would be created."""
    services = merged("ping", text, tmp_path)
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
    lock = read_lock().root
    assert (lock["mongo"].reference, lock["nginx"].reference) == (MONGO, NGINX)
    for workload in WORKLOADS.values():
        server_image, loadgen_image = references(workload.name, {})
        for kind in workload.kinds.values():
            images = defaults(kind.bundle)
            assert {images[service.name] for service in kind.services} == {server_image}
            assert images["load"] == loadgen_image
            assert all(images[name] == MONGO for name in kind.databases)
            assert images.get("proxy", NGINX) == NGINX


def defaults(bundle: str) -> dict[str, str]:
    """Image of each service when no variable is set."""
    base = yaml.safe_load((BUNDLES / bundle / "compose.yaml").read_text(encoding="utf-8"))["services"]
    return {name: re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", service["image"]) for name, service in base.items()}
