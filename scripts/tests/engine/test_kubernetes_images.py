# SPDX-License-Identifier: Apache-2.0
"""What a pod tells of images in a cluster."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from fake_api import FakeApi, cluster
from waiting import TINY

from steelyard.engines.images import jvm_of
from steelyard.engines.kubernetes import images as kubernetes_images
from steelyard.engines.kubernetes.cluster import Cluster
from steelyard.engines.kubernetes.images import ClusterImages
from steelyard.engines.kubernetes.roles import TOLERATION
from steelyard.errors import MissingRequirement

JVM = (Path(__file__).parents[1] / "fixtures" / "jvm" / "hotspot.txt").read_text(encoding="utf-8")


@pytest.fixture
def lab() -> Iterator[tuple[FakeApi, Cluster]]:
    with cluster() as made:
        yield made


def images_pod(phase: str, *statuses: Mapping[str, object]) -> tuple[int, str]:
    status = {"phase": phase, "containerStatuses": list(statuses)}
    return 200, json.dumps({"metadata": {"name": "x"}, "spec": {"nodeName": "a"}, "status": status})


POD = "GET /api/v1/namespaces/trials/pods/steelyard-images-"


def test_images_tell_of_themselves_in_the_cluster(
    lab: tuple[FakeApi, Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    api, cluster = lab
    monkeypatch.setattr("secrets.token_hex", lambda _: "1")
    told = f"{JVM}\ndev.steelyard: fingerprint=1cae40b1\ndev.steelyard: database=embedded"
    api.answers[f"{POD}1/log?"] = (200, told)
    api.answers[POD] = images_pod(
        "Succeeded",
        {"name": "image-0", "imageID": "lab:5000/s/ping@sha256:12"},
        {"name": "image-1", "imageID": "sha256:34"},
        {"name": "image-2", "imageID": "docker-pullable://docker.io/example/shop@sha256:56"},
    )
    images = ClusterImages(cluster)
    wanted = ("lab:5000/s/ping:1", "localhost/other:1", "example/shop:1")
    ping, other, shop = images.find(dict.fromkeys(wanted, "")).values()
    # One that was brought to the node by hand is known by no digest of a registry.
    assert (ping.pinned, other.pinned) == ("lab:5000/s/ping@sha256:12", "localhost/other:1")
    assert shop.pinned == "example/shop@sha256:56"
    assert ping.labels == {"dev.steelyard.fingerprint": "1cae40b1", "dev.steelyard.database": "embedded"}
    jvm = jvm_of(images, ping, required=True)
    assert jvm is not None
    assert jvm.kind == "hotspot"
    assert api.asked_for("DELETE") == ["steelyard-images-1"]
    # On nodes that a taint keeps for the measurement, too.
    assert kubernetes_images._make_pod("x", ["lab/ping:1"])["spec"]["tolerations"] == [TOLERATION]


def unschedulable() -> tuple[int, str]:
    full = {"type": "PodScheduled", "reason": "Unschedulable", "message": "0/1 nodes: Insufficient cpu."}
    status = {"phase": "Pending", "conditions": [full]}
    return 200, json.dumps({"metadata": {"name": "x"}, "spec": {}, "status": status})


def test_a_pod_that_asks_for_images_may_wait_for_a_node(
    lab: tuple[FakeApi, Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    api, cluster = lab
    monkeypatch.setattr("secrets.token_hex", lambda _: "1")
    told = [
        images_pod("Succeeded", {"name": "image-0", "imageID": "lab/ping@sha256:12"}),
        unschedulable(),
        unschedulable(),
    ]
    asked = Cluster.get

    def get(self: Cluster, path: str, *, patient: bool = True) -> Any:
        api.answers[POD] = told.pop()
        return asked(self, path, patient=patient)

    api.answers[f"{POD}1/log?"] = (200, JVM)
    monkeypatch.setattr(Cluster, "get", get)
    (image,) = ClusterImages(cluster).find({"lab/ping:1": "build it"}).values()
    assert image.pinned == "lab/ping@sha256:12"
    assert not told


def test_a_pod_that_asks_for_images_and_finds_no_node(
    lab: tuple[FakeApi, Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    api, cluster = lab
    monkeypatch.setattr("steelyard.engines.kubernetes.pods.ROOM_LIMIT", TINY)
    api.answers[POD] = unschedulable()
    with pytest.raises(
        MissingRequirement,
        match=r"fits no node of the cluster \(.*Insufficient cpu\): free some room on a node",
    ):
        ClusterImages(cluster).find({"lab/ping:1": "build it"})


def test_an_image_that_no_node_can_have(lab: tuple[FakeApi, Cluster]) -> None:
    api, cluster = lab
    waiting = {"reason": "ImagePullBackOff", "message": "no such host"}
    status = {"name": "image-0", "image": "lab/ping:1", "state": {"waiting": waiting}}
    api.answers[POD] = images_pod("Pending", status)
    with pytest.raises(
        MissingRequirement, match=r"cannot be pulled \(lab/ping:1: no such host\).*: build it"
    ):
        ClusterImages(cluster).find({"lab/ping:1": "build it"})
    assert len(api.asked_for("DELETE")) == 1
