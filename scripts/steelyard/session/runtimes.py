# SPDX-License-Identifier: Apache-2.0
"""What the arms of a session run on: JDKs and builds of this host, or images of this host or of a cluster; found and
asked before the plan is made. And the engines by name, here alone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

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
from steelyard.engines.kubernetes.nodes import examine as examine_cluster
from steelyard.engines.kubernetes.nodes import read_room
from steelyard.engines.kubernetes.placement import check_fits_nodes
from steelyard.engines.process.command import command_line as process_line
from steelyard.engines.process.engine import ProcessEngine, has_quota, require_commands
from steelyard.engines.process.quota import find_parent
from steelyard.errors import BadInput
from steelyard.experiment.schema import ENGINES, DeploymentSettings
from steelyard.host.docker import Docker, find_docker
from steelyard.host.doctor import DoctorFinding
from steelyard.host.java import Jdk, find_hotspot, find_jdk, jdk_of, require_program
from steelyard.host.ports import require_ports
from steelyard.jvm.settings import JvmSettings
from steelyard.paths import ROOT, is_there
from steelyard.processes import Children
from steelyard.results.spec import Spec
from steelyard.spec.jitserver import compilers
from steelyard.spec.layout import Runtime
from steelyard.workload.loader import LoadedWorkload
from steelyard.yamlfile import Scalar


@dataclass(frozen=True)
class ClusterTarget:
    """The cluster and namespace of arms that run in one."""

    context: str | None = None
    namespace: str = NAMESPACE

    def options(self) -> list[str]:
        """The same on the command line."""
        context = ["--context", self.context] if self.context is not None else []
        return context + (["--namespace", self.namespace] if self.namespace != NAMESPACE else [])


LOCAL = ClusterTarget()
"""Kubectl's own choice."""


@dataclass
class RuntimeResolver:
    """Finds the runtime of each arm, and remembers what has to be built for it."""

    workload: LoadedWorkload
    jdk: Path | None
    """`--jdk`: for arms that name no JDK of their own."""
    target: ClusterTarget = LOCAL
    builds: dict[str, Path] = field(default_factory=dict)
    """What has to be built: fingerprint -> checkout."""
    builder: Jdk | None = None
    """A JDK for building; None: nothing is built."""
    injector: Jdk | None = None
    """The HotSpot of the injectors of all arms: that of the first arm that asks (`find_hotspot`)."""
    _docker: Docker | None = None
    _cluster: Cluster | None = None

    def __post_init__(self) -> None:
        # Asking takes seconds, and arms ask for the same.
        self._jdk = cache(lambda name: find_jdk(self.jdk) if name is None else jdk_of(name))
        self._fingerprint = cache(self._mark)
        self._images = cache(self._find_images)
        self._cluster_images = cache(lambda: ClusterImages(self.cluster))
        self._room = cache(lambda: read_room(self.cluster))

    def runtime(
        self, deployment: DeploymentSettings, settings: Mapping[str, Scalar] = MappingProxyType({})
    ) -> Runtime:
        """What an arm's components run on; `settings` are the workload's own.

        Raises:
            MissingRequirement: a JDK, `taskset`, the container engine, the cluster or an image is missing.
            BadInput: a package that is not there, or no such commit.
        """
        return _ENGINES[deployment.engine].find(self, deployment, settings)

    def check_engine(self, spec: Spec) -> Spec:
        """The spec with what belongs beside its figures for its engine's sake.

        Raises:
            BadInput, MissingRequirement: the engine cannot have it (FitsNoNode: with fewer CPUs it might).
        """
        if spec.engine == "process" and has_quota(spec):
            find_parent()
        if spec.engine != "kubernetes":
            return spec
        manifests.require_possible(spec)
        check_fits_nodes(spec, self._room().nodes, self._room().roles)
        bundle_objects(self.cluster, spec)
        return spec.model_copy(update={"notes": [*spec.notes, *manifests.notes(spec)]})

    def refuse_unused(self, deployments: Sequence[DeploymentSettings]) -> None:
        """Refuse `--jdk` where no arm runs processes without a JDK of its own (raises BadInput)."""
        named = [deployment.jdk for deployment in deployments if deployment.engine == "process"]
        if self.jdk is None or None in named:
            return
        if named:
            several = "A,B" if len(set(named)) > 1 else "A"
            raise BadInput(
                "--jdk chooses the JVM of arms that name none, and here every arm names its JDK: choose with"
                f" --set jdk={several}"
            )
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
            cluster = find_cluster(self.target.context, self.target.namespace)
            require_rights(cluster)
            self._cluster = cluster
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
            current = f"is {now}" if now is not None else "is not known"
            raise BadInput(
                f"this session was begun in another cluster ({known}, and that of context"
                f" {self.cluster.context or 'none'} {current}): name it with --context, or start a new session with"
                " `run`"
            )

    def cluster_cpus(self) -> int:
        """Whole CPUs that the nodes of the cluster offer (raises MissingRequirement)."""
        return self._room().cpus

    @property
    def docker(self) -> Docker:
        """The container engine (raises MissingRequirement)."""
        if self._docker is None:
            self._docker = find_docker()
        return self._docker

    def versions(self) -> dict[str, str]:
        """Versions of the tools that engines use."""
        versions = {}
        if self._docker is not None:
            versions["docker"] = self._docker.engine_version
            versions["docker compose"] = self._docker.compose_version
        if self._cluster is not None:
            versions["kubernetes"] = self._cluster.version
            if (authority := self._cluster.authority()) is not None:
                versions[AUTHORITY] = authority
        return versions

    def _processes(self, deployment: DeploymentSettings, _settings: Mapping[str, Scalar]) -> Runtime:
        require_program("taskset")
        jdk = self._jdk(deployment.jdk)
        # One for all arms: on cores that they share, injectors on a faster JVM would be taken for the arm's gain.
        self.injector = self.injector or find_hotspot(jdk)
        tools = self._fingerprint(None)
        self.builder = self.builder or jdk
        packages = {}
        for name, package in self.workload.workload.packages.items():
            if not package.maven:
                path = self.workload.package_path(name)
                if not is_there(path):
                    raise BadInput(f"{self.workload.workload.name}: its package {name} is not there: {path}")
                if package.archive is not None:
                    raise BadInput(f"{self.workload.workload.name}: unpack {path} and name the folder")
                packages[name] = str(path)
        own = any(package.maven for package in self.workload.workload.packages.values())
        return Runtime(
            server_jvm=jdk.identity,
            injector_jvm=self.injector.identity,
            build=self._fingerprint(deployment.build) if own else None,
            tools=tools,
            packages=packages,
            jcmd=(jdk.home / "bin" / "jcmd").exists(),
        )

    def _containers(self, deployment: DeploymentSettings, settings: Mapping[str, Scalar]) -> Runtime:
        return self._images(
            *_image_choice(deployment), DockerImages(self.docker), frozenset(settings.items())
        )

    def _pods(self, deployment: DeploymentSettings, settings: Mapping[str, Scalar]) -> Runtime:
        images = self._cluster_images()
        runtime = self._images(*_image_choice(deployment), images, frozenset(settings.items()))
        return replace(runtime, cpus=self._room().cpus, notes=(self._room().note,))

    def _find_images(
        self,
        topology: str | None,
        jdk: str | None,
        build: str | None,
        remote: bool,
        images: Images,
        settings: frozenset[tuple[str, Scalar]],
    ) -> Runtime:
        loaded = self.workload.choose(topology, dict(settings), in_containers=True)
        _, chosen = loaded.workload.topology(topology)
        more = compilers(DeploymentSettings(jvm=JvmSettings(jit="remote"))) if remote else {}
        places = {
            name: component.container
            for name, component in {**chosen.components, **more}.items()
            if component.container is not None
        }
        of_bundle = bundle_settings(chosen.bundle or "server")
        servers = chosen.kinds("server")
        return find_images(images, places, servers, jdk, build, of_bundle, more, self.workload.workload)

    def _mark(self, commit: str | None) -> str:
        root = ROOT if commit is None else checkout(commit)
        mark = fingerprint(root)
        self.builds.setdefault(mark, root)
        return mark


