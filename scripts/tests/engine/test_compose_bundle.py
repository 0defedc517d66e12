# SPDX-License-Identifier: Apache-2.0
"""The override of a trial: what it says of each component, and how it merges with the bundle."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import make_container
from compose_specs import IMAGES, LOADGEN, compose_spec, described_component, injector, spec_of
from programs import needs_compose

from steelyard.engines.compose.bundle import SESSION_LABEL, User, command_line, override
from steelyard.engines.compose.images import BUNDLES, bundle_settings, leave_settings
from steelyard.engines.images import LOADGEN as LOADGEN_IMAGE
from steelyard.engines.images import image_reference
from steelyard.jvm.identity import JvmIdentity
from steelyard.jvm.settings import JvmSettings
from steelyard.paths import ROOT
from steelyard.results.spec import Artifact, Component, Spec
from steelyard.workload.loader import load_workload, workload_names
from steelyard.workload.schema import ContainerPlace, DataRequest, Topology
from steelyard.yamlfile import Scalar

GOLDEN = Path(__file__).parents[1] / "fixtures" / "compose"
USER = User(1000, 1000)


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


def bundle(name: str) -> dict[str, Any]:
    """The services of a bundle."""
    text = (BUNDLES / name / "compose.yaml").read_text(encoding="utf-8")
    services: dict[str, Any] = yaml.safe_load(text)["services"]
    return services


@pytest.mark.parametrize("name", sorted(path.parent.name for path in BUNDLES.glob("*/compose.yaml")))
def test_what_a_bundle_mounts_of_the_host_selinux_lets_in(name: str) -> None:
    """By a label of its own (`z`), or because the container has none."""
    for service in bundle(name).values():
        volumes = [volume for volume in service.get("volumes", ()) if isinstance(volume, str)]
        mounts = [volume for volume in volumes if ":" in volume and volume[0] in "./$"]
        unlabelled = [mount for mount in mounts if "z" not in mount.rpartition(":")[2].split(",")]
        unlabelled += [
            volume["source"]
            for volume in service.get("volumes", ())
            if volume not in volumes and volume["type"] == "bind" and "selinux" not in volume.get("bind", ())
        ]
        assert not unlabelled or "label:disable" in service.get("security_opt", ())


def services_of(made: Spec) -> dict[str, Any]:
    """What the override says of each service."""
    services: dict[str, Any] = yaml.load(override(made, bundle(made.bundle), USER, "s"), _Loader)["services"]
    return services


def server(**more: Any) -> Component:
    """The first server of ping."""
    described = load_workload("ping").workload.topology(None)[1].components["server"]
    return described_component("server", described, **{"name": "server-1", **more})


def ping(*components: Component) -> dict[str, Any]:
    """Services of a trial of ping."""
    return services_of(compose_spec([*components, injector()], bundle="ping"))


@pytest.mark.parametrize(
    ("workload", "topology"), [("ping", None), ("acmeair", "monolith"), ("acmeair", "microservices")]
)
def test_the_override_is_known_to_the_letter(workload: str, topology: str | None) -> None:
    """What it comes to is read by people and by compose: after a change on purpose, write the golden file anew."""
    made = spec_of(workload, topology)
    assert override(made, bundle(made.bundle), USER, "jvm-count-1") == (
        GOLDEN / f"{made.bundle}.trial.yaml"
    ).read_text(encoding="utf-8")


def test_a_server_has_what_the_spec_says() -> None:
    options = ["-Xmx64m", "-Dprice=$5 each", "-Xlog:gc:file=${folder}/logs/gc.log"]
    first = ping(server(port=9080, jvm_options=options, environment={"EXECUTOR_THREADS": "16"}))["server-1"]
    assert first["cpuset"] == "0,1"
    assert first["image"] == IMAGES["ping"]
    assert first["user"] == "1000:1000"
    assert first["labels"] == {SESSION_LABEL: "s"}
    assert first["ports"] == ["127.0.0.1:9080:9080"]
    assert first["volumes"] == ["${TRIAL:-.}/servers/server-1/logs:/steelyard/logs:z"]
    assert first["environment"] == {
        "JVM_ARGS": "-Xmx64m '-Dprice=$$5 each' -Xlog:gc:file=/steelyard/logs/gc.log",
        "EXECUTOR_THREADS": "16",
    }
    assert "mem_limit" not in first
    limited = ping(server(memory_bytes=150 << 20))["server-1"]
    assert limited["mem_limit"] == limited["memswap_limit"] == 150 << 20
    assert limited["ports"] == []
    assert "cpus" not in limited
    assert ping(server(cpu_quota=0.5))["server-1"]["cpus"] == 0.5
    assert "cpus=0.5" in command_line(server(cpu_quota=0.5), "ping")


def test_large_pages_of_openj9_need_rights_and_those_of_hotspot_none(
    openj9: JvmIdentity, hotspot: JvmIdentity
) -> None:
    large, small = JvmSettings(pages="large"), JvmSettings()
    for jvm, settings, rights in ((openj9, large, True), (hotspot, large, False), (openj9, small, False)):
        artifact = Artifact(form="image", image=IMAGES["ping"], jvm=jvm)
        one = server(jvm_settings=settings).model_copy(update={"artifact": artifact})
        made = ping(one)["server-1"]
        assert (made.get("cap_add"), made.get("ulimits")) == (
            (["IPC_LOCK"], {"memlock": -1}) if rights else (None, None)
        )


def test_a_build_on_this_host_leaves_what_the_harness_and_compose_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.engines.compose.images.BUNDLES", tmp_path)
    (tmp_path / "ping").mkdir()
    (tmp_path / "ping" / ".env").write_text("# left\nSTEELYARD_FLAVOUR='hotspot'\nA=b=c\n", encoding="utf-8")
    assert bundle_settings("ping", {"A": "d"}) == {"STEELYARD_FLAVOUR": "hotspot", "A": "d"}
    assert bundle_settings("other", {"A": "d"}) == {"A": "d"}
    for name in ("ping", "other"):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "compose.yaml").touch()
    for flavour in ("openj9", "hotspot"):  # what a build left the next one replaces
        assert leave_settings({"STEELYARD_FLAVOUR": flavour}) == [tmp_path / "ping" / ".env"]
        assert bundle_settings("other", {}) == {"STEELYARD_FLAVOUR": flavour}
    assert bundle_settings("ping", {})["A"] == "b=c"


def test_the_harness_in_a_container_is_told_which_images_to_run() -> None:
    """Every variable that names an image which is not the project's, of any workload and database."""
    workloads = [load_workload(name).workload for name in workload_names()]
    kinds = chain.from_iterable(
        topology.components.values() for each in workloads for topology in each.topologies.values()
    )
    places = [kind.container for kind in kinds if kind.container is not None]
    named = {place.variable for place in places} - {None}
    for file in (ROOT / "apps" / "databases").glob("*.yaml"):
        described = yaml.safe_load(file.read_text(encoding="utf-8"))
        named |= {described.get("container", {}).get("variable")} - {None}
    assert len(named) >= 4
    told = bundle("jvm-count")["harness"]["environment"]
    assert {name: told.get(name) for name in named} == {name: f"${{{name}:-}}" for name in named}


