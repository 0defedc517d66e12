# SPDX-License-Identifier: Apache-2.0
"""The bundles of k8s/: each renders, is what the API knows, and keeps the promises of
docs/reference/kubernetes-bundles.md."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from steelyard import __version__
from steelyard.images.catalogue import read_catalogue
from steelyard.paths import ROOT

from .rendering import BUNDLES, KUBECTL, Manifest, containers, pods, render, render_with, same, validate

pytestmark = pytest.mark.skipif(KUBECTL is None, reason="kubectl is not on PATH")
NAME, ROLE = "app.kubernetes.io/name", "app.kubernetes.io/component"
LEVEL = "pod-security.kubernetes.io/enforce"
NOT_RESTRICTED = {
    "steelyard-daytrader7-database": "privileged",
    "steelyard-olio-database": "privileged",
    "steelyard-server": "baseline",
}
"""Namespaces that are not restricted; what their bundles say in their first lines is why."""
FOLDERS = sorted(
    str(path.parent.relative_to(BUNDLES))
    for path in BUNDLES.glob("**/kustomization.yaml")
    if path.relative_to(BUNDLES).parts[0] not in {"base", "components"} and path.parent.name != "constraint"
)
PLAIN = sorted(path.parent.name for path in BUNDLES.glob("*/kustomization.yaml"))
EXPERIMENTS = sorted(path.parent.name for path in BUNDLES.glob("experiments/*/kustomization.yaml"))
JITSERVER = ("jitserver", "monitoring")
VARIED = [
    *(("ping", names) for names in (("hotspot",), JITSERVER, ("large-pages",), ("gateway",))),
    ("acmeair-monolith", ("embedded-mongo", *JITSERVER, "large-pages", "gateway", "small")),
    ("acmeair-microservices", ("embedded-mongo", "hotspot", "gateway-services", "small")),
    ("acmeair-microservices", (*JITSERVER, "lab")),
    ("daytrader7", (*JITSERVER, "lab")),
    ("daytrader7-derby", ("hotspot", "openshift")),
    ("daytrader7-postgresql", (*JITSERVER, "openshift")),
    ("olio", (*JITSERVER, "lab")),
    ("olio-derby", ("hotspot", "small")),
]


@pytest.fixture(scope="module")
def rendered() -> Mapping[str, list[Manifest]]:
    """Every bundle and overlay, by folder."""
    return {folder: render(BUNDLES / folder) for folder in FOLDERS}


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, tuple[str, ...], list[Manifest]]]:
    """Bundles with components."""
    return [
        (bundle, names, render_with(bundle, names, tmp_path_factory.mktemp("bundle")))
        for bundle, names in VARIED
    ]


@pytest.fixture(scope="module")
def everything(rendered: Mapping[str, list[Manifest]], varied: list[Any]) -> list[list[Manifest]]:
    """All sets of objects."""
    return [*rendered.values(), *(manifests for _, _, manifests in varied)]


def test_every_component_is_tried() -> None:
    always = {
        "restricted",
        "liberty",
        "mongodb",
        "db2",
        "postgresql",
        "password",
        "together",
        "filestore",
    }  # in a bundle
    always |= {"registry", "openshift-db2"}  # below, in an overlay
    tried = set(chain.from_iterable(names for _, names in VARIED)) | always
    assert tried == {path.name for path in (BUNDLES / "components").iterdir()}


def test_bundles_and_experiments_are_those_of_compose() -> None:
    there = {path.parent.name for path in ROOT.glob("compose/*/compose.yaml")}
    assert {*PLAIN, *EXPERIMENTS, "observe"} == there  # which watches a session, and is none


def test_every_object_is_one_that_the_api_knows(everything: list[list[Manifest]]) -> None:
    texts = set(chain.from_iterable(map(same, everything)))
    assert len(texts) > 100
    for text in texts:
        validate(json.loads(text))


def test_names_and_labels(rendered: Mapping[str, list[Manifest]]) -> None:
    for folder, manifests in rendered.items():
        bundle = next(part for part in Path(folder).parts if part in (*PLAIN, *EXPERIMENTS))
        for manifest in manifests:
            labels = manifest["metadata"]["labels"]
            assert labels["app.kubernetes.io/part-of"] == "steelyard"
            assert labels["app.kubernetes.io/instance"] == bundle
            where = manifest["metadata"].get("namespace", manifest["metadata"]["name"])
            more = "-nodes" if manifest["kind"].startswith("Cluster") else ""
            more = "-database" if folder.endswith("/database") else more
            assert where == f"steelyard-{bundle}{more}"
        services = {one["metadata"]["name"]: one for one in manifests if one["kind"] == "Service"}
        for manifest, pod in pods(manifests):
            kind = manifest["metadata"]["name"]
            labels = manifest["spec"]["template"]["metadata"]["labels"]
            assert labels == manifest["metadata"]["labels"]
            assert labels[NAME] == pod["containers"][0]["name"] == kind
            if manifest["kind"] == "StatefulSet":
                assert manifest["spec"]["podManagementPolicy"] == "Parallel"
                assert manifest["spec"]["serviceName"] == f"{kind}-pods"
                assert services[f"{kind}-pods"]["spec"]["clusterIP"] == "None"
                assert services[kind]["spec"]["selector"] == {NAME: kind}
                assert services[kind]["metadata"]["labels"] == manifest["metadata"]["labels"]


def test_settings_are_those_of_compose(rendered: Mapping[str, list[Manifest]]) -> None:
    for bundle in PLAIN:
        services = compose(bundle)
        for manifest, pod in pods(rendered[bundle] + rendered.get(f"{bundle}/database", [])):
            kind, role = manifest["metadata"]["name"], manifest["metadata"]["labels"][ROLE]
            if role not in {"server", "database", "service"} or bundle == "server":
                continue
            given = {one["name"]: one.get("value") for one in pod["containers"][0]["env"]}
            asked = services[kind].get("environment") or {}
            assert set(given) == set(asked), (bundle, kind)
            literal = {name: value for name, value in given.items() if value is not None}
            assert literal == {name: str("" if asked[name] is None else asked[name]) for name in literal}, (
                bundle,
                kind,
            )


def compose(bundle: str) -> Mapping[str, Any]:
    """The services of a compose bundle, as they are where nobody set a variable."""
    text = (ROOT / "compose" / bundle / "compose.yaml").read_text(encoding="utf-8")
    text = re.sub(r"\$\{STEELYARD_\w+:-((?:[^{}]|\{[^}]*\})*)\}", r"\1", text)
    services: Mapping[str, Any] = yaml.safe_load(text)["services"]
    return services


def test_images_are_pinned_by_the_project_s_version(everything: list[list[Manifest]]) -> None:
    published = set(
        re.findall(r":-(\S+?/\S+?:[\w.]+)\}", "".join(p.read_text() for p in ROOT.glob("compose/*/*.yaml")))
    )
    assert published
    ours = re.compile(rf"localhost/steelyard/[\w-]+:{re.escape(__version__)}(-openj9|-hotspot)?")
    for _, pod in chain.from_iterable(map(pods, everything)):
        for container in containers(pod):
            assert container.get("imagePullPolicy") == "IfNotPresent", container["name"]
            assert ours.fullmatch(container["image"]) or container["image"] in published, container["image"]


def test_one_component_takes_every_image_from_a_registry(tmp_path: Path) -> None:
    registry = "ghcr.io/steelyard/steelyard"
    text = (BUNDLES / "components" / "registry" / "kustomization.yaml").read_text(encoding="utf-8")
    renamed = {one["name"]: one["newName"] for one in yaml.safe_load(text)["images"]}
    cluster = set(read_catalogue()) - {"socket-proxy"}
    assert renamed == {f"localhost/steelyard/{name}": f"{registry}/{name}" for name in cluster}
    for bundle, others in (
        ("olio-derby", ("hotspot",)),
        ("acmeair-monolith", ("embedded-mongo", "jitserver")),
    ):
        manifests = render_with(bundle, (*others, "registry"), tmp_path)
        images = [one["image"] for _, pod in pods(manifests) for one in containers(pod)]
        assert images
        assert all(re.fullmatch(rf"{registry}/[\w-]+:{re.escape(__version__)}(-\w+)?", one) for one in images)
    harness = render_with("experiments/jvm-count", ("registry",), tmp_path)
    settings = [one for _, pod in pods(harness) for each in containers(pod) for one in each.get("env", [])]
    assert {"name": "STEELYARD_REGISTRY", "value": registry} in settings


def test_namespaces_are_restricted_but_for_those_named(everything: list[list[Manifest]]) -> None:
    for manifests in everything:
        for namespace in (one for one in manifests if one["kind"] == "Namespace"):
            space, level = namespace["metadata"]["name"], namespace["metadata"]["labels"][LEVEL]
            assert level == NOT_RESTRICTED.get(space, "restricted")
            names = {manifest["metadata"]["name"] for manifest, _ in pods(manifests)}
            if level == "privileged":
                assert names == {"database"}  # and nothing beside it
            for manifest, pod in pods(manifests):
                if level == "restricted":
                    assert not list(breaches(pod)), (space, manifest["metadata"]["name"])


def breaches(pod: Manifest) -> Iterator[str]:
    """What of the restricted level a pod does not keep; the API server of the node's tests has the last word."""
    context = pod.get("securityContext", {})
    if not context.get("runAsNonRoot") or context.get("seccompProfile") != {"type": "RuntimeDefault"}:
        yield "user or system calls"
    if any(pod.get(name) for name in ("hostNetwork", "hostPID", "hostIPC")):
        yield "host namespaces"
    for volume in pod.get("volumes", []):
        if not set(volume) <= {
            "name",
            "emptyDir",
            "configMap",
            "secret",
            "persistentVolumeClaim",
            "projected",
        }:
            yield f"volume {volume['name']}"
    for container in containers(pod):
        own = container.get("securityContext", {})
        if own != {**own, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}:
            yield f"rights of {container['name']}"
        token = container["name"] == "harness"  # and that of the Job `password`, as a volume of its own
        if (
            own.get("readOnlyRootFilesystem") is not True
            or pod.get("automountServiceAccountToken") is not token
        ):
            yield f"what {container['name']} may write or read"


