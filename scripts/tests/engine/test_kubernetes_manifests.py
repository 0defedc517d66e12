# SPDX-License-Identifier: Apache-2.0
"""The overlay of a trial, put through kustomize on the bundle that people apply."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import make_jvm
from planned import containers, cores, specs

from steelyard.engines.kubernetes.manifests import Marks, notes, overlay, require_possible, select_objects
from steelyard.errors import BadInput
from steelyard.paths import ROOT
from steelyard.results.spec import Spec
from steelyard.workload.loader import load_workload

KUBECTL = shutil.which("kubectl")
MARKS = Marks("trials", "session-1", "trial-1", "reg/harness:1", "secret", frozenset({"server"}))
USERS = ("runAsUser", "runAsGroup", "fsGroup")
APART = ("cores=4", "injector_cores=2")
needs_kubectl = pytest.mark.skipif(KUBECTL is None, reason="overlays are put through kubectl's own kustomize")


def planned(arm: str, *settings: str, cpus: int = 8, workload: str = "ping") -> Spec:
    runtime = containers("server", "database", jvm=make_jvm("hotspot"), cpus=cpus)
    settings = ("engine=kubernetes", "jvms=1,2,3", *settings)
    return specs("jvm-count", *settings, host=cores(cpus), runtime=runtime, workload=workload)[arm]


def rendered(folder: Path) -> list[dict[str, Any]]:
    assert KUBECTL is not None
    done = subprocess.run([KUBECTL, "kustomize", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def bundle(name: str) -> list[dict[str, Any]]:
    return [*rendered(ROOT / "k8s" / name), *rendered(ROOT / "k8s" / name / "load")]


def applied(spec: Spec, folder: Path, marks: Marks = MARKS) -> dict[tuple[str, str], dict[str, Any]]:
    """What the API server gets, by kind and name."""
    compilers = [text for one in spec.of("compiler") for text in rendered(ROOT / "k8s" / "base" / one.kind)]
    for name, text in overlay(spec, select_objects(spec, [*bundle(spec.bundle), *compilers]), marks).items():
        (folder / name).write_text(text, encoding="utf-8")
    return {(one["kind"], one["metadata"]["name"]): one for one in rendered(folder)}


def containers_of(workload: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    pod = workload["spec"]["template"]["spec"]
    return {one["name"]: one for one in [*pod.get("initContainers", ()), *pod["containers"]]}


def variables(container: Mapping[str, Any]) -> dict[str, str]:
    return {one["name"]: one.get("value", "") for one in container["env"]}


@needs_kubectl
def test_a_trial_is_its_bundle_with_what_the_spec_says(tmp_path: Path) -> None:
    found = applied(planned("jvms-2", *APART, "memory=1g"), tmp_path)
    assert set(found) == {
        *(("Service", name) for name in ("server", "server-pods", "server-1", "server-2", "load")),
        ("StatefulSet", "server"),
        ("Job", "load"),
    }
    assert {one["metadata"]["namespace"] for one in found.values()} == {"trials"}
    server = found["StatefulSet", "server"]
    assert server["spec"]["replicas"] == 2
    main = containers_of(server)["server"]
    assert main["image"] == "reg/server@sha256:1"
    assert "-Xlog:gc*:file=/steelyard/logs/gc.log" in variables(main)["JVM_ARGS"]
    assert not {name for name in main if name.endswith("Probe")}


@needs_kubectl
def test_pods_with_cpus_of_their_own_are_guaranteed(tmp_path: Path) -> None:
    found = containers_of(applied(planned("jvms-2", *APART, "memory=1g"), tmp_path)["StatefulSet", "server"])
    assert found["server"]["resources"]["limits"] == {"cpu": "2", "memory": str(2**30)}
    for one in found.values():  # one container without limits would make the whole pod share
        assert one["resources"]["requests"] == one["resources"]["limits"]
        assert set(one["resources"]["limits"]) == {"cpu", "memory"}


@needs_kubectl
@needs_kubectl
def test_a_quota_is_the_limit_of_a_pod(tmp_path: Path) -> None:
    found = containers_of(applied(planned("jvms-2", "cpus=0.5"), tmp_path)["StatefulSet", "server"])
    assert found["server"]["resources"]["limits"]["cpu"] == "500m"


@needs_kubectl
def test_what_shares_cpus_may_use_as_many_and_reserves_few(tmp_path: Path) -> None:
    spec = planned("jvms-2", "cores=2", "injector_cores=shared", cpus=2)
    found = applied(spec, tmp_path)
    for kind in (("StatefulSet", "server"), ("Job", "load")):
        main = containers_of(found[kind])[kind[1]]
        assert main["resources"]["requests"]["cpu"] == "100m"
        assert "memory" not in main["resources"]["limits"]
    assert "no pinning" in notes(spec)[0]


@needs_kubectl
def test_injectors_may_reach_servers_through_the_service_of_the_bundle(tmp_path: Path) -> None:
    spec = planned("jvms-2", *APART, "through=service", "memory=1g")
    (told,) = {str(one.settings["targets"]) for one in spec.injectors}
    assert told == "['http://server:9080']"
    service = applied(spec, tmp_path)["Service", "server"]["spec"]
    assert service["selector"] == {"app.kubernetes.io/name": "server"}
    assert [port["port"] for port in service["ports"]] == [9080]
    assert "by chance" in notes(spec)[0]
    assert not notes(planned("jvms-1", *APART, "through=service", "memory=1g"))
    assert not notes(planned("jvms-2", *APART, "memory=1g"))


@needs_kubectl
def test_every_object_and_every_pod_tells_whose_it_is(tmp_path: Path) -> None:
    labels = {"steelyard.dev/session": "session-1", "steelyard.dev/trial": "trial-1"}
    for one in applied(planned("jvms-2"), tmp_path).values():
        assert labels.items() <= one["metadata"]["labels"].items()
        if "template" in one["spec"]:
            assert labels.items() <= one["spec"]["template"]["metadata"]["labels"].items()
            # Selectors cannot be changed, and those of a person's own deployment are the same.
            assert not labels.keys() & one["spec"].get("selector", {}).get("matchLabels", {}).keys()


@needs_kubectl
def test_an_observer_stands_first_in_each_pod_and_has_no_more_rights(tmp_path: Path) -> None:
    found = applied(planned("jvms-2"), tmp_path)
    for kind, folder in ((("StatefulSet", "server"), "/steelyard/logs"), (("Job", "load"), "/load")):
        pod = found[kind]["spec"]["template"]["spec"]
        assert [one["name"] for one in pod["containers"]] == ["observer", kind[1]]
        observer, main = pod["containers"]
        assert pod["shareProcessNamespace"] is True
        assert observer["securityContext"] == main["securityContext"]
        mounts = {one["mountPath"]: one["name"] for one in main["volumeMounts"]}
        assert mounts[folder] == "observed"
        assert "STEELYARD_COMPONENT" in variables(main)
        assert "STEELYARD_COMPONENT" not in variables(observer)
        assert json.loads(variables(observer)["STEELYARD_OBSERVE"])["token"] == MARKS.token


@needs_kubectl
def test_injectors_differ_in_their_index_alone(tmp_path: Path) -> None:
    job = applied(planned("jvms-2", "injectors=2"), tmp_path)["Job", "load"]
    assert (job["spec"]["completions"], job["spec"]["parallelism"]) == (2, 2)
    told = variables(containers_of(job)["load"])
    names = list(told)
    assert names.index("JOB_COMPLETION_INDEX") < names.index("LOADGEN_SETTINGS")
    for index in range(2):
        settings = json.loads(told["LOADGEN_SETTINGS"].replace("$(JOB_COMPLETION_INDEX)", str(index)))
        assert settings["injector"] == index
        assert settings["targets"] == ["http://server-1:9080", "http://server-2:9080"]
        assert settings["output"] == "/load"


@needs_kubectl
def test_roles_have_nodes_of_their_own_where_the_cluster_has_some(tmp_path: Path) -> None:
    found = applied(planned("jvms-2"), tmp_path)
    pod = found["StatefulSet", "server"]["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"steelyard.dev/role": "server"}
    assert "nodeSelector" not in found["Job", "load"]["spec"]["template"]["spec"]
    for one in (
        pod,
        found["Job", "load"]["spec"]["template"]["spec"],
    ):  # where a taint keeps others' pods away
        assert one["tolerations"] == [{"key": "steelyard.dev/role", "operator": "Exists"}]


@needs_kubectl
def test_a_database_and_what_is_not_in_the_trial(tmp_path: Path) -> None:
    spec = planned("jvms-1", workload="acmeair")
    found = applied(spec, tmp_path)
    assert ("Job", "data") not in found
    assert found["StatefulSet", "database"]["spec"]["replicas"] == 1
    # As the bundle has it: the observer is of the same user.
    pod = found["StatefulSet", "database"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsUser"] == 999
    assert "runAsUser" not in containers_of(found["StatefulSet", "database"])["observer"]["securityContext"]
    assert ("Service", "database") in found


@needs_kubectl
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("acmeair", ("topology=monolith",)),
        ("acmeair", ("topology=microservices",)),
        ("daytrader7", ("topology=shared", "daytrader7.database=postgresql")),
    ],
)
def test_a_cluster_that_chooses_users_is_given_none(
    tmp_path: Path, name: str, settings: tuple[str, ...]
) -> None:
    """OpenShift's constraint for everybody, `restricted-v2`, refuses a pod that names its user."""
    kinds = {kind for each in load_workload(name).workload.topologies.values() for kind in each.components}
    runtime = containers(*kinds, "database", jvm=make_jvm("hotspot"), cpus=8)
    asked = ("engine=kubernetes", "jvms=1", "total_heap=2g,4g", *settings)
    spec, _ = specs("jvm-count", *asked, host=cores(8), runtime=runtime, workload=name).values()
    for chooses in (False, True):
        found = applied(spec, tmp_path, replace(MARKS, chooses_users=chooses))
        pods = [
            one["spec"]["template"]["spec"] for one in found.values() if "template" in one.get("spec", ())
        ]
        named = [key for pod in pods for key in pod.get("securityContext", {}) if key in USERS]
        named += [
            key for pod in pods for one in pod["containers"] for key in one["securityContext"] if key in USERS
        ]
        assert bool(named) != chooses
        assert all(pod["securityContext"]["runAsNonRoot"] for pod in pods)


