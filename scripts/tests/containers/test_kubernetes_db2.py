# SPDX-License-Identifier: Apache-2.0
"""Db2's namespace on a real node: what the API server and the kubelet make of it."""

import json

import pytest
import yaml
from waiting import wait_until

from steelyard.images.lock import read_others
from steelyard.paths import ROOT

from .node import Node

pytestmark = pytest.mark.containers


@pytest.mark.parametrize("bundle", ["daytrader7", "olio"])
def test_the_namespace_of_db2_takes_it_and_nobody_else_is_given_what_it_needs(
    node: Node, bundle: str
) -> None:
    """Its pod is admitted and made; the image, which cannot be pulled here, is not looked at. The same pod in the
    namespace of the servers is refused."""
    namespace = f"steelyard-{bundle}-database"
    folder = str(ROOT / "k8s" / bundle / "database")
    node.kubectl("apply", "--kustomize", folder)
    try:
        made = wait_until(
            lambda: node.get("pods", "--namespace", namespace)["items"],
            lambda: f"the pod of Db2: {node.story(namespace)}",
        )
        (container,) = made[0]["spec"]["containers"]
        assert container["image"] == read_others()["db2"].reference
        assert container["securityContext"]["capabilities"]["add"] == ["IPC_LOCK", "IPC_OWNER"]
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "elsewhere"},
            "spec": {
                "containers": [
                    {"name": "database", **{key: container[key] for key in ("image", "securityContext")}}
                ]
            },
        }
        servers = [
            one
            for one in yaml.safe_load_all(node.kubectl("kustomize", str(ROOT / "k8s" / bundle)))
            if one["kind"] == "Namespace"
        ]
        (name,) = (one["metadata"]["name"] for one in servers)
        node.kubectl("apply", "--filename", "-", text=json.dumps(servers[0]))
        refused = node.ask("create", "--namespace", name, "--filename", "-", text=json.dumps(pod))
        assert refused.returncode != 0
        assert 'violates PodSecurity "restricted:latest"' in refused.stderr
        node.kubectl("delete", "namespace", name)
    finally:
        node.kubectl("delete", "--kustomize", folder, "--wait=false")
        node.wait_until_gone(f"namespace/{namespace}")