def test_pods_ask_for_what_they_need_and_are_looked_after(everything: list[list[Manifest]]) -> None:
    for manifest, pod in chain.from_iterable(map(pods, everything)):
        for container in containers(pod):
            resources = container["resources"]
            assert set(resources["requests"]) >= {"cpu", "memory"}
            assert quantity(resources["limits"]["memory"]) >= quantity(resources["requests"]["memory"])
        if manifest["kind"] == "StatefulSet":
            main = pod["containers"][0]
            assert main["readinessProbe"]
            alive = main["livenessProbe"]
            assert alive["periodSeconds"] * alive["failureThreshold"] >= 300  # busy is not dead


def test_olio_stays_in_service_without_its_geocoder(rendered: Mapping[str, list[Manifest]]) -> None:
    for bundle in ("olio", "olio-derby", "olio-postgresql"):
        made = {manifest["metadata"]["name"]: pod for manifest, pod in pods(rendered[bundle])}
        server = made["server"]["containers"][0]
        assert server["readinessProbe"]["httpGet"]["path"] == "/olio/health/ready"
        # A server that starts while the geocoder is down is no dead one.
        assert server["startupProbe"]["httpGet"]["path"] == "/olio/health/live"
        # But a load begins with all that belongs to it: after the data.
        assert "http://server:9080/olio/health/started" in str(made["data"]["containers"][0]["args"])


