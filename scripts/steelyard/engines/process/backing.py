# SPDX-License-Identifier: Apache-2.0
"""Databases and the proxy as processes of this host: their commands and files (pure), and when they serve."""

import shlex
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.engines.preparation import database_heap, loader_requests
from steelyard.engines.readiness import server_url
from steelyard.errors import PortInUse, ServerFailed
from steelyard.experiment.workloads import Kind
from steelyard.paths import ROOT
from steelyard.processes import Child
from steelyard.results.schema import BackingRecord, InstanceRecord, JvmIdentity, TopologyRecord

DATABASE_MAIN = "dev.steelyard.embeddedmongo.Main"
PORT_TAKEN = 5
"""Exit code of the embedded database when it cannot open its port."""
START_TIMEOUT = 60.0
KEPT_CONNECTIONS = 1000
"""Idle connections that the proxy keeps to each service (POWER9 study)."""
GIVEN_UP_FIRST = "keepalive_timeout 20s"
"""Liberty closes an idle connection after 30 s; one that both ends let go of at once would cost a request."""
_POLL = 0.02


@dataclass(frozen=True)
class EmbeddedDatabase:
    """Where the built MongoDB-wire database lies, and the JVM it runs on (HotSpot, whatever the servers use)."""

    folder: Path
    jvm: JvmIdentity


def database_command(record: BackingRecord, database: EmbeddedDatabase, customers: int | None) -> list[str]:
    """The command of an embedded database on loopback."""
    return [
        *_pinned(record),
        str(Path(database.jvm.home) / "bin" / "java"),
        f"-Xmx{database_heap(customers)}",
        "-XX:+UseParallelGC",
        "-cp",
        f"{database.folder / 'lib'}/*",
        DATABASE_MAIN,
        *("--host", "127.0.0.1", "--port", str(record.port)),
    ]


def proxy_command(record: BackingRecord, folder: str) -> list[str]:
    """The command of a proxy whose files lie in a folder, in the foreground."""
    return [
        *_pinned(record),
        *("nginx", "-p", f"{folder}/", "-c", "nginx.conf", "-e", "stderr", "-g", "daemon off;"),
    ]


def proxy_files(record: BackingRecord, instances: Sequence[InstanceRecord], bundle: str) -> dict[str, str]:
    """Files (name -> content) of the proxy: the bundle's own configuration, with this trial's addresses."""
    upstreams = [
        "# SPDX-License-Identifier: Apache-2.0",
        "# Each service by its name, with the JVMs of this trial.",
    ]
    for service in dict.fromkeys(instance.service for instance in instances):
        servers = "".join(f" server 127.0.0.1:{one.port};" for one in instances if one.service == service)
        upstreams.append(f"upstream {service} {{{servers} keepalive {KEPT_CONNECTIONS}; {GIVEN_UP_FIRST}; }}")
    configuration = ROOT / "compose" / bundle / "proxy" / "nginx.conf"
    return {
        "nginx.conf": configuration.read_text(encoding="utf-8"),
        "upstreams.conf": "\n".join([*upstreams, ""]),
        "listen.conf": f"# SPDX-License-Identifier: Apache-2.0\nlisten {record.port};\n",
    }


def connections(instance: InstanceRecord, topology: TopologyRecord, kind: Kind) -> dict[str, str]:
    """Environment variables that lead a server to its database and to the services that it calls."""
    service = next(one for one in kind.services if one.name == instance.service)
    found = {}
    if service.database is not None:
        port = next(record.port for record in topology.backing if record.name == service.database)
        found = {"MONGO_HOST": "127.0.0.1", "MONGO_PORT": str(port)}
    proxy = next((record for record in topology.backing if record.kind == "proxy"), None)
    for variable, callee in service.calls.items():
        assert proxy is not None
        found[variable] = f"http://127.0.0.1:{proxy.port}/{callee}"
    return found


def start_lines(topology: TopologyRecord, database: EmbeddedDatabase) -> list[str]:
    """Shell lines that start databases and proxy by hand; the proxy's files lie in `proxy/`."""
    commands = [
        database_command(record, database, topology.customers)
        if record.kind == "database"
        else proxy_command(record, "proxy")
        for record in topology.backing
    ]
    return [f"{shlex.join(command)} &" for command in commands]


def load_lines(topology: TopologyRecord, kind: Kind) -> list[str]:
    """Shell lines that load the data by hand once the servers are ready."""
    lines = []
    for instance, path in loader_requests(kind, topology):
        url = server_url(instance.port)
        lines += [
            f"until curl -fs -o /dev/null {url}/health/ready; do sleep 1; done",
            f"curl -fsS {shlex.quote(url + path)}; echo",
        ]
    return lines


def wait_until_serving(records: Sequence[BackingRecord], children: Sequence[Child]) -> None:
    """Wait until each database or proxy accepts connections.

    Raises:
        PortInUse: a port was taken.
        ServerFailed: one ended, or did not serve in time.
    """
    deadline = time.monotonic() + START_TIMEOUT
    waiting = list(zip(records, children, strict=True))
    while waiting:
        for record, child in waiting:
            code = child.exit_code()
            if code is not None:
                if code == PORT_TAKEN or "Address already in use" in child.last_lines(20):
                    raise PortInUse(
                        f"{record.name} could not open port {record.port}, which something took meanwhile: choose"
                        " other ports with --port"
                    )
                raise ServerFailed(child.how_it_ended())
        waiting = [(record, child) for record, child in waiting if not _accepts(record.port)]
        if waiting and time.monotonic() > deadline:
            late = ", ".join(record.name for record, _ in waiting)
            raise ServerFailed(
                f"{late} did not serve within {START_TIMEOUT:.0f} s: see {waiting[0][1].console}"
            )
        time.sleep(_POLL)


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _pinned(record: BackingRecord) -> list[str]:
    return ["taskset", "-c", ",".join(str(cpu) for cpu in record.cpus)]
