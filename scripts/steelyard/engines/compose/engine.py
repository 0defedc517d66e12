# SPDX-License-Identifier: Apache-2.0
"""The compose engine: base bundle and per-trial override, applied by `docker compose` as a project of its own.

A trial's directory gets `replay/` (the bundle's files and trial.yaml), and a folder for each component, which its
container writes to: `servers/NAME/logs`, `load/NAME` of an injector, and `cache/KIND` where a class cache is used.
"""

import contextlib
import math
import os
import shutil
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import yaml

from steelyard.engines.base import Deployment, find_processes, log_folder
from steelyard.engines.compose import checkpoints
from steelyard.engines.compose.bundle import PASSWORD, SESSION_LABEL, Services, User, override, service_of
from steelyard.engines.compose.images import BUNDLES, database_settings, find_image
from steelyard.engines.compose.project import DOWN_LIMIT, Project, RunningContainer, removal_of
from steelyard.engines.container import uses_cache
from steelyard.host.docker import Docker, DockerFailed
from steelyard.host.ports import require_ports
from steelyard.paths import is_folder
from steelyard.processes import Children
from steelyard.processes.listening import Listener
from steelyard.results.failure import Failure
from steelyard.results.spec import Component, Spec
from steelyard.results.store import report_no_space, write_atomic
from steelyard.workload.schema import ContainerPlace

_DAEMONS = {"dockerd", "containerd"}
_IMAGE_USER = User(1001, 0)
"""Whom the project's images run as; for a harness that runs as root."""
_ROOT = User(0, 0)


@dataclass(frozen=True)
class ComposeEngine:
    """Runs the components of specs in containers on this host."""

    children: Children
    docker: Docker
    session: str

    @property
    def user(self) -> User:
        """Whom containers run as: who is the harness's user on this host, unless that is root."""
        if self.docker.is_rootless:
            return _ROOT
        return User(os.getuid(), os.getgid()) if os.getuid() != 0 else _IMAGE_USER

    def check(self, specs: Sequence[Spec]) -> None:
        """Remove what a crashed session left; refuse Db2 without its settings, missing images, ports that are taken."""
        for bundle in {spec.bundle for spec in specs}:
            database_settings(bundle)
        sweep(self.docker, self.session)
        images = {component.artifact.image: None for spec in specs for component in spec.components}
        for image in images:
            find_image(self.docker, image or "")
        for spec in specs:
            self._checkpoint_file(spec)
        for image in {server.artifact.image for spec in specs for server in spec.checkpoint_servers}:
            checkpoints.require_criu(self.docker, image or "", str(self.user))
        require_ports(sorted({port for spec in specs for port in spec.ports}))

    def daemons(self) -> list[int]:
        """Those of the container engine."""
        return find_processes(_DAEMONS)

    def open(self, spec: Spec, directory: Path) -> "ComposeDeployment":
        """Write `replay/`: the bundle with the override of this trial."""
        bundle, replay = BUNDLES / spec.bundle, directory / "replay"
        # All of its files, the proxy's beside compose.yaml, and nothing else, such as results or an .env of somebody's.
        for path in (bundle / "compose.yaml", *sorted((bundle / "proxy").glob("*.conf"))):
            write_atomic(replay / path.relative_to(bundle), path.read_text(encoding="utf-8"))
        self.write_override(spec, replay / "trial.yaml")
        if text := self._checkpoint_file(spec):
            write_atomic(replay / checkpoints.TAKES, text)
        give_folders(replay, spec.components, self.user)
        return ComposeDeployment(self, spec, directory)

    def write_override(self, spec: Spec, path: Path) -> None:
        """Write what makes the bundle deploy this spec."""
        write_atomic(path, override(spec, self.services(spec), self.user, self.session))

    def _checkpoint_file(self, spec: Spec) -> str:
        """What makes its servers take their checkpoints (raises BadInput: one cannot); empty: none starts from one."""
        servers, bundle = spec.checkpoint_servers, self.services(spec)
        words = {
            server.name: checkpoints.start_words(
                self.docker, server.artifact.image or "", bundle.get(service_of(server, bundle), {})
            )
            for server in servers
        }
        return checkpoints.checkpoint_file(servers, words) if servers else ""

    def services(self, spec: Spec) -> Services:
        """Those of the spec's bundle."""
        bundle = yaml.safe_load((BUNDLES / spec.bundle / "compose.yaml").read_text(encoding="utf-8"))
        services: Services = bundle["services"]
        return services