def test_small_fits_two_cpus_and_four_gibibytes(rendered: Mapping[str, list[Manifest]]) -> None:
    small = [folder for folder in FOLDERS if re.fullmatch(r"overlays/small/[^/]+", folder)]
    assert len(small) == 8
    for folder in small:
        asked = [asks(manifest, pod) for manifest, pod in pods(rendered[folder] + rendered[f"{folder}/load"])]
        assert sum(cpu for cpu, _ in asked) <= 2
        assert sum(memory for _, memory in asked) <= 4 << 30


def test_small_changes_of_a_database_what_that_database_has(rendered: Mapping[str, list[Manifest]]) -> None:
    """JVM options are the embedded database's alone: as the first variable of PostgreSQL they named its database."""
    for folder in (folder for folder in FOLDERS if re.fullmatch(r"overlays/small/[^/]+", folder)):
        for manifest, pod in pods(rendered[folder]):
            if manifest["metadata"]["labels"][ROLE] == "database":
                container = pod["containers"][0]
                given = {one["name"]: one.get("value") for one in container["env"]}
                if folder.endswith("postgresql"):
                    assert given["POSTGRES_DB"] == "steelyard"
                    assert "shared_buffers=64MB" in container["args"]
                else:
                    assert given["JDK_JAVA_OPTIONS"].startswith("-Xmx160m ")


def asks(manifest: Manifest, pod: Manifest) -> tuple[float, float]:
    """CPUs and bytes that the scheduler reserves for all pods of an object."""
    copies = manifest["spec"].get("replicas", manifest["spec"].get("completions", 1))

    def most(name: str) -> float:
        before = (quantity(one["resources"]["requests"][name]) for one in pod.get("initContainers", []))
        together = sum(quantity(one["resources"]["requests"][name]) for one in pod["containers"])
        return float(copies * max(together, *before, 0))

    return most("cpu"), most("memory")


