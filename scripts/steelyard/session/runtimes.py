# SPDX-License-Identifier: Apache-2.0
"""What the arms of a session run on: JDKs and builds of this host, or images of this host or of a cluster; found and
asked before the plan is made. And the engines by name, here alone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from steelyard.analysis.across import AUTHORITY
from steelyard.build import BUILDS, checkout, fingerprint
from steelyard.engines.base import Engine
from steelyard.engines.compose.bundle import command_line as compose_line
from steelyard.engines.compose.engine import ComposeEngine
from steelyard.engines.compose.images import DockerImages, bundle_settings
from steelyard.engines.images import Images, find_images
from steelyard.engines.kubernetes import manifests
from steelyard.engines.kubernetes.cluster import NAMESPACE, Cluster, find_cluster
from steelyard.engines.kubernetes.engine import KubernetesEngine, bundle_objects, require_rights
from steelyard.engines.kubernetes.images import ClusterImages
from steelyard.engines.kubernetes.nodes import allocatable_cpus
from steelyard.engines.kubernetes.nodes import examine as examine_cluster
from steelyard.engines.process.command import command_line as process_line
from steelyard.engines.process.engine import ProcessEngine, require_commands
from steelyard.errors import BadInput
from steelyard.experiment.schema import ENGINES, DeploymentSettings
from steelyard.host.docker import Docker, find_docker
from steelyard.host.doctor import DoctorFinding
from steelyard.host.java import Jdk, find_hotspot, find_jdk, jdk_of, require_program
from steelyard.host.ports import require_ports
from steelyard.jvm.settings import JvmSettings
from steelyard.paths import ROOT
from steelyard.processes import Children
from steelyard.results.spec import Spec
from steelyard.spec.jitserver import compilers
from steelyard.spec.layout import Runtime
from steelyard.workload.loader import LoadedWorkload


@dataclass(frozen=True)
class ClusterTarget:
    """The cluster and namespace of arms that run in one."""

    context: str | None = None
    namespace: str = NAMESPACE

    def options(self) -> list[str]:
        """The same on the command line."""
        found = ["--context", self.context] if self.context is not None else []
        return found + (["--namespace", self.namespace] if self.namespace != NAMESPACE else [])


LOCAL = ClusterTarget()
"""Kubectl's own choice."""


