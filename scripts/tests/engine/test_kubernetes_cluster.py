# SPDX-License-Identifier: Apache-2.0
"""What is asked of an API server and what is made of its answers."""

import hashlib
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from fake_api import FakeApi, cluster, refused

from steelyard.analysis.across import AUTHORITY as CLUSTER
from steelyard.engines.kubernetes import api as asked
from steelyard.engines.kubernetes.api import ApiError, Proxy
from steelyard.engines.kubernetes.cluster import Cluster, find_cluster
from steelyard.engines.kubernetes.engine import require_rights, sweep
from steelyard.engines.kubernetes.lock import HOLDER, LOCK, take_lock
from steelyard.engines.kubernetes.nodes import daemons, examine, read_room
from steelyard.engines.kubernetes.roles import ROLE
from steelyard.errors import BadInput, Busy, MissingRequirement
from steelyard.processes import Children
from steelyard.session.runtimes import RuntimeResolver
from steelyard.workload.loader import load_workload

SECRET = "-----BEGIN CERTIFICATE-----\nMII\n"
Json = dict[str, Any]


@pytest.fixture
def lab() -> Iterator[tuple[FakeApi, Cluster]]:
    with cluster() as made:
        yield made


def kubectl(folder: Path, config: object, proxy: str = "exit 1") -> Mapping[str, str]:
    """A kubectl with this configuration; the environment in which it is found."""
    answers = {"version": {"clientVersion": {"gitVersion": "v1.33.1"}}, "config": config}
    cases = "".join(f"*{name}*) echo {shlex.quote(json.dumps(text))};;\n" for name, text in answers.items())
    client = folder / "kubectl"
    client.write_text(
        f'#!/bin/sh\necho "$*" >>{folder}/asked\ncase "$*" in\n*proxy*) {proxy};;\n{cases}esac\n'
    )
    client.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


SERVED = """exec python3 -c '
import http.server, socketserver, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.wfile.write(b"HTTP/1.1 200 OK\\r\\n\\r\\n{\\"gitVersion\\": \\"%s\\"}")
    def address_string(self): return "a socket"
socketserver.UnixStreamServer(sys.argv[-1].partition("=")[2], Answer).serve_forever()
' "$@" """


@pytest.mark.parametrize(("context", "words"), [("lab", "--context=lab proxy"), ("", "proxy")])
def test_a_cluster_that_answers(tmp_path: Path, context: str, words: str) -> None:
    """In a pod, where there is no configuration, kubectl takes the account of the pod."""
    config = {"current-context": context, "contexts": [{"name": "lab"}] if context else None}
    found = find_cluster(None, "trials", kubectl(tmp_path, config, SERVED % "v1.31.4"))
    try:
        assert (found.context, found.namespace, found.version) == (context, "trials", "v1.31.4")
        assert f"{words} --unix-socket=" in (tmp_path / "asked").read_text(encoding="utf-8")
        child = found.proxy._child
        assert child is not None
        child.signal(9)
        assert found.proxy.request("GET", "/version"), "it is started again"
    finally:
        found.proxy.close()
    with pytest.raises(ApiError, match="does not answer"):
        found.proxy.request("GET", "/version", patient=False)


CONFIG = {"current-context": "lab", "contexts": [{"name": "lab"}]}


@pytest.mark.parametrize(
    ("config", "proxy", "said"),
    [
        ({**CONFIG, "current-context": "other"}, "", "kubectl has no context 'other'"),
        (CONFIG, "echo error: no such plugin; exit 1", r"'lab' does not answer \(.*error: no such plugin"),
        (CONFIG, SERVED % "v1.19.0", "'lab' is version v1.19.0, and 1.28 or newer"),
        ({"contexts": None}, "echo refused; exit 1", "kubectl knows no cluster"),
    ],
)
def test_a_cluster_that_cannot_be_used(tmp_path: Path, config: object, proxy: str, said: str) -> None:
    with pytest.raises(MissingRequirement, match=said):
        find_cluster(None, "trials", kubectl(tmp_path, config, proxy))