def quantity(text: str) -> float:
    """A quantity of the API as a number."""
    number, unit = re.fullmatch(r"([\d.]+)(m|Ki|Mi|Gi)?", str(text)).groups()  # type: ignore[union-attr]
    return float(number) * {"m": 1e-3, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, None: 1}[unit]


def test_lab_gives_whole_cpus_on_nodes_by_role(rendered: Mapping[str, list[Manifest]]) -> None:
    placed = {"proxy": "server", "service": "injector"}
    seen = set()
    for manifest, pod in chain.from_iterable(
        pods(manifests) for folder, manifests in rendered.items() if folder.startswith("overlays/lab/")
    ):
        role = manifest["metadata"]["labels"][ROLE]
        if role in {"data", "password"}:
            continue
        seen.add(role)
        assert pod["nodeSelector"] == {"steelyard.dev/role": placed.get(role, role)}
        for container in containers(pod):
            resources = container["resources"]
            assert resources["limits"] == resources["requests"], (
                manifest["metadata"]["name"],
                container["name"],
            )
        assert all(quantity(one["resources"]["limits"]["cpu"]) % 1 == 0 for one in pod["containers"])
    assert seen == {"server", "proxy", "database", "service", "injector"}


def test_openshift_names_no_user(rendered: Mapping[str, list[Manifest]]) -> None:
    folders = [folder for folder in FOLDERS if folder.startswith("overlays/openshift/")]
    assert folders
    for _, pod in chain.from_iterable(pods(rendered[folder]) for folder in folders):
        assert "runAsUser" not in pod["securityContext"]
        assert all("runAsUser" not in one.get("securityContext", {}) for one in containers(pod))


def test_openshift_has_a_way_in_to_where_the_application_begins(
    rendered: Mapping[str, list[Manifest]],
) -> None:
    overlays = {
        folder.rpartition("/")[2]: made
        for folder, made in rendered.items()
        if re.fullmatch(r"overlays/openshift/[^/]+", folder)
    }
    assert set(overlays) == set(PLAIN) - {"server"}
    for bundle, manifests in overlays.items():
        (route,) = (one for one in manifests if one["kind"] == "Route")
        _reaches(route["spec"]["to"]["name"], route["spec"]["port"]["targetPort"], manifests)
        assert route["spec"]["to"]["name"] == ("proxy" if bundle.endswith("microservices") else "server")
        apart = rendered.get(f"overlays/openshift/{bundle}/database", [])
        assert bool(apart) == (bundle in {"daytrader7", "olio"})
        assert [pod["serviceAccountName"] for _, pod in pods(apart)] == ["database"] * bool(apart)


def test_databases_have_a_password_that_nobody_chose(everything: list[list[Manifest]]) -> None:
    """A Job makes it, with the right to do so and no other; who needs it waits for it, and nobody else has it."""
    seen = 0
    for manifests in everything:
        made = {manifest["metadata"]["name"]: pod for manifest, pod in pods(manifests)}
        users = {
            name
            for name, pod in made.items()
            if {"name": "password", "secret": {"secretName": "database"}} in pod.get("volumes", [])
        }
        asking = {
            name
            for name, pod in made.items()
            if any(
                one["name"] in {"MONGO_HOST", "MONGO_INITDB_ROOT_USERNAME", "POSTGRES_USER"}
                or one.get("value") == "postgresql"
                for one in variables(pod)
            )
        }
        assert users == asking
        if not users:
            assert "password" not in made
            continue
        seen += 1
        assert users >= {name for name in made if name.endswith("database")}
        for name in users:
            given = {one["name"]: one.get("value") for one in variables(made[name])}
            assert {"/run/steelyard/database_password", "/run/steelyard"} & set(given.values())
            assert {"name": "password", "mountPath": "/run/steelyard", "readOnly": True} in made[name][
                "containers"
            ][0]["volumeMounts"]
            assert not any("PASSWORD" in key and not key.endswith("_FILE") for key in given)
        (role,) = (
            one for one in manifests if one["kind"] == "Role" and one["metadata"]["name"] == "password"
        )
        assert role["rules"] == [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]}]
        assert not [one for one in manifests if one["kind"] == "Secret"]
    assert seen > 5