def test_servers_that_use_a_class_cache_share_the_folder_of_their_kind() -> None:
    option = "-Xshareclasses:cacheDir=${cache}"
    cached = ping(server(jvm_options=[option]))["server-1"]
    assert cached["environment"]["JVM_ARGS"] == "-Xshareclasses:cacheDir=/steelyard/cache"
    assert "${TRIAL:-.}/cache/server:/steelyard/cache:z" in cached["volumes"]


def test_an_injector_gets_its_settings_and_waits_for_the_servers() -> None:
    settings = {"users": 8, "cost": "$1", "awaitStart": True}
    services = services_of(
        compose_spec([server(), server(name="server-2"), injector(settings=settings)], bundle="ping")
    )
    told = services["injector-1"]["environment"]["LOADGEN_SETTINGS"]
    # A person who repeats the trial gives no start signal.
    assert '"awaitStart": ${MEASURED:-false}' in told
    told = told.replace("${MEASURED:-false}", "true").replace("$$", "$")
    assert json.loads(told) == {**settings, "output": "/load/injector-1"}
    assert services["injector-1"]["cpuset"] == "2,3"
    assert services["injector-1"]["depends_on"] == {
        name: {"condition": "service_healthy"} for name in ("server-1", "server-2")
    }


def test_any_kind_of_component_gets_a_service() -> None:
    """A compiler server that the bundle does not know stands by itself; a server of any kind extends `server`."""
    place = ContainerPlace(port=38400, status=38500, jvm_options=None, folder="/var/jit", user="image")
    compiler = make_container(
        "compiler",
        image="reg/jitserver:1",
        name="jitserver-1",
        kind="jitserver",
        cpus=[1],
        port=9082,
        container=place,
    )
    shop = server().model_copy(update={"kind": "shop", "name": "shop-1"})
    services = services_of(compose_spec([compiler, shop, injector()]))
    assert services["jitserver-1"] == {
        "image": "reg/jitserver:1",
        "cpuset": "1",
        "labels": {SESSION_LABEL: "s"},
        "networks": {"default": {"aliases": ["jitserver"]}},
        "ports": ["127.0.0.1:9082:38500"],
        "volumes": ["${TRIAL:-.}/servers/jitserver-1/logs:/var/jit/logs:z"],
        "healthcheck": {"disable": "${MEASURED:-false}"},
    }
    assert services["shop-1"]["extends"]["service"] == "server"
    assert services["shop-1"]["networks"] == {"default": {"aliases": ["shop"]}}
    assert services["injector-1"]["depends_on"] == {"shop-1": {"condition": "service_started"}}


