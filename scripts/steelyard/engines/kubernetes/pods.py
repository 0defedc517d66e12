# SPDX-License-Identifier: Apache-2.0
"""What the API server tells of a pod, read for a trial: whether it runs, where, since when, how it ended.

Pods are the API's objects as they are; of the containers in one, that of the component bears the name of its kind.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from steelyard.engines.container import NOT_TOLD, exit_code_of
from steelyard.engines.kubernetes.api import Object, PodWatch
from steelyard.processes.children import describe_exit, own_words
from steelyard.results.spec import Component
from steelyard.units import MIB

NAME, SESSION, TRIAL = "app.kubernetes.io/name", "steelyard.dev/session", "steelyard.dev/trial"
"""Labels: the kind of a component; whose pod it is."""
_NUMBERS = ("apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index")
ROOM_LIMIT = 60.0
"""Seconds that a cluster may take to find room for a pod, or to make some: an autoscaler adds a node."""
_REFUSED = {
    "ErrImageNeverPull": "its image is not on the node",
    "ImagePullBackOff": "its image cannot be pulled",
    "InvalidImageName": "its image has no valid name",
    "CreateContainerConfigError": "its container cannot be made",
    "CreateContainerError": "its container cannot be made",
    "RunContainerError": "its container cannot be started",
    "CrashLoopBackOff": "its container ends again and again",
}
_DISRUPTED = {
    "EvictionByEvictionAPI": "was evicted (its node is being drained, or somebody asked for it)",
    "DeletionByTaintManager": "had to leave its node (a taint)",
    "PreemptionByScheduler": "had to make room for pods of a higher priority",
    "DeletionByPodGC": "was removed because its node is gone",
    "TerminationByKubelet": "was ended by its node (pressure, or a shutdown)",
}
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?(?:[eE]\d{1,2})?)([A-Za-z]{0,2})", re.ASCII)
_SUFFIXES = {
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
    "Pi": 2**50,
    "Ei": 2**60,
    "m": 1e-3,
    "k": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "P": 10**15,
    "E": 10**18,
}


class CpusAndMemory(NamedTuple):
    """What a pod requests of its node, or what a node has."""

    cpus: float
    memory: float
    """Bytes."""


def place(pod: Object) -> tuple[str, int]:
    """Kind of its component, and its number among those of the kind, from 0."""
    labels = pod["metadata"].get("labels", {})
    number = next((labels[label] for label in _NUMBERS if label in labels), "0")
    return labels.get(NAME, ""), int(number)


def node(pod: Object) -> str:
    """Name of the node that it runs on; empty while it has none."""
    return str(pod["spec"].get("nodeName", ""))


def status(pod: Object, container: str) -> Object:
    """The status of one of its containers; empty before there is one."""
    listed = pod.get("status", {}).get("containerStatuses", ())
    return next((entry for entry in listed if entry["name"] == container), {})


def start_time(pod: Object, container: str) -> float | None:
    """Epoch seconds at which a container that runs was started; Kubernetes tells whole ones, rounded down."""
    at = status(pod, container).get("state", {}).get("running", {}).get("startedAt")
    return datetime.fromisoformat(at).timestamp() if at is not None else None


def exit_code(pod: Object, container: str) -> int | None:
    """Exit code of a container's end, its first if it was started again: negative for a signal; None: it runs."""
    ended = _end_of(pod, container)
    return exit_code_of(ended.get("exitCode")) if ended is not None else None


def out_of_memory(pod: Object, container: str) -> bool:
    """Whether a container ended because it reached its memory limit."""
    return (_end_of(pod, container) or {}).get("reason") == "OOMKilled"


def memory_limit(pod: Object, container: str) -> int | None:
    """Bytes that a container may have, as the API server has it."""
    limit = _limits(pod, container).get("memory")
    return quantity(limit) if limit is not None else None


def cpu_limit(pod: Object, container: str) -> float | None:
    """CPUs that a container may use, as the API server has it; None: no limit."""
    limit = _limits(pod, container).get("cpu")
    return cpus(limit) if limit is not None else None


def requests_of(pod: Object) -> CpusAndMemory:
    """What a pod takes of its node: of each resource the sum of its containers' requests, or what one that prepares it
    requests if that is more (Kubernetes, "Init containers: resource sharing")."""
    inits = pod["spec"].get("initContainers", ())
    sidecars = [init for init in inits if init.get("restartPolicy") == "Always"]

    def sum_up(resource: str, read: Callable[[str], float]) -> float:
        def request_of(container: Object) -> float:
            return read(container.get("resources", {}).get("requests", {}).get(resource) or "0")

        together = sum(map(request_of, [*pod["spec"]["containers"], *sidecars]))
        return max([together, *map(request_of, inits)])

    return CpusAndMemory(sum_up("cpu", cpus), sum_up("memory", quantity))


def variables(pod: Object, container: str) -> dict[str, str]:
    """The environment that a container is given."""
    spec = _container(pod, container)
    return {variable["name"]: variable["value"] for variable in spec.get("env", ()) if "value" in variable}


def cpus(text: str) -> float:
    """A number of CPUs as Kubernetes writes it: `2`, `1930m` (raises ValueError: it is none)."""
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2] not in ("", "m"):
        raise ValueError(f"{text!r} is no number of CPUs")
    return float(match[1]) / (1000 if match[2] else 1)


def quantity(text: str) -> int:
    """Bytes of a quantity as Kubernetes writes it: `512Mi`, `2G`, `1000` (raises ValueError: it is none)."""
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2] not in ("", *_SUFFIXES):
        raise ValueError(f"{text!r} is no size")
    return int(float(match[1]) * _SUFFIXES.get(match[2], 1))


