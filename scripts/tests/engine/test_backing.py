# SPDX-License-Identifier: Apache-2.0
"""Databases and proxy of the process engine."""

import socket
import sys
from pathlib import Path

import pytest

from steelyard.engines.process.backing import (
    EmbeddedDatabase,
    connections,
    database_command,
    load_lines,
    proxy_files,
    start_lines,
    wait_until_serving,
)
from steelyard.errors import PortInUse, ServerFailed
from steelyard.experiment.loader import load_experiment
from steelyard.experiment.matrix import expand
from steelyard.experiment.workloads import WORKLOADS
from steelyard.paths import EXPERIMENTS
from steelyard.processes import Children
from steelyard.results.schema import BackingRecord, JvmIdentity, TopologyRecord
from steelyard.topology.plan import plan_topology

KINDS = WORKLOADS["acmeair"].kinds


@pytest.fixture
def topologies(hotspot: JvmIdentity) -> dict[str, TopologyRecord]:
    arms = expand(load_experiment(EXPERIMENTS / "acmeair-topology.yaml"))
    planned = [plan_topology(arm, [(0,), (1,)], hotspot, WORKLOADS["acmeair"]) for arm in arms]
    return {topology.topology: topology for topology in planned}


def record(port: int) -> BackingRecord:
    return BackingRecord(name="database", kind="database", cpus=[0], port=port)


def test_servers_reach_their_database_and_each_other_through_the_proxy(
    topologies: dict[str, TopologyRecord],
) -> None:
    services = topologies["microservices"]
    ports = {one.name: str(one.port) for one in services.backing}
    found = {one.service: connections(one, services, KINDS["microservices"]) for one in services.instances}
    assert found["booking"] == {
        "MONGO_HOST": "127.0.0.1",
        "MONGO_PORT": ports["booking-database"],
        "ACMEAIR_STACKAA_CUSTOMER_URL": "http://127.0.0.1:9080/customer",
        "ACMEAIR_STACKAA_FLIGHT_URL": "http://127.0.0.1:9080/flight",
    }
    assert found["main"] == {}
    assert len({ports[f"{name}-database"] for name in ("customer", "flight", "booking")}) == 3
    monolith = topologies["monolith"]
    assert connections(monolith.instances[0], monolith, KINDS["monolith"]) == {
        "MONGO_HOST": "127.0.0.1",
        "MONGO_PORT": str(monolith.backing[0].port),
    }


def test_the_proxy_leads_to_every_jvm_of_a_service(topologies: dict[str, TopologyRecord]) -> None:
    services = topologies["microservices"]
    doubled = [
        copy
        for one in services.instances
        for copy in (one, one.model_copy(update={"name": f"{one.service}-2", "port": one.port + 100}))
    ]
    files = proxy_files(services.backing[-1], doubled, "acmeair-microservices")
    auth = next(line for line in files["upstreams.conf"].splitlines() if line.startswith("upstream auth "))
    assert (
        auth
        == "upstream auth { server 127.0.0.1:9081; server 127.0.0.1:9181; keepalive 1000; keepalive_timeout 20s; }"
    )
    assert "listen 9080;" in files["listen.conf"]
    assert "include" in files["nginx.conf"]


def test_a_replay_starts_databases_and_proxy_and_loads_the_data(
    topologies: dict[str, TopologyRecord], hotspot: JvmIdentity
) -> None:
    services = topologies["microservices"]
    started = start_lines(services, EmbeddedDatabase(Path("/build/embedded-mongo"), hotspot))
    assert [line.endswith(" &") for line in started] == [True] * 4
    assert sum("dev.steelyard.embeddedmongo.Main" in line for line in started) == 3
    assert "nginx -p proxy/ -c nginx.conf" in started[-1]
    loading = load_lines(services, KINDS["microservices"])
    flight = next(one.port for one in services.instances if one.service == "flight")
    assert f"curl -fsS http://127.0.0.1:{flight}/flight/loader/load; echo" in loading


def test_a_large_data_set_gets_a_larger_database(hotspot: JvmIdentity) -> None:
    database = EmbeddedDatabase(Path("/build/embedded-mongo"), hotspot)
    assert "-Xmx1g" in database_command(record(9090), database, 10_000)
    assert "-Xmx4g" in database_command(record(9090), database, 100_000)


@pytest.mark.parametrize(
    ("script", "error", "says"),
    [
        ("import sys; print('port 1 is taken'); sys.exit(5)", PortInUse, "could not open port"),
        ("print('bind() to 0.0.0.0:1 failed (98: Address already in use)')", PortInUse, "could not open"),
        ("import sys; print('no memory'); sys.exit(1)", ServerFailed, "ended with exit code 1 .*no memory"),
    ],
)
def test_what_does_not_start_is_named(script: str, error: type[Exception], says: str, tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound and not listening: nobody can answer there
        with Children() as children:
            child = children.spawn(
                "database", [sys.executable, "-c", script], console=tmp_path / "log", cwd=tmp_path
            )
            with pytest.raises(error, match=says):
                wait_until_serving([record(closed.getsockname()[1])], [child])


def test_what_serves_is_waited_for(tmp_path: Path) -> None:
    with socket.socket() as listening, Children() as children:
        listening.bind(("127.0.0.1", 0))
        child = children.spawn("database", ["sleep", "60"], console=tmp_path / "log", cwd=tmp_path)
        listening.listen()
        wait_until_serving([record(listening.getsockname()[1])], [child])
        assert child.exit_code() is None
