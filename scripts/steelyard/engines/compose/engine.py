# SPDX-License-Identifier: Apache-2.0
"""The compose engine: base bundle and per-trial override, applied by `docker compose` as a project of its own."""

import contextlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

from steelyard.engines.base import RunningBacking, RunningServer
from steelyard.engines.compose.bundle import (
    SESSION_LABEL,
    User,
    injector_folder,
    override,
    server_log_folder,
    targets,
)
from steelyard.engines.compose.container import Container
from steelyard.engines.compose.images import Images
from steelyard.engines.compose.project import DOWN_LIMIT, Project, removal_of
from steelyard.engines.preparation import prepare_data
from steelyard.engines.readiness import ready_message_after, server_info, server_url, wait_until_answered
from steelyard.errors import ServerFailed
from steelyard.experiment.workloads import WORKLOADS, Kind
from steelyard.host.docker import Docker, DockerFailed
from steelyard.host.ports import require_ports
from steelyard.load.injector import InjectorPlan, RunningInjector
from steelyard.paths import ROOT
from steelyard.processes import Children, process_tree
from steelyard.results.schema import BackingRecord, InstanceRecord, TopologyRecord
from steelyard.results.store import no_space, write_atomic

BUNDLES = ROOT / "compose"
START_TIMEOUT = 300.0
"""Seconds that all servers of a trial may take together, as in the process engine."""
HEALTHY_TIMEOUT = 60.0
"""Seconds from the first answer to the container's own health check saying so."""
STOP_GRACE = 20
_IMAGE_USER = User(1001, 0)
"""Whom the images run as; for a harness that runs as root."""