def sweep(docker: Docker, session: str = "") -> None:
    """Remove what a crash left: containers of a session and of any whose trial lies on this host, empty networks.

    The lock of this host has to be held: then they are nobody's. (The engine may serve other hosts, with locks of their
    own.)
    """
    labels = (SESSION_LABEL, "com.docker.compose.project", "com.docker.compose.project.working_dir")
    shown = "\t".join(f'{{{{.Label "{label}"}}}}' for label in labels)
    with contextlib.suppress(DockerFailed):
        listed = docker.run("ps", "--all", "--filter", f"label={SESSION_LABEL}", "--format", shown)
        for line in sorted(set(listed.splitlines())):
            owner, project, folder = line.split("\t")
            if owner == session or (folder and is_folder(Path(folder))):
                docker.run(*removal_of(project), timeout=DOWN_LIMIT)
    with contextlib.suppress(DockerFailed):
        for network in docker.run("network", "ls", "--quiet", "--filter", f"label={SESSION_LABEL}").split():
            with contextlib.suppress(DockerFailed):  # another host's, with containers in it
                docker.run("network", "rm", network)


class ComposeDeployment(Deployment[RunningContainer]):
    """The containers of one trial."""

    runner = "the container engine"
    contained = True
    asked_before_start = False
    """A name leads to its container before that has a network. Who asks then has its next try a second later: the time
    between questions for the other's hardware address (`retrans_time_ms` of arp(7))."""

    def __init__(self, engine: ComposeEngine, spec: Spec, directory: Path) -> None:
        super().__init__(directory)
        self._engine, self._docker = engine, engine.docker
        self._spec = spec
        self._project = Project(engine.docker, self._directory, engine.children, spec.bundle)
        self._components = {component.name: component for component in spec.components}

    def start(self, components: Sequence[Component]) -> None:
        """Start components, each in a fresh container (also MissingRequirement: an image was removed)."""
        self._make_ready(components)
        names = [component.name for component in components]
        varied = self._spec.model_copy(update={"components": list(self._components.values())})
        file = "trial.yaml" if varied == self._spec else "prepare.yaml"
        if varied != self._spec:
            self._engine.write_override(varied, self._directory / "replay" / file)
        earlier = [self._handles.pop(name) for name in names if name in self._handles]
        for container in earlier:
            container.close()
        if not self._handles and not earlier and PASSWORD in self._engine.services(self._spec):
            self._project.complete(PASSWORD, [file])
        described = self._project.up(names, [file], [container.id for container in earlier])
        for name, entry in zip(names, described, strict=True):
            self._handles[name] = RunningContainer(self._docker, name, entry, self.logs(name) / "console.log")

    def take_checkpoint(self, component: Component) -> None:
        """By a container of its own, which ends and leaves it in a volume (see `Deployment.take_checkpoint`)."""
        self._make_ready([component])
        files = ["trial.yaml", checkpoints.TAKES]
        self._project.complete(component.name, files, self.logs(component.name) / "checkpoint.log")
        self._project.forget(component.name)

    def _make_ready(self, components: Sequence[Component]) -> None:
        """Ports, folders, and what removes the containers when the harness is killed."""
        require_ports(sorted(component.port for component in components if component.port is not None))
        give_folders(self._directory, components, self._engine.user)
        self._components |= {component.name: component for component in components}
        removal = [str(self._docker.client), *removal_of(self._project.name)]
        self._engine.children.on_crash(self._project.name, removal)

    def listens_elsewhere(self, component: Component) -> list[Listener]:
        """By the kernel's tables of the container's network (see `HttpAccess.listens_elsewhere`)."""
        unit, (port, _) = self._handles.get(component.name), self.expected_address(component)
        if unit is None or component.port is None:
            return []
        listeners = unit.listeners()
        is_reached = any(listener.port == port and not listener.is_loopback for listener in listeners)
        return [] if is_reached else listeners

    def expected_address(self, component: Component) -> tuple[int, str]:
        """Inside of its container, where its port of this host leads to."""
        place = component.container or ContainerPlace()
        port = place.status or place.port
        return port, (
            f"0.0.0.0:{port} of its container, where it is asked: let it listen on all addresses inside, or name its"
            " port there (`container: {port: ...}` of the workload)"
        )

    def overhead(self) -> list[int]:
        """The daemons of the container engine, and the shim beside each container."""
        shims: set[int] = set()
        for unit in self._handles.values():
            with contextlib.suppress(psutil.NoSuchProcess):
                shims.add(psutil.Process(unit.pid).ppid())
        return sorted({*self._engine.daemons(), *shims} - {0, 1})

    def out_of_memory(self) -> bool:
        """As the container engine tells of those that have ended."""
        return any(container.out_of_memory for container in self._handles.values())

    def stop(self, names: Iterable[str] | None = None, grace: float = 20.0) -> list[Failure]:
        """End components (see `Deployment.stop`), and keep what they printed."""
        chosen = list(self._handles if names is None else names)
        problems = super().stop(chosen, grace)
        for container in (self._handles[name] for name in chosen if name in self._handles):
            container.keep_console()
        return problems

    def close(self) -> None:
        """Stop everything and remove containers, volumes, network and class caches; logs stay."""
        self.stop()
        for container in self._handles.values():
            container.close()
        shutil.rmtree(self._directory / "cache", ignore_errors=True)
        # What could not be removed stays registered: it is tried once more when the harness ends.
        with contextlib.suppress(DockerFailed):
            self._project.remove()
            self._engine.children.forget_crash(self._project.name)

    def _end(self, units: Sequence[RunningContainer], grace: float) -> None:
        if ids := [container.id for container in units if container.exit_code() is None]:
            # The client's grace is in whole seconds, and none would be SIGKILL at once.
            seconds = str(max(1, math.ceil(grace)))
            self._docker.run(
                "stop", "--time", seconds, *ids, timeout=grace + DOWN_LIMIT, defer_interrupts=True
            )


