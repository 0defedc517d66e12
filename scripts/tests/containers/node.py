# SPDX-License-Identifier: Apache-2.0
"""A Kubernetes node of this machine, as `k8s/local/node.sh` makes it, and what it must not leave behind."""

import json
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages import NODE
from waiting import wait_until

from steelyard.paths import ROOT

Json = dict[str, Any]
_KINDS = "statefulsets,deployments,jobs,services,configmaps,pods"


class Node:
    """The node while it runs."""

    def kubectl(self, *arguments: str, text: str | None = None) -> str:
        """What kubectl prints; it has to end well."""
        done = self.ask(*arguments, text=text)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ask(self, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run kubectl, whatever it says."""
        return subprocess.run(
            [*NODE, "kubectl", *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )

    def get(self, *arguments: str) -> Json:
        """An object, or a list of them."""
        found: Json = json.loads(self.kubectl("get", *arguments, "--output", "json"))
        return found

    def held(self, namespace: str) -> list[str]:
        """What is in a namespace and not Kubernetes' own; of pods those that nobody has asked to end."""
        return [
            f"{one['kind']}/{one['metadata']['name']}"
            for one in self.get(_KINDS, "--namespace", namespace)["items"]
            if one["metadata"]["name"] != "kube-root-ca.crt" and "deletionTimestamp" not in one["metadata"]
        ]

    def path(self, namespace: str, service: str, path: str) -> str:
        """What a service answers, by way of the API server."""
        return self.kubectl(
            "get", "--raw", f"/api/v1/namespaces/{namespace}/services/{service}:http/proxy{path}"
        )

    def finish(self, namespace: str, job: str) -> None:
        """Wait until a Job is complete; one that failed, or whose pods cannot start, fails with what they say."""

        def ended(how: str) -> bool:
            found = conditions(self.get("job", job, "--namespace", namespace))
            return how in {one["type"] for one in found}

        wait_until(
            lambda: ended("Complete"),
            lambda: f"the end of Job {job}: {self.story(namespace)}",
            lambda: "it failed" if ended("Failed") else None,
        )

    def roll_out(self, namespace: str, *kinds: str) -> None:
        """Wait until the pods of some kinds are ready."""
        for kind in kinds:
            done = self.ask(*("rollout", "status", f"statefulset/{kind}", "--namespace", namespace))
            assert done.returncode == 0, done.stderr + self.story(namespace)

    def remove(self, folder: str, namespace: str) -> None:
        """Delete a bundle; nothing of it is left."""
        self.kubectl("delete", "--kustomize", folder, "--wait=false")
        self.wait_until_gone(f"namespace/{namespace}")
        left = self.get("pods,services,jobs,persistentvolumes", "--all-namespaces")["items"]
        assert [one for one in left if one["metadata"].get("namespace") == namespace] == []

    def wait_until_gone(self, *what: str) -> None:
        """Wait until an object is there no more."""
        self.kubectl("wait", "--for=delete", *what, "--timeout=-1s")  # below 0: for a week

    def story(self, namespace: str) -> str:
        """What a namespace tells of itself, for who has to find out what is wrong."""
        pods = self.ask("get", "pods", "--namespace", namespace, "--output", "wide").stdout
        events = self.ask("get", "events", "--namespace", namespace).stdout
        logs = self.ask(
            *("logs", "--namespace", namespace, "--selector", "app.kubernetes.io/part-of=steelyard"),
            *("--all-containers", "--prefix", "--tail=30", "--ignore-errors"),
        ).stdout
        return f"{pods}\n{events}\n{logs}"

    def load(self, reference: str, name: str) -> None:
        """Give the node an image of the tests' registry under the name that the bundles have for it."""
        archive = ["skopeo", "copy", "--quiet", "--src-tls-verify=false", f"docker://{reference}"]
        with subprocess.Popen(
            [*archive, f"docker-archive:/dev/stdout:{name}"], stdout=subprocess.PIPE
        ) as copy:
            done = subprocess.run(
                [*NODE, "load", "-"], stdin=copy.stdout, capture_output=True, text=True, check=False
            )
        assert (copy.returncode, done.returncode) == (0, 0), done.stderr

    def make_nodes(self, roles: Sequence[str], cpus: int, memory: str) -> list[str]:
        """Nodes that are there for the scheduler alone: nothing ever runs on them."""
        names = [f"fake-{number}-{role}" for number, role in enumerate(roles)]
        resources = {"cpu": str(cpus), "memory": memory, "pods": "110", "ephemeral-storage": "100Gi"}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
        status = {"capacity": resources, "allocatable": resources, "conditions": [ready]}
        platform = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "ppc64le"}
        nodes = []
        for name, role in zip(names, roles, strict=True):
            labels = {**platform, "kubernetes.io/hostname": name, "steelyard.dev/role": role}
            about = {"name": name, "labels": labels}
            nodes.append({"apiVersion": "v1", "kind": "Node", "metadata": about, "status": status})
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes})
        self.kubectl("create", "--filename", "-", text=text)
        self.kubectl("replace", "--subresource=status", "--filename", "-", text=text)
        return names


def conditions(found: Json) -> list[Json]:
    """The conditions of an object that hold."""
    return [one for one in found.get("status", {}).get("conditions", []) if one["status"] == "True"]


def kustomization(
    folder: Path, resources: Sequence[str], components: Sequence[str] = (), root: Path = ROOT, **more: object
) -> str:
    """A person's own kustomization over those of the checkout, or of what is unpacked at `root`; its folder."""
    above = os.path.relpath(root / "k8s", folder.resolve())
    text = {
        "resources": [f"{above}/{name}" for name in resources],
        "components": [f"{above}/components/{name}" for name in components],
        **more,
    }
    folder.mkdir(exist_ok=True)
    (folder / "kustomization.yaml").write_text(json.dumps(text), encoding="utf-8")
    return str(folder)


@dataclass(frozen=True)
class Traces:
    """What a node is seen by on this machine."""

    folder: Path
    group: str
    """Name of the control group that all its pods are below."""
    processes: str
    """Its process namespace."""

    @classmethod
    def of_running(cls, folder: Path) -> "Traces":
        """Of the node whose state is in a folder."""
        (group,) = re.findall(
            r'^cgroupRoot: "/(.+)"$', (folder / "kubelet.yaml").read_text(encoding="utf-8"), re.MULTILINE
        )
        holder = (folder / "holder").read_text(encoding="utf-8").split()[0]
        return cls(folder, group, _namespace(Path("/proc", holder)) or "")

    def left(self) -> dict[str, list[str]]:
        """What of it is there now, by kind."""
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
        groups = Path("/sys/fs/cgroup")
        links = {path.name for path in Path("/sys/class/net").iterdir()}
        found = {
            "mounts": [line for line in mounts if str(self.folder) in line or "/var/lib/kubelet" in line],
            "control groups": [*groups.glob(self.group), *groups.glob(f"*/{self.group}")],
            "processes": [
                path for path in Path("/proc").glob("[0-9]*") if _namespace(path) == self.processes
            ],
            "links": links & {"node0", "node0-end", "pods0"},
            "files": {path.name for path in self.folder.iterdir()} - {"logs"},
        }
        return {kind: sorted(map(str, some)) for kind, some in found.items() if some}


def _namespace(process: Path) -> str | None:
    try:
        return str((process / "ns" / "pid").readlink())
    except OSError:  # it has ended
        return None