def variables(pod: Manifest) -> list[Manifest]:
    """Of its first container."""
    found: list[Manifest] = pod["containers"][0].get("env", [])
    return found


def test_servers_reach_db2_in_its_own_namespace_and_nobody_else_does(
    rendered: Mapping[str, list[Manifest]],
) -> None:
    for bundle in ("daytrader7", "olio"):
        servers, apart = rendered[bundle], rendered[f"{bundle}/database"]
        (namespace,) = (one["metadata"] for one in apart if one["kind"] == "Namespace")
        (name,) = (
            one["spec"] for one in servers if one["kind"] == "Service" and "externalName" in one["spec"]
        )
        assert name["externalName"] == f"database.{namespace['name']}.svc.cluster.local"
        (out,) = (one["spec"] for one in servers if one["metadata"]["name"] == "to-database")
        (into,) = (one["spec"] for one in apart if one["metadata"]["name"] == "from-servers")
        (target,), (source,) = out["egress"][0]["to"], into["ingress"][0]["from"]
        for chosen in (target, source):
            labels = chosen["namespaceSelector"]["matchLabels"]
            assert labels["app.kubernetes.io/instance"] == bundle
            assert labels.items() <= namespace["labels"].items()
        ((manifest, pod),) = pods(apart)
        assert target["podSelector"]["matchLabels"].items() <= manifest["metadata"]["labels"].items()
        assert out["egress"][0]["ports"] == into["ingress"][0]["ports"]
        assert pod["containers"][0]["ports"][0]["containerPort"] == into["ingress"][0]["ports"][0]["port"]


def test_db2_is_given_its_two_capabilities_and_no_privilege() -> None:
    (constraint,) = render(BUNDLES / "overlays" / "openshift" / "constraint")
    assert constraint["allowedCapabilities"] == ["IPC_LOCK", "IPC_OWNER"]
    assert {key for key, value in constraint.items() if value is True} == {"allowPrivilegeEscalation"}


def _reaches(service: str, port: str | int, manifests: list[Manifest]) -> None:
    """A service has the port, and a policy lets more than the namespace's own pods in to it."""
    (found,) = (one for one in manifests if one["kind"] == "Service" and one["metadata"]["name"] == service)
    assert port in {found["spec"]["ports"][0]["name"], found["spec"]["ports"][0]["port"]}
    policies = [one["spec"] for one in manifests if one["kind"] == "NetworkPolicy"]
    assert any(each.get("ports") == [{"port": "http"}] for one in policies for each in one.get("ingress", []))


def test_a_gateway_leads_to_services_that_are_there(
    varied: list[tuple[str, tuple[str, ...], list[Manifest]]],
) -> None:
    """Gateway API v1: its schemas are no part of those above."""
    seen = 0
    for _, _, manifests in varied:
        for route in (one for one in manifests if one["kind"] == "HTTPRoute"):
            (gateway,) = (one for one in manifests if one["kind"] == "Gateway")
            assert route["apiVersion"] == gateway["apiVersion"] == "gateway.networking.k8s.io/v1"
            assert route["spec"]["parentRefs"] == [{"name": gateway["metadata"]["name"]}]
            for rule in route["spec"]["rules"]:
                (backend,) = rule["backendRefs"]
                _reaches(backend["name"], backend["port"], manifests)
                seen += 1
    assert seen == 7


def test_nobody_from_outside_reaches_a_namespace_and_names_are_found(
    rendered: Mapping[str, list[Manifest]],
) -> None:
    for folder, manifests in rendered.items():
        if not any(one["kind"] == "Namespace" for one in manifests):
            continue
        policies = {
            one["metadata"]["name"]: one["spec"] for one in manifests if one["kind"] == "NetworkPolicy"
        }
        own = policies["among-themselves"]
        assert own["podSelector"] == {}
        assert own["policyTypes"] == ["Ingress", "Egress"]
        assert own["ingress"] == [{"from": [{"podSelector": {}}]}]
        for rule in own["egress"][1:]:
            assert [(one["protocol"], one["port"]) for one in rule["ports"]] == [
                *(("UDP", 53), ("TCP", 53), ("UDP", 5353), ("TCP", 5353))
            ]
        more = {"harness-to-api-server", "api-server-to-trials"} if "experiments" in folder else set()
        more |= {"from-router"} if "openshift" in folder else set()
        more |= {"password-to-api-server"} if "acmeair" in folder or "postgresql" in folder else set()
        if folder.endswith("/database"):
            more = {"from-servers"}
        elif {"daytrader7", "olio"} & set(Path(folder).parts):
            more |= {"to-database"}
        assert set(policies) == {"among-themselves", *more}