def test_no_kubectl(tmp_path: Path) -> None:
    with pytest.raises(MissingRequirement, match="kubectl was not found"):
        find_cluster(environment={"PATH": str(tmp_path)})


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"ca.crt": SECRET}, hashlib.sha256(SECRET.strip().encode()).hexdigest()[:16]),
        ({}, None),
        (None, None),
    ],
)
def test_a_cluster_is_known_by_its_certificate_authority(
    lab: tuple[FakeApi, Cluster], data: Json | None, told: str | None
) -> None:
    api, cluster = lab
    if data is not None:
        api.put("configmaps", {"metadata": {"name": "kube-root-ca.crt"}, "data": data})
    assert cluster.authority() == told


def test_a_cluster_tells_which_groups_of_resources_it_has(lab: tuple[FakeApi, Cluster]) -> None:
    api, cluster = lab
    assert not cluster.has_api("security.openshift.io"), "what does not tell has none"
    api.answers["GET /apis"] = (
        200,
        json.dumps({"groups": [{"name": "apps"}, {"name": "security.openshift.io"}]}),
    )
    assert cluster.has_api("security.openshift.io")
    assert not cluster.has_api("route.openshift.io")


def test_a_session_goes_on_in_its_own_cluster_alone(lab: tuple[FakeApi, Cluster]) -> None:
    api, cluster = lab
    api.put("configmaps", {"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": SECRET}})
    runtimes = RuntimeResolver(load_workload("ping"), None, _cluster=cluster)
    versions = runtimes.versions()
    assert versions["kubernetes"] == "v1.33.1"
    runtimes.require_same_cluster(versions)
    for before, said in (
        ({**versions, CLUSTER: "c0ffee"}, r"authority is c0ffee, and that of context lab is "),
        ({"kubernetes": "v1.33.1"}, r"\(it is not known which, and that of context lab is "),
    ):
        with pytest.raises(BadInput, match=rf"^this session was begun in another cluster .*{said}"):
            runtimes.require_same_cluster(before)
    api.remove("configmaps")
    with pytest.raises(BadInput, match=r"context lab is not known\): name it with --context"):
        runtimes.require_same_cluster(versions)