class ComposeEngine:
    """Starts the servers and injectors of a trial in containers on this host."""

    def __init__(
        self, children: Children, docker: Docker, images: Images, workload: str, session: str
    ) -> None:
        self._children = children
        self._docker = docker
        self._images = images
        self._workload = WORKLOADS[workload]
        self._session = session
        self._user = User(os.getuid(), os.getgid()) if os.getuid() != 0 else _IMAGE_USER

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the sources that the server image was built from."""
        return self._images.fingerprint

    def check(self, topologies: Sequence[TopologyRecord]) -> None:
        """Remove what a crashed run of this session left, and refuse ports that are taken (raises PortInUse)."""
        self._sweep()
        require_ports(sorted({port for topology in topologies for port in topology.ports}))

    def targets(self, topology: TopologyRecord) -> list[str]:
        """Names within the trial's network: injectors run in it as well."""
        return targets(topology)

    def deploy(
        self, topology: TopologyRecord, injectors: Sequence[InjectorPlan], directory: Path
    ) -> "ComposeDeployment":
        """Start what a trial deploys, wait until each server has answered and is healthy, load the data."""
        require_ports(sorted(topology.ports))
        kind = self._workload.kinds[topology.topology]
        replay = directory / "replay"
        self._copy_bundle(BUNDLES / kind.bundle, replay)
        text = override(topology, kind, injectors, self._images, self._user, self._session)
        write_atomic(replay / "trial.yaml", text)
        for top in (directory, replay):
            for instance in topology.instances:
                self._own(top / server_log_folder(instance.name))
            self._own(top / "load")
        deployment = ComposeDeployment(
            self._children, self._docker, Project(self._docker, directory), directory
        )
        try:
            deployment.start(topology, kind)
        except BaseException:
            deployment.stop()
            raise
        return deployment

    def _copy_bundle(self, bundle: Path, replay: Path) -> None:
        """All of its files: the proxy's beside compose.yaml; nothing else, such as results or an .env of somebody's."""
        for path in (bundle / "compose.yaml", *sorted((bundle / "proxy").glob("*.conf"))):
            write_atomic(replay / path.relative_to(bundle), path.read_text(encoding="utf-8"))

    def _own(self, folder: Path) -> None:
        """A folder that the containers' user may write to."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if os.getuid() == 0:
                os.chown(folder, self._user.uid, self._user.gid)
        except OSError as error:
            raise no_space(folder, error) from error

    def _sweep(self) -> None:
        """The lock of this host is held, so containers that carry this session's label are nobody's."""
        with contextlib.suppress(DockerFailed):
            label = '{{.Label "com.docker.compose.project"}}'
            filters = ("--filter", f"label={SESSION_LABEL}={self._session}")
            projects = {*self._docker.run("ps", "--all", *filters, "--format", label).split()}
            for project in sorted(projects):
                self._docker.run(*removal_of(project), timeout=DOWN_LIMIT)


class ComposeDeployment:
    """The containers of one trial."""

    def __init__(self, children: Children, docker: Docker, project: Project, directory: Path) -> None:
        self._children = children
        self._docker = docker
        self._project = project
        self._directory = directory
        self._containers: list[Container] = []
        self._beside: list[Container] = []
        self._stopped = False
        self.servers: Sequence[RunningServer] = ()
        self.backing: Sequence[RunningBacking] = ()

    def start(self, topology: TopologyRecord, kind: Kind) -> None:
        """Start databases, servers and proxy, wait until each server has answered and is healthy, load the data.

        Raises:
            ServerFailed: one ended, or not all were ready in time, or the data could not be loaded.
            PortInUse, MissingRequirement: as `Project.up`.
        """
        self._children.on_crash(self._project.name, self._project.removal)
        instances = topology.instances
        # A starting database must not compete with servers whose start is timed; a proxy looks its servers up at once.
        self._start_beside([record for record in topology.backing if record.kind == "database"])
        self._containers = self._up(
            [instance.name for instance in instances],
            [f"{server_log_folder(instance.name)}/console.log" for instance in instances],
        )
        self._start_beside([record for record in topology.backing if record.kind == "proxy"])
        answered = self._wait_until_answered(instances)
        prepare_data(kind, topology)
        self.servers = [
            self._running(instance, container, answered[instance.name])
            for instance, container in zip(instances, self._containers, strict=True)
        ]
        self.backing = [
            RunningBacking(record.name, record.kind, process_tree(container.pid))
            for record, container in zip(topology.backing, self._beside, strict=True)
        ]
        self._refuse_ended()

    def launch(self, plan: InjectorPlan) -> RunningInjector:
        """Start an injector in a container of its own."""
        return self._up([plan.name], [f"{injector_folder(plan.name)}/console.log"])[0]

    def end(self, injectors: Sequence[RunningInjector], grace: float) -> None:
        """SIGTERM, then SIGKILL after `grace` seconds."""
        ours = [injector for injector in injectors if isinstance(injector, Container)]
        running = [container.id for container in ours if container.exit_code() is None]
        if running:
            with contextlib.suppress(DockerFailed):
                self._docker.run("stop", "--time", str(round(grace)), *running, timeout=grace + 60.0)
        for container in ours:
            container.keep_console()

    def problems(self) -> list[str]:
        """What ended by itself, databases and proxy included, one sentence each."""
        return [container.how_it_ended() for container in self._all if container.exit_code() is not None]

    def stop(self) -> list[str]:
        """Stop and remove everything of the trial; returns what did not end by itself. Logs stay."""
        if self._stopped:
            return []
        problems = []
        alive = [container for container in self._all if container.exit_code() is None]
        try:
            if alive:
                problems += self._unhealthy(alive)
                self._project.stop(STOP_GRACE)
                problems += [
                    f"{container.name} did not stop and was killed"
                    for container in alive
                    if container.exit_code() == -9
                ]
            for container in self._all:
                container.keep_console()
        except DockerFailed as error:
            problems.append(
                f"the container engine did not answer while the servers were stopped ({error.said})"
            )
        for container in self._all:
            container.close()
        try:
            self._project.remove()
        except DockerFailed as error:
            # What is registered for a crash stays registered: it is tried once more when the harness ends.
            return [*problems, f"containers of {self._project.name} could not be removed ({error.said})"]
        self._children.forget_crash(self._project.name)
        self._stopped = True
        return problems

    def gc_logs(self, server: str) -> list[Path]:
        """GC log files of a server, oldest first."""
        return sorted((self._directory / server_log_folder(server)).glob("gc*.log*"))

    @property
    def _all(self) -> list[Container]:
        return [*self._containers, *self._beside]

    def _start_beside(self, records: Sequence[BackingRecord]) -> None:
        """Start databases or the proxy, and wait for those whose image has a health check."""
        if not records:
            return
        started = self._up(
            [record.name for record in records], [f"logs/{record.name}.log" for record in records]
        )
        self._beside += started
        self._wait_until_healthy(started)

    def _up(self, services: Sequence[str], consoles: Sequence[str]) -> list[Container]:
        self._project.up(services)
        try:
            described = self._project.containers(services)
        except DockerFailed as error:
            raise ServerFailed(f"the containers that were started cannot be found: {error.said}") from error
        return [
            Container(self._docker, service, entry, self._directory / console)
            for service, console, entry in zip(services, consoles, described, strict=True)
        ]

    def _wait_until_answered(self, instances: Sequence[InstanceRecord]) -> dict[str, float]:
        """Seconds from each server's start to its first answer."""
        answered = wait_until_answered(
            {instance.name: instance.port for instance in instances},
            {container.name: container.started for container in self._containers},
            lambda _late: self._refuse_ended(),
            START_TIMEOUT,
            f"see {self._directory}/servers",
        )
        self._wait_until_healthy(self._containers)
        return answered

    def _running(self, instance: InstanceRecord, container: Container, start_seconds: float) -> RunningServer:
        messages = self._directory / server_log_folder(instance.name) / "messages.log"
        return RunningServer(
            name=instance.name,
            pid=container.pid,
            url=server_url(instance.port),
            start_seconds=start_seconds,
            ready_message_seconds=ready_message_after(container.started, messages),
            info=server_info(instance.port),
            contained=True,
        )

    def _wait_until_healthy(self, containers: Sequence[Container]) -> None:
        """An answer to the harness is not enough: the image's own health check has to agree."""
        deadline = time.monotonic() + HEALTHY_TIMEOUT
        while late := self._not_healthy(containers):
            self._refuse_ended()
            if time.monotonic() > deadline:
                raise ServerFailed(f"{late[0]} runs, but its health check does not say that it serves")
            time.sleep(0.25)

    def _not_healthy(self, containers: Sequence[Container]) -> list[str]:
        """Names of those whose health check does not say healthy; an image without a check counts as healthy."""
        described = self._docker.inspect("container", [container.id for container in containers])
        return [
            container.name
            for container, entry in zip(containers, described, strict=True)
            if (entry["State"].get("Health") or {}).get("Status", "healthy") != "healthy"
        ]

    def _unhealthy(self, containers: Sequence[Container]) -> list[str]:
        return [f"{name} was not healthy at the end" for name in self._not_healthy(containers)]

    def _refuse_ended(self) -> None:
        ended = self.problems()
        if ended:
            raise ServerFailed(ended[0])
