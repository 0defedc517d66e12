# SPDX-License-Identifier: Apache-2.0
"""What somebody has in a namespace is not taken for ours: a trial would write over it, and remove it at its end."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import make_jvm
from fake_api import NAMESPACE, FakeApi, cluster
from planned import containers, specs

from steelyard.engines.kubernetes.engine import KubernetesEngine
from steelyard.engines.kubernetes.password import MAKES
from steelyard.errors import Busy
from steelyard.processes import Children

APPS = "/apis/apps/v1/namespaces/trials"
SPEC = specs(
    "jvm-count",
    "engine=kubernetes",
    runtime=containers("server", jvm=make_jvm("hotspot"), cpus=2),
    workload="ping",
)["jvms-2"]


def bundle_object(kind: str, name: str, **annotations: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "apiVersion": "v1",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"template": {"spec": {"containers": [{"name": name}]}}},
    }


BUNDLE = [
    bundle_object("StatefulSet", "server"),
    bundle_object("Job", "load"),
    bundle_object("ConfigMap", "proxy"),
    bundle_object("Service", "entry"),
    bundle_object("Job", "password", **{MAKES: "database"}),
]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[tuple[FakeApi, KubernetesEngine]]:
    with cluster(BUNDLE, tmp_path) as (api, found), Children() as children:
        yield api, KubernetesEngine(children, found, "s-1")
        children.forget_crash("kubernetes-lock")
        children.forget_crash("kubernetes")


@pytest.mark.parametrize(
    ("path", "resource", "name"),
    [
        (APPS, "statefulsets", "server"),
        (APPS, "deployments", "server"),
        (NAMESPACE, "services", "server"),
        (NAMESPACE, "services", "entry"),
        # The names of components that are one of several.
        (NAMESPACE, "services", "server-1"),
        (NAMESPACE, "services", "server-2"),
        (NAMESPACE, "configmaps", "proxy"),
        # It takes the place of the Secret with the database's password.
        (NAMESPACE, "configmaps", "database"),
    ],
)
def test_what_bears_a_name_that_a_trial_gives_is_refused(
    lab: tuple[FakeApi, KubernetesEngine], path: str, resource: str, name: str
) -> None:
    api, engine = lab
    api.put(resource, {"metadata": {"name": name}}, path)
    with pytest.raises(Busy, match=f"somebody has deployed {resource.removesuffix('s')}/{name} in the"):
        engine.check([SPEC])
    assert f"{path}/{resource}/{name}" in api.objects


def test_what_bears_another_name_or_is_something_else_is_let_be(
    lab: tuple[FakeApi, KubernetesEngine],
) -> None:
    api, engine = lab
    for resource, name in (
        ("configmaps", "server"),
        ("configmaps", "kube-root-ca.crt"),
        ("services", "shop"),
    ):
        api.put(resource, {"metadata": {"name": name}})
    engine.check([SPEC])
