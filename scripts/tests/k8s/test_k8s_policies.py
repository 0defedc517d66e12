# SPDX-License-Identifier: Apache-2.0
"""What policies let through to the API server, as the files have it."""

import yaml

from steelyard.experiment.schema import DeploymentSettings
from steelyard.jvm.settings import JvmSettings
from steelyard.paths import ROOT
from steelyard.sampling.config import PORT
from steelyard.spec.jitserver import compilers
from steelyard.workload.loader import load_workload, workload_names
from steelyard.workload.schema import ComponentDescription

USUAL = [443, 6443, 8443, 16443]
"""The port of its Service, and those of kubeadm and k3s, of minikube, of MicroK8s: Calico and kube-router judge
a packet after the Service's address was replaced by the API server's own."""


def test_the_api_server_is_reached_on_the_ports_of_usual_clusters() -> None:
    ports = {}
    for path in (ROOT / "k8s").glob("**/*.yaml"):
        text = path.read_text(encoding="utf-8")
        for manifest in yaml.safe_load_all(text) if "-to-api-server}" in text else ():
            name = manifest["metadata"]["name"]
            if manifest["kind"] == "NetworkPolicy" and name.endswith("-to-api-server"):
                (rule,) = manifest["spec"]["egress"]
                ports[name] = [(each["protocol"], each["port"]) for each in rule["ports"]]
    usual = [("TCP", port) for port in USUAL]
    assert ports == {"harness-to-api-server": usual, "password-to-api-server": usual}


def test_what_a_harness_in_the_cluster_asks_is_let_in() -> None:
    """By way of the API server: the components that tell of themselves, and the observers beside all."""
    text = (ROOT / "k8s/base/experiment/network.yaml").read_text(encoding="utf-8")
    policies = {each["metadata"]["name"]: each["spec"] for each in yaml.safe_load_all(text)}
    (rule,) = policies["api-server-to-trials"]["ingress"]
    described = list(compilers(DeploymentSettings(jvm=JvmSettings(jit="remote"))).values())
    others: list[ComponentDescription] = []
    for name in workload_names():
        for topology in load_workload(name).workload.topologies.values():
            described += topology.components.values()
            names = [request.component for request in (*topology.data, *topology.consistency)]
            others += [topology.components[each] for each in [*names, topology.entry] if each is not None]
    told = [each for each in described if each.ready.path or each.counters or each.metrics]
    places = [each.container for each in [*told, *others] if each.container is not None]
    asked = {place.status or place.port for place in places}
    assert {each["port"] for each in rule["ports"]} == {PORT, *asked}
