# SPDX-License-Identifier: Apache-2.0
"""The process engine: servers, databases and proxy as processes of this host, each with its own CPUs and port."""

import json
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from steelyard.engines.base import RunningBacking, RunningServer, ServerPackage
from steelyard.engines.preparation import prepare_data
from steelyard.engines.process.backing import (
    EmbeddedDatabase,
    connections,
    database_command,
    load_lines,
    proxy_command,
    proxy_files,
    start_lines,
    wait_until_serving,
)
from steelyard.engines.process.command import (
    inherited_environment,
    replay_script,
    server_command,
    server_environment,
)
from steelyard.engines.process.injector import Loadgen, injector_command, replay_files
from steelyard.engines.process.priming import primed_folder
from steelyard.engines.readiness import ready_message_after, server_info, server_url, wait_until_answered
from steelyard.errors import PortInUse, ServerFailed
from steelyard.experiment.workloads import WORKLOADS
from steelyard.host.ports import require_ports
from steelyard.host.tools import require_nginx
from steelyard.load.injector import InjectorPlan, RunningInjector
from steelyard.processes import Child, Children, process_tree
from steelyard.results.schema import BackingRecord, InstanceRecord, JvmIdentity, TopologyRecord
from steelyard.results.store import no_space, write_atomic

START_TIMEOUT = 300.0
"""Seconds that all servers of a trial may take together; twelve JVMs on two busy cores need about a minute."""
STOP_GRACE = 20.0
_BIND_FAILED = re.compile(r"CWWKO0221E: .*", re.MULTILINE)
"""Liberty stays up without its port when it cannot open it, so waiting for an answer would be in vain."""


class ProcessEngine:
    """Starts servers with `server run` under `taskset`."""

    def __init__(
        self,
        children: Children,
        package: ServerPackage,
        jvm: JvmIdentity,
        loadgen: Loadgen,
        database: EmbeddedDatabase,
    ) -> None:
        self._children = children
        self._package = package
        self._workload = WORKLOADS[package.workload]
        self._jvm = jvm
        self._loadgen = loadgen
        self._database = database

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the sources that the package was built from."""
        return self._package.fingerprint

    def check(self, topologies: Sequence[TopologyRecord]) -> None:
        """Refuse ports that are taken (raises PortInUse), and a proxy where there is none (MissingRequirement)."""
        if any(record.kind == "proxy" for topology in topologies for record in topology.backing):
            require_nginx()
        require_ports(sorted({port for topology in topologies for port in topology.ports}))

    def targets(self, topology: TopologyRecord) -> list[str]:
        """Loopback addresses."""
        proxies = [record.port for record in topology.backing if record.kind == "proxy"]
        return [server_url(port) for port in proxies or [instance.port for instance in topology.instances]]

    def deploy(
        self, topology: TopologyRecord, injectors: Sequence[InjectorPlan], directory: Path
    ) -> "ProcessDeployment":
        """Start the servers of a trial and wait until each has answered (see `Engine.deploy`)."""
        self.check([topology])
        kind = self._workload.kinds[topology.topology]
        instances = [
            one.model_copy(update={"environment": {**one.environment, **connections(one, topology, kind)}})
            for one in topology.instances
        ]
        primed = {
            server: primed_folder(self._package, server, self._jvm, self._children)
            for server in dict.fromkeys(instance.server for instance in instances)
        }
        proxied = {
            f"proxy/{name}": content
            for record in topology.backing
            if record.kind == "proxy"
            for name, content in proxy_files(record, instances, kind.bundle).items()
        }
        servers = replay_script(
            instances,
            self._package,
            self._jvm,
            primed,
            start_lines(topology, self._database),
            load_lines(topology, kind),
        )
        self._write_replay(
            directory, {"servers.sh": servers, **proxied, **replay_files(injectors, self._loadgen)}
        )
        for name, content in proxied.items():
            write_atomic(directory / name, content)
        deployment = ProcessDeployment(self._children, directory, self._loadgen)
        try:
            for record in topology.backing:
                deployment.add_backing(record, self._start_backing(record, directory, topology.customers))
            deployment.wait_for_backing()
            for instance in instances:
                deployment.add(self._start(instance, directory, primed[instance.server]))
            answered = deployment.wait_until_ready(instances)
            prepare_data(kind, topology)
            deployment.describe(instances, answered)
        except BaseException:
            deployment.stop()
            raise
        return deployment

    def _write_replay(self, directory: Path, files: Mapping[str, str]) -> None:
        for name, content in files.items():
            path = directory / "replay" / name
            write_atomic(path, content)
            if name.endswith(".sh"):
                path.chmod(0o755)

    def _start_backing(self, record: BackingRecord, directory: Path, customers: int | None) -> Child:
        if record.kind == "proxy":
            command = proxy_command(record, str((directory / "proxy").resolve()))
        else:
            command = database_command(record, self._database, customers)
        return self._children.spawn(
            record.name,
            command,
            console=directory / "logs" / f"{record.name}.log",
            cwd=directory,
            env=inherited_environment(),
        )

    def _start(self, instance: InstanceRecord, directory: Path, primed: Path) -> Child:
        folder = (directory / "servers" / instance.name).resolve()
        try:
            (folder / "logs").mkdir(parents=True, exist_ok=True)
            shutil.copytree(primed, folder / "usr")
        except (OSError, shutil.Error) as error:
            raise no_space(folder, error if error.errno else OSError(28, str(error))) from error
        return self._children.spawn(
            instance.name,
            server_command(instance, self._package),
            console=folder / "logs" / "console.log",
            cwd=folder,
            env={**inherited_environment(), **server_environment(instance, self._jvm, folder)},
        )


class ProcessDeployment:
    """The processes of one trial."""

    def __init__(self, registry: Children, directory: Path, loadgen: Loadgen) -> None:
        self._registry = registry
        self._directory = directory
        self._loadgen = loadgen
        self._children: list[Child] = []
        self._backing: list[tuple[BackingRecord, Child]] = []
        self.servers: Sequence[RunningServer] = ()
        self.backing: Sequence[RunningBacking] = ()

    def add(self, child: Child) -> None:
        """Take a server process that was started."""
        self._children.append(child)

    def add_backing(self, record: BackingRecord, child: Child) -> None:
        """Take a database or proxy that was started."""
        self._backing.append((record, child))

    def wait_for_backing(self) -> None:
        """Wait until databases and proxy serve (see `wait_until_serving` for errors)."""
        wait_until_serving([record for record, _ in self._backing], [child for _, child in self._backing])
        self.backing = [
            RunningBacking(record.name, record.kind, process_tree(child.pid))
            for record, child in self._backing
        ]

    def wait_until_ready(self, instances: Sequence[InstanceRecord]) -> dict[str, float]:
        """Wait until each server has answered (see `_wait_until_ready` for seconds and errors)."""
        return _wait_until_ready(instances, self._children)

    def describe(self, instances: Sequence[InstanceRecord], answered: Mapping[str, float]) -> None:
        """Read what the servers say of themselves: which data they have, they know only once it is loaded."""
        self.servers = [
            _running(instance, child, answered[instance.name])
            for instance, child in zip(instances, self._children, strict=True)
        ]

    def problems(self) -> list[str]:
        """What ended by itself, one sentence each."""
        watched = [*self._children, *(child for _, child in self._backing)]
        return [child.how_it_ended() for child in watched if child.exit_code() is not None]

    def stop(self) -> list[str]:
        """Stop everything; returns the servers that had to be killed. Their work areas go, their logs stay."""
        alive = [child for child in self._children if child.exit_code() is None]
        self._registry.stop(self._children, grace=STOP_GRACE)
        # Only now: a server that loses its database while it stops would say so in its log.
        self._registry.stop([child for _, child in self._backing], grace=STOP_GRACE)
        for child in self._children:
            folder = self._directory / "servers" / child.name
            shutil.rmtree(folder / "usr", ignore_errors=True)
        return [f"{child.name} did not stop and was killed" for child in alive if child.exit_code() == -9]

    def launch(self, plan: InjectorPlan) -> Child:
        """Write an injector's settings and start it."""
        settings = plan.folder / "settings.json"
        write_atomic(settings, json.dumps({**plan.settings, "output": str(plan.folder)}, indent=1) + "\n")
        return self._registry.spawn(
            plan.name,
            injector_command(plan, self._loadgen, str(settings)),
            console=plan.folder / "console.log",
            cwd=plan.folder,
        )

    def end(self, injectors: Sequence[RunningInjector], grace: float) -> None:
        """SIGTERM, then SIGKILL after `grace` seconds."""
        self._registry.stop([child for child in injectors if isinstance(child, Child)], grace)

    def gc_logs(self, server: str) -> list[Path]:
        """GC log files of a server, oldest first."""
        return sorted((self._directory / "servers" / server / "logs").glob("gc*.log*"))