@needs_kubectl
def test_a_trial_has_a_password_of_its_own_and_asks_for_no_secret(tmp_path: Path) -> None:
    spec = planned("jvms-1", workload="acmeair")
    passwords = set()
    for token in ("one", "two"):
        found = applied(spec, tmp_path, replace(MARKS, token=token))
        assert not {"Secret", "Role", "ServiceAccount"} & {kind for kind, _ in found}
        assert ("Job", "password") not in found
        passwords.add(found["ConfigMap", "database"]["data"]["database_password"])
        for name, variable in (
            ("server", "MONGO_PASSWORD_FILE"),
            ("database", "MONGO_INITDB_ROOT_PASSWORD_FILE"),
        ):
            workload = found["StatefulSet", name]
            volumes = {one["name"]: one for one in workload["spec"]["template"]["spec"]["volumes"]}
            assert volumes["password"] == {"name": "password", "configMap": {"name": "database"}}
            main = containers_of(workload)[name]
            assert {"name": "password", "mountPath": "/run/steelyard", "readOnly": True} in main[
                "volumeMounts"
            ]
            assert variables(main)[variable] == "/run/steelyard/database_password"
    assert len(passwords) == 2
    assert min(map(len, passwords)) >= 32


@needs_kubectl
def test_a_jitserver_comes_from_its_own_bundle(tmp_path: Path) -> None:
    runtime = containers("server", "jitserver", jvm=make_jvm("openj9"), cpus=8)
    asked = ("engine=kubernetes", "jvms=1,2", "jit=remote", *APART, "memory=1g", "jitserver.memory=512m")
    spec = specs("jvm-count", *asked, host=cores(8), runtime=runtime)["jvms-1"]
    found = applied(spec, tmp_path)
    assert {"jitserver", "jitserver-pods"} <= {name for kind, name in found if kind == "Service"}
    main = containers_of(found["StatefulSet", "jitserver"])["jitserver"]
    assert main["image"] == "reg/jitserver@sha256:1"
    assert main["resources"]["limits"]["memory"] == str(2**29)
    assert "-XX:+JITServerMetrics" in variables(main)["OPENJ9_JAVA_OPTIONS"]
    told = variables(containers_of(found["StatefulSet", "server"])["server"])
    assert any("-XX:JITServerAddress=jitserver" in text for text in told.values())