@dataclass
class Runtimes:
    """Finds the runtime of each arm, and remembers what has to be built for it."""

    found: LoadedWorkload
    jdk: Path | None
    """`--jdk`: for arms that name no JDK of their own."""
    target: ClusterTarget = LOCAL
    builds: dict[str, Path] = field(default_factory=dict)
    """What has to be built: fingerprint -> checkout."""
    builder: Jdk | None = None
    """A JDK for building; None: nothing is built."""
    _docker: Docker | None = None
    _cluster: Cluster | None = None

    def __post_init__(self) -> None:
        # Asking takes seconds, and arms ask for the same.
        self._jdk = cache(lambda name: find_jdk(self.jdk) if name is None else jdk_of(name))
        self._fingerprint = cache(self._mark)
        self._images = cache(self._find_images)
        self._cluster_images = cache(lambda: ClusterImages(self.cluster))
        self._allocatable_cpus = cache(lambda: allocatable_cpus(self.cluster))

    def runtime(self, deployment: DeploymentSettings) -> Runtime:
        """What an arm's components run on.

        Raises:
            MissingRequirement: a JDK, `taskset`, the container engine, the cluster or an image is missing.
            BadInput: a package that is not there, or no such commit.
        """
        finds = {"process": self._processes, "compose": self._containers, "kubernetes": self._pods}
        return finds[deployment.engine](deployment)

    def fitted(self, spec: Spec) -> Spec:
        """The spec with what belongs beside its figures for its engine's sake.

        Raises:
            BadInput, MissingRequirement: the engine cannot have it.
        """
        if spec.engine != "kubernetes":
            return spec
        manifests.require_possible(spec)
        bundle_objects(self.cluster, spec)
        return spec.model_copy(update={"notes": [*spec.notes, *manifests.notes(spec)]})

    def refuse_unused(self, deployments: Sequence[DeploymentSettings]) -> None:
        """Refuse `--jdk` where no arm runs processes without a JDK of its own (raises BadInput)."""
        if self.jdk is not None and not any(
            one.engine == "process" and one.jdk is None for one in deployments
        ):
            raise BadInput(
                "--jdk chooses the JVM of the process engine, for arms that name none; images bring their own: choose"
                " with --set jdk=hotspot or STEELYARD_FLAVOUR"
            )

    def container_engine(self, names: Iterable[str]) -> Docker | None:
        """The container engine where engines of these names need one (raises MissingRequirement)."""
        return self.docker if "compose" in names else None

    @property
    def cluster(self) -> Cluster:
        """The cluster, in which a session may be made (raises MissingRequirement)."""
        if self._cluster is None:
            found = find_cluster(self.target.context, self.target.namespace)
            require_rights(found)
            self._cluster = found
        return self._cluster

    def require_same_cluster(self, versions: Mapping[str, str]) -> None:
        """Refuse to go on with a session in another cluster than that of these versions: its trials would be mixed.

        Raises:
            BadInput: it is another, or nobody can tell.
            MissingRequirement: the cluster does not answer.
        """
        before, now = versions.get(AUTHORITY), self.cluster.authority()
        if before is None or before != now:
            known = "it is not known which" if before is None else f"its certificate authority is {before}"
            told = f"is {now}" if now is not None else "is not told"
            raise BadInput(
                f"this session was begun in another cluster ({known}, and that of context"
                f" {self.cluster.context or 'none'} {told}): name it with --context, or start a new session with `run`"
            )

    @property
    def docker(self) -> Docker:
        """The container engine (raises MissingRequirement)."""
        if self._docker is None:
            self._docker = find_docker()
        return self._docker

    def versions(self) -> dict[str, str]:
        """Versions of the tools that engines use."""
        found = {}
        if self._cluster is not None:
            found = {"kubernetes": self._cluster.version}
            if (authority := self._cluster.authority()) is not None:
                found[AUTHORITY] = authority
        if self._docker is None:
            return found
        return {
            "docker": self._docker.engine_version,
            "docker compose": self._docker.compose_version,
            **found,
        }

    def _processes(self, deployment: DeploymentSettings) -> Runtime:
        require_program("taskset")
        jdk = self._jdk(deployment.jdk)
        injector = find_hotspot(jdk)
        tools = self._fingerprint(None)
        self.builder = self.builder or jdk
        packages = {}
        for name, package in self.found.workload.packages.items():
            if not package.maven:
                path = self.found.package_path(name)
                if not path.exists():
                    raise BadInput(f"{self.found.workload.name}: its package {name} is not there: {path}")
                if package.archive is not None:
                    raise BadInput(f"{self.found.workload.name}: unpack {path} and name the folder")
                packages[name] = str(path)
        own = any(package.maven for package in self.found.workload.packages.values())
        return Runtime(
            server_jvm=jdk.identity,
            injector_jvm=injector.identity,
            build=self._fingerprint(deployment.build) if own else None,
            tools=tools,
            packages=packages,
            jcmd=(jdk.home / "bin" / "jcmd").exists(),
        )

    def _containers(self, deployment: DeploymentSettings) -> Runtime:
        return self._images(*_asked(deployment), DockerImages(self.docker))

    def _pods(self, deployment: DeploymentSettings) -> Runtime:
        found = self._images(*_asked(deployment), self._cluster_images())
        cpus, notes = self._allocatable_cpus()
        return replace(found, cpus=cpus, notes=notes)

    def _find_images(
        self, topology: str | None, jdk: str | None, build: str | None, remote: bool, images: Images
    ) -> Runtime:
        _, found = self.found.workload.topology(topology)
        more = compilers(DeploymentSettings(jvm=JvmSettings(jit="remote"))) if remote else {}
        kinds = {**found.components, **more}
        places = {kind: one.container for kind, one in kinds.items() if one.container is not None}
        told = bundle_settings(found.bundle or "server")
        return find_images(images, places, found.kinds("server"), jdk, build, told, more, self.found.workload)

    def _mark(self, commit: str | None) -> str:
        root = ROOT if commit is None else checkout(commit)
        mark = fingerprint(root)
        self.builds.setdefault(mark, root)
        return mark


def _asked(deployment: DeploymentSettings) -> tuple[str | None, str | None, str | None, bool]:
    return deployment.topology, deployment.jdk, deployment.build, deployment.jvm.jit == "remote"


def require_startable(specs: Sequence[Spec]) -> None:
    """What can be known of a start without the builds, for it is asked before they are made: ports are free, programs
    are there.

    Raises:
        PortInUse, MissingRequirement: as they say.
    """
    require_commands([one for one in specs if one.engine == "process"])
    require_ports(sorted({port for one in specs for port in one.ports}))


def command_line(spec: Spec) -> str:
    """What starts the first server of a spec, as a person would type it (for `plan`)."""
    server = spec.servers[0]
    lines: dict[str, Callable[[], str]] = {
        "process": lambda: process_line(server),
        "compose": lambda: compose_line(server, spec.bundle),
        "kubernetes": lambda: "kubectl apply -k $TRIAL/replay",
    }
    return lines[spec.engine]()


def examine_target(engine: str, target: ClusterTarget) -> list[DoctorFinding] | None:
    """What would disturb a measurement where an engine runs components; None: that is this host.

    Raises:
        BadInput: there is no such engine.
        MissingRequirement: the cluster does not answer.
    """
    if engine not in ENGINES:
        raise BadInput(f"unknown engine {engine!r}: there are {', '.join(ENGINES)}")
    return examine_cluster(find_cluster(target.context, target.namespace)) if engine == "kubernetes" else None


def make_engines(
    names: Sequence[str], runtimes: Runtimes, children: Children, session: str
) -> Mapping[str, Engine]:
    """The engines of a session by name; `session` is written on its containers and pods."""
    made: dict[str, Callable[[], Engine]] = {
        "process": lambda: ProcessEngine(children, BUILDS),
        "compose": lambda: ComposeEngine(children, runtimes.docker, session),
        "kubernetes": lambda: KubernetesEngine(children, runtimes.cluster, session),
    }
    return {name: made[name]() for name in dict.fromkeys(names)}