def test_what_the_spec_does_not_deploy_gets_no_container() -> None:
    made = spec_of("acmeair", "microservices")
    services = services_of(
        made.model_copy(update={"components": [one for one in made.components if one.kind != "main"]})
    )
    assert services["main"]["scale"] == services["booking"]["scale"] == services["load"]["scale"] == 0
    assert services["main"]["image"].startswith("reg/")
    assert "main" not in services["proxy"]["depends_on"]


def test_servers_databases_and_proxy_of_a_trial() -> None:
    services = services_of(spec_of("acmeair", "microservices"))
    second = services["booking-2"]
    assert second["extends"]["service"] == "booking"
    assert second["networks"] == {"default": {"aliases": ["booking"]}}
    assert second["ports"] == ["127.0.0.1:9507:9080"]
    assert second["depends_on"] == {"booking-database": {"condition": "service_started"}}
    database = services["booking-database"]
    assert (database["image"], database["cpuset"]) == (IMAGES["STEELYARD_MONGO_IMAGE"], "2,3")
    assert not {"ports", "user", "volumes", "extends", "scale"} & set(database)
    proxy = services["proxy"]
    assert (proxy["image"], proxy["user"]) == (IMAGES["STEELYARD_NGINX_IMAGE"], "1000:1000")
    assert proxy["ports"] == ["127.0.0.1:9510:8080"]
    assert set(proxy["depends_on"]) == {
        f"{kind}-{number}" for kind in ("auth", "customer", "flight", "booking", "main") for number in (1, 2)
    }
    assert services["injector-1"]["depends_on"] == {"data": {"condition": "service_completed_successfully"}}


def test_databases_and_their_servers_share_a_password_that_a_service_makes() -> None:
    made = spec_of("acmeair", "microservices")
    services, base = services_of(made), bundle(made.bundle)
    assert services["password"] == {"image": IMAGES["acmeair"], "labels": {SESSION_LABEL: "s"}}
    for name in ("customer-database", "flight-database", "booking-database"):
        assert services[name]["depends_on"] == {"password": {"condition": "service_completed_successfully"}}
    _check_sharing(base)


@pytest.mark.parametrize("name", ["daytrader7-postgresql", "olio-postgresql"])
def test_postgresql_has_a_password_that_a_service_makes(name: str) -> None:
    base = bundle(name)
    _check_sharing(base)
    assert base["database"]["depends_on"] == {"password": {"condition": "service_completed_successfully"}}
    assert base["password"] == {**bundle("acmeair-monolith")["password"], "image": base["password"]["image"]}


def _check_sharing(base: Mapping[str, Any]) -> None:
    """Databases and who asks them have the password as a file, and no other service has it."""
    mount = "database-password:/run/steelyard:ro"
    sharing = {name for name, service in base.items() if mount in service.get("volumes", [])}
    asked = {"MONGO_HOST", "MONGO_INITDB_ROOT_USERNAME", "POSTGRES_USER", "TRADE_DB_USER", "OLIO_DB_USER"}
    assert sharing == {name for name, one in base.items() if asked & set(one.get("environment", {}))}
    assert "database-password:/steelyard/keys" in base["password"]["volumes"]


def test_by_hand_the_data_is_loaded_by_the_same_requests() -> None:
    data = services_of(spec_of("acmeair", "microservices"))["data"]
    asked = re.findall(r"http://[^\s';]+", data["command"][0])
    assert asked[1:] == [
        "http://flight-1:9080/flight/loader/load",
        "http://booking-1:9080/booking/loader/load",
    ]
    assert asked[0].startswith("http://customer-1:9080/customer/loader/load?numCustomers=")
    assert set(data["depends_on"]) >= {"customer-1", "customer-2", "proxy"}
    request = DataRequest(component="server-1", path="/fill?n=2")
    foreign = compose_spec([server(port=9099), injector()], data=[request])
    text = override(foreign, bundle("server"), USER, "s")
    assert "curl -f 'http://127.0.0.1:9099/fill?n=2'" in text


def test_the_plan_shows_what_starts_a_server() -> None:
    line = command_line(server(jvm_options=["-Xmx64m", "-Da=b c"], memory_bytes=1 << 20), "ping")
    assert line.startswith(
        "cpuset=0,1 mem_limit=1048576 JVM_ARGS='-Xmx64m '\"'\"'-Da=b c'\"'\"'' docker compose"
    )
    assert line.endswith("-f compose/ping/compose.yaml -f $TRIAL/replay/trial.yaml up server-1")


