# SPDX-License-Identifier: Apache-2.0
"""What is read from pods as an API server tells of them."""

import re
from typing import Any

import pytest

from steelyard.engines.kubernetes import pods
from steelyard.engines.kubernetes.engine import label_value

RUNNING = {
    "name": "server",
    "image": "reg/ping:1",
    "state": {"running": {"startedAt": "2026-01-01T00:00:05Z"}},
}


def pod(*statuses: dict[str, Any], conditions: Any = (), **status: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "name": "server-1",
            "uid": "u1",
            "labels": {"app.kubernetes.io/name": "server", "apps.kubernetes.io/pod-index": "1"},
        },
        "spec": {
            "nodeName": "node-a",
            "containers": [
                {
                    "name": "server",
                    "resources": {"limits": {"cpu": "1500m", "memory": "512Mi"}},
                    "env": [{"name": "A", "value": "$$5"}, {"name": "B", "valueFrom": {}}],
                }
            ],
        },
        "status": {"containerStatuses": list(statuses), "conditions": list(conditions), **status},
    }


def ended(reason: str = "Error", code: int = 1, where: str = "lastState") -> dict[str, Any]:
    return {**RUNNING, "restartCount": 1, where: {"terminated": {"reason": reason, "exitCode": code}}}


def test_a_pod_that_runs() -> None:
    found = pod(RUNNING)
    assert pods.place(found) == ("server", 1)
    assert pods.start_time(found, "server") == pytest.approx(1767225605.0)
    assert pods.exit_code(found, "server") is None
    assert pods.hindrance(found, "server-2", "server") is None
    assert pods.memory_limit(found, "server") == 512 * 2**20
    assert pods.cpu_limit(found, "server") == 1.5
    assert pods.variables(found, "server") == {"A": "$$5"}


def test_a_pod_that_nothing_is_known_of() -> None:
    found = {"metadata": {"name": "x"}, "spec": {"containers": []}}
    assert pods.start_time(found, "server") is None
    assert pods.hindrance(found, "server-1", "server") is None
    assert pods.memory_limit(found, "server") is None


def test_how_a_container_ended() -> None:
    assert pods.exit_code(pod(ended(code=137)), "server") == -9
    assert pods.exit_code(pod(ended(code=143, where="state")), "server") == 143
    assert pods.describe_end(pod(ended(code=3)), "server-2", "server") == ("server-2 ended with exit code 3")


def test_one_that_was_killed_for_want_of_memory_says_its_limit() -> None:
    found = pod(ended("OOMKilled", 137))
    assert pods.out_of_memory(found, "server")
    assert "its limit is 512 MiB" in str(pods.describe_end(found, "server-2", "server"))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            pod(
                conditions=[
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3."}
                ]
            ),
            r"fits no node of the cluster \(0/3\)",
        ),
        (
            pod({**RUNNING, "state": {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}}),
            r"its image cannot be pulled \(reg/ping:1: not found\)",
        ),
        (
            pod(phase="Failed", reason="Evicted", message="low on memory"),
            r"ended by its node: Evicted \(low on memory",
        ),
        (
            pod(
                RUNNING,
                conditions=[
                    {
                        "type": "DisruptionTarget",
                        "status": "True",
                        "reason": "EvictionByEvictionAPI",
                        "message": "Eviction API: evicting",
                    }
                ],
            ),
            "was evicted .*Eviction API: evicting",
        ),
        (
            pod(initContainerStatuses=[{"name": "seed", "state": {"terminated": {"exitCode": 2}}}]),
            r"what prepares it ended with exit code 2 \(seed\)",
        ),
        (pod(ended(code=134)), "server-2 ended with signal 6"),
        (pod({"name": "server", "restartCount": 1}), "server-2 ended with an exit code that is not told"),
    ],
)
def test_why_it_does_not_start_in_one_sentence(found: dict[str, Any], said: str) -> None:
    told = pods.hindrance(found, "server-2", "server")
    assert told is not None
    assert re.search(said, told)


def test_one_that_somebody_deletes() -> None:
    found = pod(RUNNING)
    found["metadata"]["deletionTimestamp"] = "2026-01-01T00:01:00Z"
    assert pods.disruption(found, "server-2") == "server-2 ended because somebody deleted its pod server-1"


@pytest.mark.parametrize(
    ("text", "size"),
    [("1Gi", 2**30), ("500M", 5 * 10**8), ("1000", 1000), ("1536Mi", 1536 * 2**20), ("1e3", 1000)],
)
def test_sizes_as_kubernetes_writes_them(text: str, size: int) -> None:
    assert pods.quantity(text) == size


def test_any_text_becomes_the_value_of_a_label() -> None:
    assert label_value("jvm-count-20261122T181226Z") == "jvm-count-20261122T181226Z"
    long = label_value("ä" * 80 + "_1-jvms-2.attempt-1")
    assert len(long) <= 63
    assert long.endswith("jvms-2.attempt-1")
    assert long[0].isalnum()
