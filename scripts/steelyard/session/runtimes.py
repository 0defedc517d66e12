# SPDX-License-Identifier: Apache-2.0
"""What the arms of a session run on: JDKs and builds of this host, or images; found and asked before the plan is
made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from steelyard.build import BUILDS, checkout, fingerprint
from steelyard.engines.base import Engine
from steelyard.engines.compose.engine import ComposeEngine
from steelyard.engines.compose.images import bundle_settings, find_images
from steelyard.engines.process.engine import ProcessEngine
from steelyard.errors import BadInput
from steelyard.experiment.schema import Deployment, JvmSettings
from steelyard.host.docker import Docker, find_docker
from steelyard.host.java import Jdk, find_hotspot, find_jdk, jdk_of, require_program
from steelyard.paths import ROOT
from steelyard.processes import Children
from steelyard.spec.jitserver import compilers
from steelyard.spec.layout import Runtime
from steelyard.workload.loader import Found


@dataclass
class Runtimes:
    """Finds the runtime of each arm, and remembers what has to be built for it."""

    found: Found
    jdk: Path | None
    """`--jdk`: for arms that name no JDK of their own."""
    builds: dict[str, Path] = field(default_factory=dict)
    """What has to be built: fingerprint -> checkout."""
    builder: Jdk | None = None
    """A JDK for building; None: nothing is built."""
    _docker: Docker | None = None

    def __post_init__(self) -> None:
        # Asking takes seconds, and arms ask for the same.
        self._jdk = cache(lambda name: find_jdk(self.jdk) if name is None else jdk_of(name))
        self._fingerprint = cache(self._mark)
        self._images = cache(self._find_images)

    def runtime(self, deployment: Deployment) -> Runtime:
        """What an arm's components run on.

        Raises:
            MissingRequirement: a JDK, `taskset`, the container engine or an image is missing.
            BadInput: a package that is not there, or no such commit.
        """
        if deployment.engine == "process":
            return self._processes(deployment)
        remote = deployment.jvm.jit == "remote"
        return self._images(deployment.topology, deployment.jdk, deployment.build, remote)

    def refuse_unused(self, deployments: Sequence[Deployment]) -> None:
        """Refuse `--jdk` where no arm runs processes without a JDK of its own (raises BadInput)."""
        if self.jdk is not None and not any(
            one.engine == "process" and one.jdk is None for one in deployments
        ):
            raise BadInput(
                "--jdk chooses the JVM of the process engine, for arms that name none; images bring their own: choose"
                " with --set jdk=hotspot or STEELYARD_FLAVOUR"
            )

    @property
    def docker(self) -> Docker:
        """The container engine (raises MissingRequirement)."""
        if self._docker is None:
            self._docker = find_docker()
        return self._docker

    def versions(self) -> dict[str, str]:
        """Versions of the tools that engines use."""
        if self._docker is None:
            return {}
        return {"docker": self._docker.engine_version, "docker compose": self._docker.compose_version}

    def _processes(self, deployment: Deployment) -> Runtime:
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

    def _find_images(self, topology: str | None, jdk: str | None, build: str | None, remote: bool) -> Runtime:
        _, found = self.found.workload.topology(topology)
        more = compilers(Deployment(jvm=JvmSettings(jit="remote"))) if remote else {}
        kinds = {**found.components, **more}
        places = {kind: one.container for kind, one in kinds.items() if one.container is not None}
        told = bundle_settings(found.bundle or "server")
        return find_images(self.docker, places, found.kinds("server"), jdk, build, told, more)

    def _mark(self, commit: str | None) -> str:
        root = ROOT if commit is None else checkout(commit)
        mark = fingerprint(root)
        self.builds.setdefault(mark, root)
        return mark


def make_engines(
    names: Sequence[str], runtimes: Runtimes, children: Children, session: str
) -> Mapping[str, Engine]:
    """The engines of a session by name; `session` is written on its containers."""
    return {
        name: ProcessEngine(children, BUILDS)
        if name == "process"
        else ComposeEngine(children, runtimes.docker, session)
        for name in dict.fromkeys(names)
    }