def test_an_api_server_that_is_away_is_waited_for_and_not_for_ever(
    lab: tuple[FakeApi, Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked, "_AGAIN", 0.01)
    monkeypatch.setattr(asked, "AWAY_LIMIT", 0.2)
    api, cluster = lab
    api.away = True
    with pytest.raises(ApiError, match="does not answer") as failed:
        cluster.objects("pods")
    assert failed.value.unreachable
    tries = len(api.asked)
    assert tries > 1
    with pytest.raises(ApiError):
        cluster.proxy.request("GET", cluster.path("pods"), patient=False)
    assert len(api.asked) == tries + 1


FORBIDDEN = (
    'pods is forbidden: User "u" cannot list resource "pods" in API group "" in the namespace "trials"'
)


def test_who_says_no_is_asked_once(lab: tuple[FakeApi, Cluster]) -> None:
    api, cluster = lab
    api.answers["GET "] = refused(403, "Forbidden", FORBIDDEN)
    with pytest.raises(ApiError, match="pods is forbidden") as failed:
        cluster.objects("pods")
    assert (failed.value.reason, failed.value.unreachable) == ("Forbidden", False)
    assert len(api.asked) == 1


def test_rights_that_are_missing_are_all_named(lab: tuple[FakeApi, Cluster]) -> None:
    api, cluster = lab
    api.denied |= {("pods/proxy", "create"), ("jobs", "list")}
    with pytest.raises(
        MissingRequirement, match="may not create pods/proxy, list jobs in the namespace trials"
    ):
        require_rights(cluster)


def test_a_namespace_that_is_not_there(lab: tuple[FakeApi, Cluster]) -> None:
    api, cluster = lab
    require_rights(cluster)
    missing = refused(404, "NotFound", 'namespaces "trials" not found')
    api.answers["POST /api/v1/namespaces/trials/configmaps"] = missing
    with pytest.raises(MissingRequirement, match="kubectl create namespace trials"):
        require_rights(cluster)


def lock_of(session: str, host: str = "elsewhere") -> Json:
    holder = {"session": session, "host": host, "process": "1", "boot": "of another start"}
    return {"metadata": {"name": LOCK}, "data": holder}


def holder_of(api: FakeApi) -> Json:
    data: Json = next(thing for path, thing in api.objects.items() if path.endswith(f"/{LOCK}"))["data"]
    return data


def test_two_sessions_in_one_namespace(lab: tuple[FakeApi, Cluster]) -> None:
    api, cluster = lab
    api.put("configmaps", lock_of("other-1"))
    with (
        Children() as children,
        pytest.raises(Busy, match="session other-1 of host elsewhere runs in the namespace"),
    ):
        take_lock(cluster, "mine-1", children)
    assert not children._commands, "what another holds is not removed at our end"


def test_a_session_goes_on_where_it_had_lost_its_machine(lab: tuple[FakeApi, Cluster]) -> None:
    api, cluster = lab
    api.put("configmaps", lock_of("mine-1"))
    with Children() as children:
        take_lock(cluster, "mine-1", children)
    assert holder_of(api)["process"] == str(os.getpid())


def test_of_two_sessions_that_find_a_dead_lock_one_takes_it(lab: tuple[FakeApi, Cluster]) -> None:
    api, cluster = lab
    api.put("configmaps", lock_of("old-1", socket.gethostname()))
    with Children() as children:
        api.after_list.append(lambda: take_lock(cluster, "other-1", children))
        with pytest.raises(Busy, match=r"session other-1 of host .* runs in the namespace"):
            take_lock(cluster, "mine-1", children)
    assert holder_of(api)["session"] == "other-1"


def test_a_lock_that_goes_while_it_is_looked_at_is_made(lab: tuple[FakeApi, Cluster]) -> None:
    api, cluster = lab
    api.put("configmaps", lock_of("old-1", socket.gethostname()))
    api.after_list.append(lambda: api.remove("configmaps"))
    with Children() as children:
        take_lock(cluster, "mine-1", children)
    assert holder_of(api)["session"] == "mine-1"


def test_a_lock_whose_answer_was_lost_is_ones_own(
    lab: tuple[FakeApi, Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    api, cluster = lab
    exchange = Proxy._exchange

    def lost(self: Proxy, method: str, *rest: Any) -> bytes:
        answer = exchange(self, method, *rest)
        return exchange(self, method, *rest) if method == "POST" else answer

    monkeypatch.setattr(Proxy, "_exchange", lost)
    with Children() as children:
        take_lock(cluster, "mine-1", children)
    assert holder_of(api)["session"] == "mine-1"


def test_the_lock_goes_with_the_session_and_never_anothers(lab: tuple[FakeApi, Cluster]) -> None:
    api, cluster = lab
    with Children() as children:
        take_lock(cluster, "mine-1", children)
        (command,) = children._commands.values()
        children.forget_crash("kubernetes-lock")
    mark = api.objects[f"{cluster.path('configmaps')}/{LOCK}"]["metadata"]["labels"][HOLDER]
    assert re.fullmatch("[0-9a-f]{16}", mark)
    assert f'"delete", "configmaps", "--selector={HOLDER}={mark}"' in command


def test_what_an_earlier_session_left_is_gone_before_anything_is_made(
    lab: tuple[FakeApi, Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    api, cluster = lab
    ours = {"labels": {"steelyard.dev/session": "s-1"}}
    api.put("statefulsets", {"metadata": {"name": "server", **ours}}, "/apis/apps/v1/namespaces/trials")
    api.put("pods", {"metadata": {"name": "server-0", **ours}})
    api.put("pods", {"metadata": {"name": "theirs"}})
    sweep(cluster)
    assert [path.rpartition("/")[2] for path in api.objects] == ["theirs"]
    api.put("pods", {"metadata": {"name": "server-0", **ours}})
    api.answers["DELETE"] = (200, "{}")  # it is asked to end, and does not
    monkeypatch.setattr("steelyard.engines.kubernetes.engine.SWEEP_LIMIT", 0.1)
    with pytest.raises(
        MissingRequirement, match=r"an earlier session left cannot be removed .*pods/server-0"
    ):
        sweep(cluster)


def node(name: str, cpus: str, **more: object) -> Json:
    return {
        "metadata": {"name": name, "labels": {}},
        "spec": more,
        "status": {
            "allocatable": {"cpu": cpus, "memory": "16Gi"},
            "capacity": {"cpu": "4"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"architecture": "amd64", "kernelVersion": "6.1"},
        },
    }


def test_whole_cpus_of_nodes_that_take_pods_are_offered(lab: tuple[FakeApi, Cluster]) -> None:
    api, cluster = lab
    taint = [{"key": "control-plane", "effect": "NoSchedule"}]
    for one in (
        node("a", "3920m"),
        node("b", "4"),
        node("c", "8", taints=taint),
        node("d", "8", unschedulable=True),
        node("e", "2", taints=[{"key": ROLE, "value": "server", "effect": "NoSchedule"}]),  # tolerated
    ):
        api.put("nodes", one, "/api/v1")
    room = read_room(cluster)
    assert room.cpus == 9
    assert "3 nodes with 9 CPUs" in room.note


def test_what_in_a_cluster_would_disturb_a_measurement(lab: tuple[FakeApi, Cluster]) -> None:
    api, cluster = lab
    level = {"pod-security.kubernetes.io/enforce": "restricted"}
    api.put("namespaces", {"metadata": {"name": "trials", "labels": level}}, "/api/v1")
    api.put("nodes", node("a", "4"), "/api/v1")
    api.answers["GET /api/v1/nodes/a/proxy/configz"] = (
        200,
        '{"kubeletconfig": {"cpuManagerPolicy": "static"}}',
    )
    running = [{"metadata": {"namespace": name}} for name in ("trials", "kube-system", "shop", "shop")]
    api.answers["GET /api/v1/pods?"] = (200, json.dumps({"items": running}))
    made = {"metadata": {"name": "steelyard-clock-1", "creationTimestamp": "2026-01-01T00:00:05Z"}}
    api.answers["POST /api/v1/namespaces/trials/configmaps"] = (201, json.dumps(made))
    examined = examine(cluster)
    findings = {one.topic: (one.level, one.state) for one in examined}
    assert findings["rights"] == ("ok", "enough for a session")
    assert findings["pod security"][1].startswith("level restricted")
    assert findings["CPU manager"] == ("ok", "static: a")
    assert findings["other pods"] == ("warn", "2 of shop, 1 of kube-system")
    advice = next(one.change or "" for one in examined if one.topic == "other pods")
    assert f"kubectl taint node NODE {ROLE}=server:NoSchedule" in advice
    assert findings["clock"][0] == "warn"
    assert api.asked_for("DELETE") == ["steelyard-clock-1"]


@pytest.mark.parametrize(
    "name", ["kubelet", "containerd-shim-runc-v2", "kube-controller-manager", "k3s-server", "kubelite"]
)
def test_what_runs_of_a_cluster_on_this_host_is_found(tmp_path: Path, name: str) -> None:
    """Also under a name that is longer than what the kernel keeps of it."""
    program = shutil.copy(shutil.which("sleep") or "", tmp_path / name)
    with subprocess.Popen([program, "120"]) as running:
        try:
            assert running.pid in daemons()
        finally:
            running.kill()


def test_nodes_that_may_not_be_listed(lab: tuple[FakeApi, Cluster]) -> None:
    api, cluster = lab
    forbidden = (
        'nodes is forbidden: User "u" cannot list resource "nodes" in API group "" at the cluster scope'
    )
    api.answers["GET /api/v1/nodes"] = refused(403, "Forbidden", forbidden)
    with pytest.raises(MissingRequirement, match="which you may not list"):
        read_room(cluster)
    told = {one.topic: one.level for one in examine(cluster)}
    assert told["nodes"] == "warn"