@needs_kubectl
def test_large_pages_are_a_resource_of_the_pod(tmp_path: Path) -> None:
    marks = replace(MARKS, large_page=2**21)
    for pages, found in (("large", {"hugepages-2Mi": str(672 * 2**21)}), ("small", {})):
        spec = planned("jvms-1", *APART, "memory=2g", "total_heap=1g", f"pages={pages}")
        for one in containers_of(applied(spec, tmp_path, marks)["StatefulSet", "server"]).values():
            assert one["resources"]["requests"] == one["resources"]["limits"]
            pool = {name: size for name, size in one["resources"]["limits"].items() if "huge" in name}
            assert pool == ({} if one["name"] == "observer" else found)


def test_a_dollar_sign_is_no_variable() -> None:
    spec = planned("jvms-1")
    spec = spec.with_changes("server", lambda _: {"environment": {"TOLD": "$(HOME) $5"}})
    text = overlay(spec, WORKLOADS, MARKS)["server.yaml"]
    assert (
        variables(yaml.safe_load(text)["spec"]["template"]["spec"]["containers"][1])["TOLD"] == "$$(HOME) $$5"
    )


def workload(kind: str, name: str, container: str | None = None, **pod: Any) -> dict[str, Any]:
    main = {"name": container or name, "image": "any"}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {"template": {"spec": {"containers": [main], **pod}}},
    }