def _wait_until_ready(instances: Sequence[InstanceRecord], children: Sequence[Child]) -> dict[str, float]:
    """Poll every server until it has answered: seconds from its start to its first answer, by server.

    Raises:
        ServerFailed: one ended, or not all answered within START_TIMEOUT.
        PortInUse: one could not open its port, or somebody else answers there.
    """
    by_name = dict(zip((instance.name for instance in instances), children, strict=True))
    ports = {instance.name: instance.port for instance in instances}

    def check(late: Collection[str]) -> None:
        for child in children:
            if child.exit_code() is not None:
                raise ServerFailed(child.how_it_ended())
        for name in late:
            if by_name[name].console_holds(_BIND_FAILED):
                raise PortInUse(
                    f"{name} could not open port {ports[name]}, which something took meanwhile: choose other ports"
                    " with --port"
                )

    started = {name: child.started for name, child in by_name.items()}
    logs = children[0].console.parent
    answered = wait_until_answered(ports, started, check, START_TIMEOUT, f"see {logs} and its neighbours")
    for instance, child in zip(instances, children, strict=True):
        _refuse_stranger(instance, child)
    return answered


def _refuse_stranger(instance: InstanceRecord, child: Child) -> None:
    """Nobody else's server may be loaded with data, or weighed."""
    info = server_info(instance.port)
    if info.get("pid", child.pid) != child.pid:
        raise PortInUse(
            f"port {instance.port} is answered by process {info['pid']}, not by {instance.name}: stop that process,"
            " or choose other ports with --port"
        )


def _running(instance: InstanceRecord, child: Child, start_seconds: float) -> RunningServer:
    return RunningServer(
        name=instance.name,
        pid=child.pid,
        url=server_url(instance.port),
        start_seconds=start_seconds,
        ready_message_seconds=ready_message_after(child.started, child.console.parent / "messages.log"),
        info=server_info(instance.port),
    )