def hindrance(pod: Object, name: str, container: str) -> str | None:
    """Why a pod will not start as things stand, in one sentence; None: nothing is known against it."""
    for entry in _conditions(pod):
        if entry["type"] == "PodScheduled" and entry.get("reason") == "Unschedulable":
            return f"{name} fits no node of the cluster ({_words(entry.get('message'))})"
    listed = [
        *pod.get("status", {}).get("initContainerStatuses", ()),
        *pod.get("status", {}).get("containerStatuses", ()),
    ]
    for entry in listed:
        waiting = entry.get("state", {}).get("waiting", {})
        if (reason := waiting.get("reason")) in _REFUSED:
            why = f"{_words(waiting.get('message')) or reason}"
            return f"{name} does not start: {_REFUSED[reason]} ({entry['image']}: {why})"
    for entry in pod.get("status", {}).get("initContainerStatuses", ()):
        code = entry.get("state", {}).get("terminated", {}).get("exitCode", 0)
        if code:
            return f"{name} does not start: what prepares it ended with exit code {code} ({entry['name']})"
    return disruption(pod, name) or describe_end(pod, name, container)


def is_final(pod: Object, waited: float) -> bool:
    """Whether a hindrance stays: a pod without a node may get one within `ROOM_LIMIT` seconds."""
    return node(pod) != "" or waited > ROOM_LIMIT


def disruption(pod: Object, name: str) -> str | None:
    """How the cluster took a pod away, in one sentence; None: it did not."""
    state = pod.get("status", {})
    if state.get("phase") == "Failed" and state.get("reason"):
        return f"{name} was ended by its node: {state['reason']} ({_words(state.get('message'))})"
    for condition in _conditions(pod):
        if condition["type"] == "DisruptionTarget" and condition["status"] == "True":
            how = _DISRUPTED.get(condition.get("reason", ""), "was taken away")
            return f"{name} {how}: {_words(condition.get('message'))}"
    if "deletionTimestamp" in pod["metadata"]:
        return f"{name} ended because somebody deleted its pod {pod['metadata']['name']}"
    return None


def describe_end(pod: Object, name: str, container: str) -> str | None:
    """How a container ended by itself, in one sentence; None: it did not."""
    if out_of_memory(pod, container):
        limit = memory_limit(pod, container)
        shown = f"{limit // MIB} MiB" if limit is not None else "its node's memory"
        return f"{name} was killed because memory ran out (its limit is {shown}): raise `memory`, or lower the heap"
    code = exit_code(pod, container)
    if code is None:
        return None
    return describe_exit(name, None if code == NOT_TOLD else code, "")


def with_reason(sentence: str, printed: str, log: Path) -> str:
    """With its own words, of one that ended by itself: of one that was taken away they tell nothing."""
    return f"{sentence}{own_words(printed, log)}" if " ended with " in sentence else sentence


class Member:
    """A component's pod, from its start on."""

    def __init__(self, component: Component, pod: Object, watch: PodWatch) -> None:
        self.name, self.container = component.name, component.kind
        self.stop_requested = False
        self.mark = ""
        self.pid = None
        self.creation: float | None = None
        """Kubernetes tells whole seconds."""
        self.pod_name = str(pod["metadata"]["name"])
        self.uid = str(pod["metadata"]["uid"])
        self.node = node(pod)
        started = start_time(pod, self.container)
        assert started is not None
        self.started = started
        """To the second below (see `KubernetesDeployment.began`)."""
        self.fetched = False
        self._watch = watch

    @property
    def pod(self) -> Object:
        """What was last told of it, be it gone."""
        return self._watch.last[self.uid]

    @property
    def there(self) -> bool:
        """Whether it is there, and no other in its place."""
        pod = self._watch.pods.get(self.pod_name)
        return pod is not None and pod["metadata"]["uid"] == self.uid

    def exit_code(self) -> int | None:
        """Exit code, negative for a signal; None while it runs; `NOT_TOLD` of one that is gone."""
        code = exit_code(self.pod, self.container)
        return NOT_TOLD if code is None and not self.there else code

    def describe_end(self) -> str:
        """One sentence: how it ended, or was taken away."""
        pod = self.pod
        if pod["metadata"]["uid"] != self.uid:
            return f"{self.name} ended because its pod was replaced (it is now on {node(pod) or 'no node'})"
        return (
            disruption(pod, self.name)
            or describe_end(pod, self.name, self.container)
            or f"{self.name} ended because its pod {self.pod_name} is gone"
        )

    def has_ended(self) -> bool:
        """Whether it does not run as it did."""
        pod = self.pod
        return not self.there or disruption(pod, self.name) is not None or self.exit_code() is not None


def _end_of(pod: Object, container: str) -> Object | None:
    entry = status(pod, container)
    for state in (entry.get("lastState", {}), entry.get("state", {})):
        if "terminated" in state:
            terminated: Object = state["terminated"]
            return terminated
    # Restarted, and how it had ended is not told any more.
    return {} if entry.get("restartCount", 0) else None


def _conditions(pod: Object) -> list[Object]:
    return list(pod.get("status", {}).get("conditions", ()))


def _container(pod: Object, name: str) -> Object:
    return next((container for container in pod["spec"]["containers"] if container["name"] == name), {})


def _limits(pod: Object, container: str) -> Mapping[str, str]:
    limits: Mapping[str, str] = _container(pod, container).get("resources", {}).get("limits", {})
    return limits


def _words(message: str | None) -> str:
    return " ".join((message or "").split()).rstrip(".")
