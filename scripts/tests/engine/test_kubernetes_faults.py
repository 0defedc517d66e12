# SPDX-License-Identifier: Apache-2.0
"""What befalls the pods of a trial while it runs, told as an API server tells it: each ends in one sentence."""

import io
import json
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fake_api
import pytest
from builders import make_jvm
from fake_api import NAMESPACE, FakeApi, cluster, refused
from planned import asked, containers, specs_of
from waiting import wait_until

from steelyard.engines.kubernetes import api, deployment
from steelyard.engines.kubernetes.cluster import Cluster
from steelyard.engines.kubernetes.deployment import KubernetesDeployment
from steelyard.errors import NoSpace, ServerFailed
from steelyard.spec.agreement import requested_settings

ENDING = 'namespaces "trials" not found'
RENDERED = [
    {"kind": kind, "metadata": {"name": name, "labels": labels}}
    for kind, name, labels in (
        ("StatefulSet", "server", {"app.kubernetes.io/name": "server"}),
        ("Job", "load", {"app.kubernetes.io/name": "load"}),
        ("ConfigMap", "shared", {}),
    )
]


class Trial:
    """Two components in a cluster: a server, and an injector of a Job."""

    def __init__(self, folder: Path, api: FakeApi, cluster: Cluster) -> None:
        self.folder, self.api = folder, api
        runtime = containers("server", jvm=make_jvm("hotspot"), cpus=2)
        question = asked("ping", deployment={"engine": "kubernetes"})
        self.spec = next(iter(specs_of(question, runtime=runtime).values()))
        self.deployment = KubernetesDeployment(
            cluster, self.spec, folder / "trial", "t-1", "secret", lambda *_: None
        )
        for component, name in zip(self.spec.components, ("server-0", "load-0-x7k2p"), strict=True):
            self.tell(name, component.kind)
            self.deployment.start([component])

    def tell(self, name: str, kind: str, state: str = "running", **metadata: Any) -> None:
        """Have the API server tell of a pod."""
        states = {
            "running": {"running": {"startedAt": "2026-01-01T00:00:05Z"}},
            "killed": {"terminated": {"exitCode": 137, "reason": "Error"}},
        }
        labels = {"app.kubernetes.io/name": kind, "steelyard.dev/trial": "t-1"}
        pod = {
            "metadata": {"name": name, "labels": labels, **metadata},
            "spec": {"nodeName": "node-a", "containers": [{"name": kind}]},
            "status": {"containerStatuses": [{"name": kind, "image": "i", "state": states[state]}]},
        }
        self.api.put("pods", pod)

    def failure(self, name: str) -> str:
        """The sentence on a component, as soon as there is one."""
        return str(wait_until(lambda: self.deployment.failure(name), f"a sentence on {name}"))


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    with cluster(RENDERED, tmp_path) as (api, lab):
        found = Trial(tmp_path, api, lab)
        yield found
        api.away = False
        api.answers.clear()
        found.deployment.close()


def test_what_a_component_needs_is_applied_with_it_and_all_is_removed(trial: Trial) -> None:
    assert trial.api.asked_for("PATCH") == ["shared", "server", "load"]
    ours = {"labels": {"steelyard.dev/trial": "t-1"}}
    trial.api.put("configmaps", {"metadata": {"name": "shared", **ours}})
    assert trial.deployment.stop() == []
    assert trial.api.asked_for("DELETE") == ["load-0-x7k2p", "server-0"]
    trial.deployment.close()
    assert trial.api.asked_for("DELETE")[2:] == ["shared"]


@pytest.mark.parametrize(("quota", "limit"), [(0.6667, "667m"), (0.6649, "665m"), (1.5, "1500m")])
def test_a_quota_is_what_was_asked_once_it_was_rounded_for_kubernetes(
    trial: Trial, quota: float, limit: str
) -> None:
    server = trial.spec.servers[0].model_copy(update={"cpu_quota": quota})
    trial.deployment._components[server.name] = server
    (container,) = trial.deployment._handles[server.name].pod["spec"]["containers"]
    wanted = {name: requested_settings(server)[name] for name in ("cpus", "quota")}
    for given, is_equal in ((limit, True), ("500m", False)):
        container["resources"] = {"limits": {"cpu": given}}
        assert (trial.deployment.engine_facts(server.name) == wanted) == is_equal


def test_files_are_brought_home_from_a_pod(trial: Trial) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in ("gc.log", "start"):
            member = tarfile.TarInfo(name)
            member.size = 3
            archive.addfile(member, io.BytesIO(b"abc"))
    files = f"GET {NAMESPACE}/pods/server-0:9779/proxy/secret/files"
    trial.api.answers[files] = (200, packed.getvalue().decode("latin-1"))
    trial.deployment.fetch("server-1")
    assert [path.name for path in trial.deployment.logs("server-1").iterdir()] == ["gc.log"]
    trial.api.answers[files] = (200, "cut")
    with pytest.raises(ServerFailed, match="the files of server-1 could not be fetched"):
        trial.deployment.fetch("server-1")