def _image_choice(deployment: DeploymentSettings) -> tuple[str | None, str | None, str | None, bool]:
    return deployment.topology, deployment.jdk, deployment.build, deployment.jvm.jit == "remote"


def require_startable(specs: Sequence[Spec]) -> None:
    """What can be known of a start without the builds, for it is asked before they are made: ports are free, programs
    are there.

    Raises:
        PortInUse, MissingRequirement: as they say.
    """
    require_commands([spec for spec in specs if spec.engine == "process"])
    require_ports(sorted({port for spec in specs for port in spec.ports}))


def command_line(spec: Spec) -> str:
    """What starts the first server of a spec, as a person would type it (for `plan`)."""
    return _ENGINES[spec.engine].line(spec)


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
    names: Sequence[str], runtimes: RuntimeResolver, children: Children, session: str
) -> Mapping[str, Engine]:
    """The engines of a session by name; `session` is written on its containers and pods."""
    return {name: _ENGINES[name].make(runtimes, children, session) for name in dict.fromkeys(names)}


@dataclass(frozen=True)
class _EngineRecord:
    """What a session has to know of an engine."""

    find: Callable[[RuntimeResolver, DeploymentSettings, Mapping[str, Scalar]], Runtime]
    """What the components of an arm run on; the mapping has the workload's own settings."""
    line: Callable[[Spec], str]
    """What starts the first server, as a person would type it."""
    make: Callable[[RuntimeResolver, Children, str], Engine]
    """The engine, for the session with this id."""


_ENGINES = {
    "process": _EngineRecord(
        find=RuntimeResolver._processes,
        line=lambda spec: process_line(spec.servers[0]),
        make=lambda _, children, __: ProcessEngine(children, BUILDS),
    ),
    "compose": _EngineRecord(
        find=RuntimeResolver._containers,
        line=lambda spec: compose_line(spec.servers[0], spec.bundle),
        make=lambda runtimes, children, session: ComposeEngine(children, runtimes.docker, session),
    ),
    "kubernetes": _EngineRecord(
        find=RuntimeResolver._pods,
        line=lambda _: "kubectl apply -k $TRIAL/replay",
        make=lambda runtimes, children, session: KubernetesEngine(children, runtimes.cluster, session),
    ),
}