def give_folders(top: Path, components: Iterable[Component], user: User) -> None:
    """Folders below `top` that components may write to, with all that lies in them.

    Raises:
        NoSpace: they cannot be written.
    """
    for component in components:
        as_image = component.container is not None and component.container.user == "image"
        # Made before an injector makes its own below: the engine would make it root's.
        folders = [top / ("load" if component.role == "injector" else log_folder(component))]
        if uses_cache(component):
            folders.append(top / "cache" / component.kind)
        for folder in folders:
            with report_no_space(folder):
                folder.mkdir(parents=True, exist_ok=True)
                _give_all(folder, None if as_image else user)


def _give_all(top: Path, user: User | None) -> None:
    """Let a user (None: anybody, as nobody knows whom an image runs as) write to a folder and all that lies in it.

    By handles, and no link is followed: whoever may write there already can make a name stand for another file
    meanwhile. A hard link is a name of that file itself, so a file of several names is left alone.
    """
    for _, _, names, folder in os.fwalk(top):
        _give(folder, user, 0o777)
        for name in names:
            try:
                file = os.open(
                    name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder
                )
            except OSError:  # a link, gone, or what the image's user has made and keeps
                continue
            try:
                about = os.fstat(file)
                if stat.S_ISREG(about.st_mode) and about.st_nlink == 1:
                    _give(file, user, 0o666)
            finally:
                os.close(file)


def _give(handle: int, user: User | None, mode: int) -> None:
    if user is None:
        with contextlib.suppress(PermissionError):  # what the image's user has made is its own already
            os.fchmod(handle, mode)
    elif os.getuid() == 0:
        os.fchown(handle, user.uid, user.gid)