SHARED = {"name": "files", "persistentVolumeClaim": {"claimName": "files"}}
WORKLOADS: Sequence[dict[str, Any]] = [workload("StatefulSet", "server"), workload("Job", "load")]


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        (WORKLOADS[1:], "has no server"),
        ([workload("StatefulSet", "server", "app"), WORKLOADS[1]], "'app'"),
        ([workload("StatefulSet", "server", volumes=[SHARED]), WORKLOADS[1]], "outlives its pods, files"),
    ],
)
def test_a_bundle_that_lacks_something_or_has_too_much_is_refused(
    objects: list[dict[str, Any]], said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        select_objects(planned("jvms-1"), objects)


@needs_kubectl
def test_servers_that_share_a_filestore_are_refused() -> None:
    runtime = containers("server", "database", "geocoder", jvm=make_jvm("hotspot"), cpus=8)
    asked = ("engine=kubernetes", "jvms=1,2", "topology=shared", "olio.database=postgresql")
    spec = specs("jvm-count", *asked, host=cores(8), runtime=runtime, workload="olio")["jvms-2"]
    with pytest.raises(BadInput, match="filestore"):
        select_objects(spec, bundle("olio-postgresql"))


def test_components_of_a_kind_that_differ_are_refused() -> None:
    spec = planned("jvms-2")
    first = spec.servers[0].name
    uneven = spec.with_changes("server", lambda one: {"cpus": [0]} if one.name == first else {})
    with pytest.raises(BadInput, match="alike in a cluster"):
        require_possible(uneven)
    require_possible(spec)


def test_what_a_cluster_does_not_have_is_refused() -> None:
    with pytest.raises(BadInput, match="class_cache: warm"):
        require_possible(planned("jvms-1", "class_cache=warm"))
    large = planned("jvms-1", "pages=large", "total_heap=1g")
    require_possible(large)
    with pytest.raises(BadInput, match="left to the JVM"):
        require_possible(large.with_changes("server", lambda _: {"heap_bytes": None}))
