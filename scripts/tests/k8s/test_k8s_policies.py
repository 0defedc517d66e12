# SPDX-License-Identifier: Apache-2.0
"""What policies let through to the API server, as the files have it."""

import yaml

from steelyard.paths import ROOT

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