def test_an_injector_s_pod_is_killed(trial: Trial) -> None:
    trial.api.answers[f"GET {NAMESPACE}/pods/load-0-x7k2p/log"] = (200, "started\nat work")
    trial.tell("load-0-x7k2p", "load", "killed")
    log = trial.deployment.logs("injector-1") / "console.log"
    assert trial.failure("injector-1") == (
        f"injector-1 ended with signal 9 after printing: started | at work: see {log}"
    )
    assert log.read_text(encoding="utf-8").split() == ["started", "at", "work"]
    assert trial.deployment.failure("server-1") is None


def test_an_injector_s_pod_is_deleted_and_its_job_makes_another(trial: Trial) -> None:
    trial.api.remove("pods", "load-0-x7k2p")
    trial.tell("load-0-qq8vd", "load")
    assert trial.failure("injector-1") == "injector-1 ended because its pod load-0-x7k2p is gone"


def test_the_namespace_is_deleted(trial: Trial) -> None:
    """All pods go; nothing can be started any more, and there is nothing left to remove."""
    now = "2026-01-01T00:01:00Z"
    trial.tell("server-0", "server", deletionTimestamp=now)
    trial.tell("load-0-x7k2p", "load", deletionTimestamp=now)
    assert trial.failure("server-1") == "server-1 ended because somebody deleted its pod server-0"
    assert trial.failure("injector-1") == "injector-1 ended because somebody deleted its pod load-0-x7k2p"
    trial.api.remove("pods")
    units = trial.deployment._handles.values()
    wait_until(lambda: not any(unit.there for unit in units), "the end of both pods")
    trial.api.answers["PATCH"] = refused(404, "NotFound", ENDING)
    assert trial.deployment.stop() == []
    with pytest.raises(ServerFailed, match=f"server could not be started: {ENDING}"):
        trial.deployment.start(trial.spec.servers)
    trial.deployment.close()
    told = json.loads((trial.folder / "trial" / "logs" / "pods.json").read_text(encoding="utf-8"))
    assert {one["metadata"]["name"] for one in told} == {"server-0", "load-0-x7k2p"}


def test_the_api_server_is_away_for_longer_than_it_is_waited_for(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deployment, "AWAY_LIMIT", 0.5)
    trial.api.away = True
    assert "the API server has not answered for" in trial.failure("server-1")
    trial.api.away = False


def test_an_api_server_that_is_away_at_the_end_is_a_failure_of_nobody(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "AWAY_LIMIT", 0.0)
    trial.api.away = True
    (failure,) = trial.deployment.stop()
    assert failure.component is None
    assert "the cluster did not answer while server-1, injector-1 were stopped" in failure.detail


def test_an_api_server_that_comes_back_has_taken_nothing(trial: Trial) -> None:
    trial.api.away = True
    wait_until(
        lambda: trial.deployment._watch is None or trial.deployment._watch.seconds_since_reply() >= 0.3,
        "some silence",
    )
    assert trial.deployment.failure("server-1") is None
    trial.api.away = False
    trial.tell("server-0", "server", "killed")
    assert trial.failure("server-1").startswith("server-1 ended with signal 9")


def test_an_api_server_that_lists_and_refuses_watches_is_asked_with_pauses(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses = list[float]()

    class Closed(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            pauses.extend([] if timeout is None else [timeout])
            return super().wait()  # until it is closed

    def refuse(handler: fake_api._Handler, *_: object) -> None:
        handler._refuse(403, "Forbidden", 'cannot watch resource "pods"')

    monkeypatch.setattr(fake_api._Handler, "_watch", refuse)
    monkeypatch.setattr(api, "_AGAIN", 600.0)
    monkeypatch.setattr(threading, "Event", Closed)
    watch = api.PodWatch(trial.api, f"{NAMESPACE}/pods", "")
    wait_until(lambda: pauses, "the end of a watch")
    watch.close()
    assert "server-0" in watch.pods
    assert pauses[0] > 0.0


def test_a_full_disk_keeps_no_object_of_a_trial_in_the_cluster(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise NoSpace("full")

    trial.api.answers[f"GET {NAMESPACE}/pods/server-0/log"] = (200, "its words")
    monkeypatch.setattr(deployment, "write_atomic", full)
    with pytest.raises(NoSpace):
        trial.deployment.close()
    assert "server-0" in trial.api.asked_for("DELETE")
