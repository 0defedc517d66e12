# SPDX-License-Identifier: Apache-2.0
"""What befalls the pods of a trial while it runs, told as an API server tells it: each ends in one sentence."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fake_kubectl
import pytest
from builders import make_jvm
from planned import asked, containers, specs_of
from waiting import wait_until

from steelyard.engines.kubernetes import deployment
from steelyard.engines.kubernetes.cluster import Cluster
from steelyard.engines.kubernetes.deployment import KubernetesDeployment
from steelyard.engines.kubernetes.engine import sweep
from steelyard.errors import MissingRequirement, ServerFailed
from steelyard.processes import Children

ENDING = 'namespaces "trials" not found'


class Trial:
    """Two components in a cluster that is a folder: a server, and an injector of a Job."""

    def __init__(self, folder: Path, children: Children) -> None:
        self.folder = folder
        (folder / "pods").mkdir()
        self.cluster = Cluster(fake_kubectl.install(folder), "lab", "trials", "v1.33.1")
        runtime = containers("server", jvm=make_jvm("hotspot"), cpus=2)
        question = asked("ping", deployment={"engine": "kubernetes"})
        self.spec = next(iter(specs_of(question, runtime=runtime).values()))
        self.deployment = KubernetesDeployment(
            self.cluster, children, self.spec, folder / "trial", "t-1", lambda *_: None
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
        pod = {
            "metadata": {
                "name": name,
                "uid": f"uid-{name}",
                "labels": {"app.kubernetes.io/name": kind},
                **metadata,
            },
            "spec": {"nodeName": "node-a", "containers": [{"name": kind}]},
            "status": {"containerStatuses": [{"name": kind, "image": "i", "state": states[state]}]},
        }
        new = self.folder / "new"
        new.write_text(json.dumps(pod), encoding="utf-8")
        new.replace(self.folder / "pods" / f"{name}.json")

    def answer(self, part: str, code: int, told: str) -> None:
        """What commands with such a part say from now on."""
        fake_kubectl.answer(self.folder, {part: (code, told)})

    def asked(self) -> list[str]:
        return fake_kubectl.asked_of(self.folder)

    def failure(self, name: str) -> str:
        """The sentence on a component, as soon as there is one."""
        return str(wait_until(lambda: self.deployment.failure(name), f"a sentence on {name}"))


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    with Children() as children:
        found = Trial(tmp_path, children)
        yield found
        found.deployment.close()


def test_an_injector_s_pod_is_killed(trial: Trial) -> None:
    trial.answer("logs", 0, "started\nat work")
    trial.tell("load-0-x7k2p", "load", "killed")
    log = trial.deployment.logs("injector-1") / "console.log"
    assert trial.failure("injector-1") == (
        f"injector-1 ended with signal 9 after printing: started | at work: see {log}"
    )
    assert log.read_text(encoding="utf-8").split() == ["started", "at", "work"]
    assert trial.deployment.failure("server-1") is None


def test_an_injector_s_pod_is_deleted_and_its_job_makes_another(trial: Trial) -> None:
    (trial.folder / "pods" / "load-0-x7k2p.json").unlink()
    trial.tell("load-0-qq8vd", "load")
    assert trial.failure("injector-1") == "injector-1 ended because its pod load-0-x7k2p is gone"


def test_the_namespace_is_deleted(trial: Trial) -> None:
    """All pods go; nothing can be started any more, and there is nothing left to remove."""
    now = "2026-01-01T00:01:00Z"
    trial.tell("server-0", "server", deletionTimestamp=now)
    trial.tell("load-0-x7k2p", "load", deletionTimestamp=now)
    assert trial.failure("server-1") == "server-1 ended because somebody deleted its pod server-0"
    assert trial.failure("injector-1") == "injector-1 ended because somebody deleted its pod load-0-x7k2p"
    for path in (trial.folder / "pods").iterdir():
        path.unlink()
    units = trial.deployment._units.values()
    wait_until(lambda: not any(unit.there for unit in units), "the end of both pods")
    trial.answer("", 1, f"Error from server (NotFound): {ENDING}")
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
    (trial.folder / "away").touch()
    assert "the API server has not answered for" in trial.failure("server-1")
    (trial.folder / "away").unlink()


def test_an_api_server_that_comes_back_has_taken_nothing(trial: Trial) -> None:
    (trial.folder / "away").touch()
    wait_until(
        lambda: trial.deployment._watch is None or trial.deployment._watch.silence() >= 0.3, "some silence"
    )
    assert trial.deployment.failure("server-1") is None
    (trial.folder / "away").unlink()
    trial.tell("server-0", "server", "killed")
    assert trial.failure("server-1").startswith("server-1 ended with signal 9")


def test_what_an_earlier_session_left_is_gone_before_anything_is_made(trial: Trial) -> None:
    before = len(trial.asked())
    sweep(trial.cluster)
    removed, waited = trial.asked()[before:]
    assert "delete statefulsets,deployments,jobs,services,pods,configmaps" in removed
    assert "wait --for=delete pods" in waited
    for line in (removed, waited):
        assert "--selector=steelyard.dev/session" in line
    trial.answer("wait", 1, "error: timed out waiting for the condition on pods/server-0")
    with pytest.raises(
        MissingRequirement, match=r"an earlier session left cannot be removed .*pods/server-0"
    ):
        sweep(trial.cluster)