def merged(made: Spec, folder: Path) -> dict[str, Any]:
    """The services that compose makes of a bundle and a trial; `docker compose config` needs no engine."""
    shutil.copy(BUNDLES / made.bundle / "compose.yaml", folder)
    text = override(made, bundle(made.bundle), USER, "s")
    (folder / "trial.yaml").write_text(text, encoding="utf-8")
    files = ("-f", "compose.yaml", "-f", "trial.yaml")
    command = ["docker", "compose", *files, "--profile", "load", "config", "--format", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    services: dict[str, Any] = json.loads(done.stdout)["services"]
    return services


@needs_compose
@pytest.mark.parametrize("topology", ["monolith", "microservices"])
def test_compose_reads_what_acmeair_comes_to(topology: str, tmp_path: Path) -> None:
    made = spec_of("acmeair", topology)
    services = merged(made, tmp_path)
    running = {name: one for name, one in services.items() if one.get("scale", 1)}
    assert set(running) == {one.name for one in made.components} | {"data", "password"}
    assert {one["image"] for one in running.values()} <= {*IMAGES.values(), LOADGEN}
    assert all(one["read_only"] and one["cap_drop"] == ["ALL"] for one in running.values())
    described = load_workload("acmeair").workload.topology(topology)[1].components
    for one in made.servers:
        process = described[one.kind].process
        assert process is not None
        assert running[one.name]["command"] == [process.liberty]
        # The bundle connects its services as the process engine connects its processes.
        for variable, text in process.environment.items():
            told = running[one.name]["environment"].get(variable)
            wanted = re.sub(r"\$\{([\w-]+)\.host\}", r"\1", text).replace("${proxy.url}", "http://proxy:8080")
            wanted = wanted.replace("${shared}", "/steelyard/keys")
            assert told == wanted or (variable == "MONGO_PORT" and told is None)


@needs_compose
def test_compose_itself_reads_base_and_override(tmp_path: Path) -> None:
    made = spec_of("ping")
    made.components[-1].settings["cost"] = "$1"
    services = merged(made, tmp_path)
    first, load = services["server-1"], services["injector-1"]
    assert first["read_only"] is True
    assert first["cap_drop"] == ["ALL"]
    assert [port["published"] for port in first["ports"]] == ["9500"]
    assert {volume["target"]: volume["type"] for volume in first["volumes"]} == {
        "/steelyard": "volume",
        "/steelyard/logs": "bind",
    }
    assert services["server"]["scale"] == 0
    assert {service["image"] for service in services.values()} == {IMAGES["ping"], LOADGEN}
    assert set(load["depends_on"]) == {"server-1", "server-2"}
    assert load["profiles"] == ["load"]
    assert [volume["source"] for volume in load["volumes"]] == [str(tmp_path / "load")]
    assert json.loads(load["environment"]["LOADGEN_SETTINGS"].replace("$$", "$"))["cost"] == "$1"


@needs_compose
def test_a_server_of_any_image_keeps_its_own_health_check(tmp_path: Path) -> None:
    services = merged(compose_spec([server(port=9099), injector()]), tmp_path)
    assert "test" not in services["server-1"]["healthcheck"]
    assert services["server-1"]["healthcheck"]["interval"] == "5s"
    assert [port["published"] for port in services["server-1"]["ports"]] == ["9099"]
    assert not services["server-1"].get("read_only")


def variants(topology: str, workload: str) -> list[Topology]:
    """A topology with each component that a setting chooses in it, of those that have an image."""
    loaded = load_workload(workload)
    chosen = loaded.workload.topologies[topology]
    values: list[dict[str, Scalar]] = [{}]
    for component in chosen.components.values():
        if component.one_of is not None:
            choices = loaded.choices[(loaded.folder / component.one_of.folder).resolve()]
            values = [{component.one_of.setting: name} for name, one in choices.items() if one.container]
    return [
        loaded.choose(topology, given, in_containers=True).workload.topologies[topology] for given in values
    ]


def test_images_are_named_by_the_same_variables_as_in_the_bundles() -> None:
    for name in workload_names():
        for topology in chain.from_iterable(
            map(variants, load_workload(name).workload.topologies, repeat(name))
        ):
            assert topology.bundle is not None
            defaults = {
                service: re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", base["image"])
                for service, base in bundle(topology.bundle).items()
            }
            assert defaults["load"] == image_reference(LOADGEN_IMAGE, environment={})
            for kind, described in topology.components.items():
                assert described.container is not None
                assert defaults[kind] == image_reference(described.container, environment={})