def test_documents_say_which_ports_an_experiment_leaves_open() -> None:
    """No policy can name the API server, by way of which they are asked."""
    text = (ROOT / "k8s" / "base" / "experiment" / "network.yaml").read_text(encoding="utf-8")
    (policy,) = (one for one in yaml.safe_load_all(text) if one["metadata"]["name"] == "api-server-to-trials")
    (rule,) = policy["spec"]["ingress"]
    assert set(rule) == {"ports"}
    page = (ROOT / "docs" / "reference" / "kubernetes-bundles.md").read_text(encoding="utf-8")
    (line,) = (line for line in page.splitlines() if "open to every pod of the cluster" in line)
    assert all(str(each["port"]) in line for each in rule["ports"])
    assert "open to every pod of the cluster" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_injectors_stand_on_another_node_than_servers_where_there_is_one(
    rendered: Mapping[str, list[Manifest]],
) -> None:
    for folder in (f"{bundle}/load" for bundle in PLAIN):
        ((_, pod),) = pods(rendered[folder])
        (preferred,) = pod["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
        (parts, roles) = preferred["podAffinityTerm"]["labelSelector"]["matchExpressions"]
        assert parts["values"] == ["steelyard"]
        assert set(roles["values"]) == {"server", "proxy", "database"}


def test_pods_go_where_their_images_are_made_for(everything: list[list[Manifest]]) -> None:
    catalogue = read_catalogue()
    for manifest, pod in chain.from_iterable(map(pods, everything)):
        image = pod["containers"][0]["image"]
        found = (
            pod.get("affinity", {})
            .get("nodeAffinity", {})
            .get("requiredDuringSchedulingIgnoredDuringExecution")
        )
        terms = found["nodeSelectorTerms"] if found else [{"matchExpressions": []}]
        nodes = {
            f"linux/{each}"
            for one in terms[0]["matchExpressions"]
            if one["key"] == "kubernetes.io/arch"
            for each in one["values"]
        }
        name = image.partition(":")[0].rpartition("/")[2]
        if name == "harness" and manifest["metadata"]["name"] != "password":  # Debian's kubectl
            assert nodes == {"linux/amd64", "linux/arm64"}
        elif "db2" in image:
            assert nodes == {"linux/amd64", "linux/ppc64le"}
        elif name in catalogue and nodes:  # none: a server of one's own
            assert nodes == set(catalogue[name].platforms)


def test_load_says_as_often_how_many_injectors_there_are(rendered: Mapping[str, list[Manifest]]) -> None:
    for manifest, pod in chain.from_iterable(map(pods, rendered.values())):
        if manifest["metadata"]["name"] != "load":
            continue
        variables = {one["name"]: one.get("value") for one in pod["containers"][0]["env"]}
        assert (
            manifest["spec"]["completions"] == manifest["spec"]["parallelism"] == int(variables["INJECTORS"])
        )
        text = variables["LOADGEN_SETTINGS"]
        for name, value in (variables | {"INDEX": "0"}).items():
            text = text.replace(f"$({name})", str(value))
        settings = json.loads(text)
        assert settings["injectors"] == manifest["spec"]["completions"]


def test_components_do_what_they_are_for(varied: list[tuple[str, tuple[str, ...], list[Manifest]]]) -> None:
    for bundle, names, manifests in varied:
        servers = [pod for one, pod in pods(manifests) if one["metadata"]["labels"][ROLE] == "server"]
        text = json.dumps(manifests)
        for pod in servers:
            main = pod["containers"][0]
            variables = {one["name"]: one.get("value", "") for one in main["env"]}
            assert ("jitserver" in variables.get("OPENJ9_JAVA_OPTIONS", "")) == ("jitserver" in names)
            assert ("hugepages-2Mi" in main["resources"]["limits"]) == (
                "large-pages" in names and "small" not in names
            )
            assert main["image"].endswith("-hotspot") == ("hotspot" in names)
        assert ("library/mongo:" in text) == (bundle.startswith("acmeair") and "embedded-mongo" not in names)
        assert ("prometheus.io/scrape" in text) == ("monitoring" in names)
        kinds = {manifest["kind"] for manifest in manifests}
        assert "NetworkPolicy" in kinds
        assert ("HTTPRoute" in kinds) == any(name.startswith("gateway") for name in names)
