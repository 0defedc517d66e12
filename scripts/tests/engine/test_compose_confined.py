# SPDX-License-Identifier: Apache-2.0
"""Every service of every compose bundle is confined; who is not stands here, with the reason."""

from typing import Any

import pytest
import yaml

from steelyard.engines.compose.images import BUNDLES

LACKS = {
    ("acmeair-microservices", "embedded-mongo"): ({"read_only", "cap_drop", "security_opt"}, "is only built"),
    ("acmeair-monolith", "embedded-mongo"): ({"read_only", "cap_drop", "security_opt"}, "is only built"),
    ("jvm-count", "server"): ({"read_only", "cap_drop", "security_opt"}, "is only built"),
    ("jvm-count", "load"): ({"read_only", "cap_drop", "security_opt"}, "is only built"),
    ("daytrader7", "database"): ({"read_only", "cap_drop", "security_opt"}, "Db2 starts as root and uses su"),
    ("olio", "database"): ({"read_only", "cap_drop", "security_opt"}, "Db2 starts as root and uses su"),
    ("server", "server"): ({"read_only", "cap_drop"}, "nobody knows what a foreign image needs"),
}
"""By bundle and service."""
ADDS = {
    ("daytrader7", "database"): ({"cap_add"}, "what Db2 needs of --privileged"),
    ("olio", "database"): ({"cap_add"}, "what Db2 needs of --privileged"),
    ("jvm-count", "harness"): ({"cap_add", "network_mode", "pid"}, "samples the processes of all containers"),
    ("observe", "prometheus"): ({"network_mode"}, "asks a session on the host's loopback"),
    ("observe", "grafana"): ({"network_mode"}, "asks Prometheus there"),
}
CONFINED = {"read_only": True, "cap_drop": ["ALL"]}
SERVICES = [
    pytest.param(path.parent.name, name, service, id=f"{path.parent.name}-{name}")
    for path in sorted(BUNDLES.glob("*/compose.yaml"))
    for name, service in yaml.safe_load(path.read_text(encoding="utf-8"))["services"].items()
]


@pytest.mark.parametrize(("bundle", "name", "service"), SERVICES)
def test_a_service_is_confined_unless_it_stands_here_why(
    bundle: str, name: str, service: dict[str, Any]
) -> None:
    lacks = {key for key, value in CONFINED.items() if service.get(key) != value}
    if "no-new-privileges:true" not in service.get("security_opt", []):
        lacks.add("security_opt")
    assert lacks == LACKS.get((bundle, name), (set(), ""))[0]
    wide = {"cap_add", "devices", "ipc", "network_mode", "pid", "privileged", "userns_mode"} & set(service)
    if service.get("network_mode") == "none":
        wide.remove("network_mode")
    assert wide == ADDS.get((bundle, name), (set(), ""))[0]
    assert [port for port in service.get("ports", []) if not str(port).startswith("127.0.0.1:")] == []
    if LACKS.get((bundle, name), (set(), ""))[1] == "is only built":
        assert service.get("scale") == 0 or service["profiles"] == ["embedded"]
        assert "build" in service
        assert not {"ports", "volumes", "command"} & set(service)


def test_no_exception_is_of_a_service_that_is_gone() -> None:
    there = {(bundle, name) for bundle, name, _ in (parameters.values for parameters in SERVICES)}
    assert LACKS.keys() | ADDS.keys() <= there
    assert len(there) > 30
