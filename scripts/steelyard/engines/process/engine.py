# SPDX-License-Identifier: Apache-2.0
"""The process engine: each server JVM a process of this host, with its own CPUs, folders and port."""

import json
import re
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

from steelyard.engines.base import RunningServer, ServerPackage
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
from steelyard.host.ports import require_ports
from steelyard.load.injector import InjectorPlan, RunningInjector
from steelyard.processes import Child, Children
from steelyard.results.schema import InstanceRecord, JvmIdentity, TopologyRecord
from steelyard.results.store import no_space, write_atomic

START_TIMEOUT = 300.0
"""Seconds that all servers of a trial may take together; twelve JVMs on two busy cores need about a minute."""
STOP_GRACE = 20.0
_BIND_FAILED = re.compile(r"CWWKO0221E: .*", re.MULTILINE)
"""Liberty stays up without its port when it cannot open it, so waiting for an answer would be in vain."""


class ProcessEngine:
    """Starts servers with `server run` under `taskset`."""

    def __init__(
        self, children: Children, package: ServerPackage, jvm: JvmIdentity, loadgen: Loadgen
    ) -> None:
        self._children = children
        self._package = package
        self._jvm = jvm
        self._loadgen = loadgen

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the sources that the package was built from."""
        return self._package.fingerprint

    def check(self, topologies: Sequence[TopologyRecord]) -> None:
        """Refuse ports that are taken (raises PortInUse)."""
        require_ports(sorted({instance.port for topology in topologies for instance in topology.instances}))

    def targets(self, topology: TopologyRecord) -> list[str]:
        """Loopback addresses."""
        return [server_url(instance.port) for instance in topology.instances]

    def deploy(
        self, topology: TopologyRecord, injectors: Sequence[InjectorPlan], directory: Path
    ) -> "ProcessDeployment":
        """Start the servers of a trial and wait until each has answered (see `Engine.deploy`)."""
        self.check([topology])
        primed = primed_folder(self._package, self._jvm, self._children)
        replay = {
            "servers.sh": replay_script(topology.instances, self._package, self._jvm, primed),
            **replay_files(injectors, self._loadgen),
        }
        for name, content in replay.items():
            write_atomic(directory / "replay" / name, content)
            if name.endswith(".sh"):
                (directory / "replay" / name).chmod(0o755)
        deployment = ProcessDeployment(self._children, directory, self._loadgen)
        try:
            for instance in topology.instances:
                deployment.add(self._start(instance, directory, primed))
            deployment.wait_until_ready(topology.instances)
        except BaseException:
            deployment.stop()
            raise
        return deployment

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
    """The server processes of one trial."""

    def __init__(self, registry: Children, directory: Path, loadgen: Loadgen) -> None:
        self._registry = registry
        self._directory = directory
        self._loadgen = loadgen
        self._children: list[Child] = []
        self.servers: Sequence[RunningServer] = ()

    def add(self, child: Child) -> None:
        """Take a server process that was started."""
        self._children.append(child)

    def wait_until_ready(self, instances: Sequence[InstanceRecord]) -> None:
        """Wait until each server has answered (see `_wait_until_ready` for errors)."""
        self.servers = _wait_until_ready(instances, self._children)

    def problems(self) -> list[str]:
        """Servers that ended by themselves, one sentence each."""
        return [child.how_it_ended() for child in self._children if child.exit_code() is not None]

    def stop(self) -> list[str]:
        """Stop the servers; returns those that had to be killed. Their work areas go, their logs stay."""
        alive = [child for child in self._children if child.exit_code() is None]
        self._registry.stop(self._children, grace=STOP_GRACE)
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


def _wait_until_ready(instances: Sequence[InstanceRecord], children: Sequence[Child]) -> list[RunningServer]:
    """Poll every server until it has answered.

    Raises:
        ServerFailed: one ended, or not all answered within START_TIMEOUT.
        PortInUse: one could not open its port.
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
    return [
        _running(instance, child, answered[instance.name])
        for instance, child in zip(instances, children, strict=True)
    ]


def _running(instance: InstanceRecord, child: Child, start_seconds: float) -> RunningServer:
    info = server_info(instance.port)
    if info.get("pid", child.pid) != child.pid:
        raise PortInUse(
            f"port {instance.port} is answered by process {info['pid']}, not by {instance.name}: stop that process,"
            " or choose other ports with --port"
        )
    return RunningServer(
        name=instance.name,
        pid=child.pid,
        url=server_url(instance.port),
        start_seconds=start_seconds,
        ready_message_seconds=ready_message_after(child.started, child.console.parent / "messages.log"),
        info=info,
    )
