# SPDX-License-Identifier: Apache-2.0
"""The bundles of DayTrader7 and Olio on PostgreSQL on a real Kubernetes node, as a person applies them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import wait_until

from .bundle import POSTGRESQL_IMAGE, TABLES
from .conftest import Pushed
from .node import Node, kustomization
from .test_kubernetes import short, under_load

pytestmark = pytest.mark.containers


@pytest.fixture
def volume(loaded: Node, tmp_path: Path) -> Iterator[None]:
    """A folder of the one node as a volume that all its pods may write to, as Olio's claim asks for.

    Of the kind `local`: the kubelet gives it to the group that a pod states. It does so with no volume of the kind
    hostPath, such as those that the node's own storage class makes.
    """
    folder = tmp_path / "volume"
    folder.mkdir()
    here = {"key": "kubernetes.io/hostname", "operator": "Exists"}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "filestore"},
        "spec": {
            "capacity": {"storage": "8Gi"},
            "accessModes": ["ReadWriteMany"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "standard",
            "local": {"path": str(folder)},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
        },
    }
    loaded.kubectl("create", "--filename", "-", text=json.dumps(volume))
    yield
    loaded.kubectl("delete", "persistentvolume", "filestore")


@pytest.fixture(scope="module")
def loaded(node: Node, images: Pushed) -> Node:
    """The node with the images of both bundles, under the names that these have for them."""
    for reference in (images.daytrader7, images.olio, images.olio_geocoder):
        node.load(reference, f"localhost/steelyard/{reference.rpartition('/')[2]}")
    node.load(POSTGRESQL_IMAGE, "docker.io/library/postgres:17")
    return node


@pytest.mark.usefixtures("volume")
@pytest.mark.parametrize("application", ["daytrader7", "olio"])
def test_a_bundle_on_postgresql_loads_its_data_serves_and_keeps_it(
    loaded: Node, application: str, tmp_path: Path
) -> None:
    bundle = f"{application}-postgresql"
    namespace = f"steelyard-{bundle}"
    folder = kustomization(tmp_path / "bundle", [f"overlays/small/{bundle}"], ["hotspot"])
    loaded.kubectl("apply", "--kustomize", folder)
    try:
        loaded.finish(namespace, "data")
        requests = under_load(loaded, namespace, short(tmp_path, bundle, 5))
        assert requests["login" if application == "daytrader7" else "home-page"] > 0
        consistency = f"/{application.removesuffix('7')}/consistency"
        assert loaded.path(namespace, "server", consistency).strip() == "consistent"

        written = rows(loaded, namespace, application)
        assert all(written)
        # The container ends and is started anew, in the same pod.
        stop = "pg_ctl --mode=fast --no-wait stop"
        loaded.kubectl("exec", "database-0", "--namespace", namespace, "--", "sh", "-c", stop)
        wait_until(lambda: started_anew(loaded, namespace), lambda: loaded.story(namespace))
        assert rows(loaded, namespace, application) == written
    finally:
        loaded.remove(folder, namespace)


def rows(node: Node, namespace: str, application: str) -> list[int]:
    """Rows of some tables, as the database itself counts them."""
    psql = ("psql", "--username=steelyard", "--no-align", "--tuples-only", "--command")
    database = ("exec", "database-0", "--namespace", namespace, "--")
    return [
        int(node.kubectl(*database, *psql, f"SELECT count(*) FROM {table}")) for table in TABLES[application]
    ]


def started_anew(node: Node, namespace: str) -> bool:
    """Whether the database's container is the second one of its pod, and ready."""
    (status,) = node.get("pod", "database-0", "--namespace", namespace)["status"]["containerStatuses"]
    return status["restartCount"] == 1 and bool(status["ready"])
