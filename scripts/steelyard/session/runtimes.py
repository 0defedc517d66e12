# SPDX-License-Identifier: Apache-2.0
"""What the arms of a session run on: JDKs and builds of this host, or images; found and asked before the plan is
made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.build import BUILDS, checkout, fingerprint
from steelyard.engines.base import Engine
from steelyard.engines.compose.engine import ComposeEngine
from steelyard.engines.compose.images import find_images
from steelyard.engines.process.engine import ProcessEngine
from steelyard.errors import BadInput, MissingRequirement
from steelyard.experiment.schema import Deployment
from steelyard.host.docker import Docker, find_docker
from steelyard.host.java import Jdk, find_hotspot, find_jdk, jdk_of, require_program
from steelyard.paths import ROOT
from steelyard.processes import Children
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
    _jdks: dict[str | None, Jdk] = field(default_factory=dict)
    _fingerprints: dict[str | None, str] = field(default_factory=dict)
    _images: dict[tuple[str | None, str | None, str | None], Runtime] = field(default_factory=dict)

    def runtime(self, deployment: Deployment) -> Runtime:
        """What an arm's components run on.

        Raises:
            MissingRequirement: a JDK, `taskset`, the container engine or an image is missing.
            BadInput: a package that is not there, or no such commit.
        """
        return self._processes(deployment) if deployment.engine == "process" else self._containers(deployment)

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
        )

    def _containers(self, deployment: Deployment) -> Runtime:
        _, topology = self.found.workload.topology(deployment.topology)
        key = (deployment.topology, deployment.jdk, deployment.build)
        if key not in self._images:
            places = {
                kind: one.container for kind, one in topology.components.items() if one.container is not None
            }
            servers = topology.kinds("server")
            self._images[key] = find_images(self.docker, places, servers, deployment.jdk, deployment.build)
        return self._images[key]

    def _jdk(self, name: str | None) -> Jdk:
        if name not in self._jdks:
            self._jdks[name] = find_jdk(self.jdk) if name is None else jdk_of(name)
        return self._jdks[name]

    def _fingerprint(self, commit: str | None) -> str:
        if commit not in self._fingerprints:
            root = ROOT if commit is None else checkout(commit)
            mark = fingerprint(root)
            self._fingerprints[commit] = mark
            self.builds.setdefault(mark, root)
        return self._fingerprints[commit]


def make_engines(
    names: Sequence[str], runtimes: Runtimes, children: Children, session: str
) -> Mapping[str, Engine]:
    """The engines of a session by name; `session` is written on its containers."""
    engines: dict[str, Engine] = {}
    for name in dict.fromkeys(names):
        if name == "process":
            engines[name] = ProcessEngine(children, BUILDS)
        elif name == "compose":
            engines[name] = ComposeEngine(children, runtimes.docker, session)
        else:
            raise MissingRequirement(f"this Steelyard has no engine named {name}")
    return engines
