# SPDX-License-Identifier: Apache-2.0
"""What the servers and injectors of a session run on, engine by engine: a JDK of this host, or images."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard.build import Build
from steelyard.engines.base import Engine
from steelyard.engines.compose.engine import ComposeEngine
from steelyard.engines.compose.images import Images, find_images
from steelyard.engines.process.backing import EmbeddedDatabase
from steelyard.engines.process.engine import ProcessEngine
from steelyard.engines.process.injector import Loadgen
from steelyard.errors import BadInput
from steelyard.experiment.schema import Deployment
from steelyard.experiment.workloads import WORKLOADS
from steelyard.host.docker import Docker, find_docker
from steelyard.host.java import Jdk, find_hotspot, find_jdk
from steelyard.host.tools import require_taskset
from steelyard.processes import Children
from steelyard.results.schema import JvmIdentity


@dataclass(frozen=True)
class JdkToolchain:
    """JDKs of this host, for the process engine."""

    server: Jdk
    injector: Jdk

    @property
    def server_jvm(self) -> JvmIdentity:
        """The JVM of the servers."""
        return self.server.identity

    @property
    def injector_jvm(self) -> JvmIdentity:
        """The JVM of the injectors."""
        return self.injector.identity


@dataclass(frozen=True)
class ImageToolchain:
    """Images and the container engine that runs them, for the compose engine."""

    docker: Docker
    images: Images

    @property
    def server_jvm(self) -> JvmIdentity:
        """The JVM in the server's image."""
        return self.images.server_jvm

    @property
    def injector_jvm(self) -> JvmIdentity:
        """The JVM in the injector's image."""
        return self.images.injector_jvm


Toolchain = JdkToolchain | ImageToolchain


def find_toolchains(
    deployments: Iterable[Deployment], workload: str, jdk: Path | None
) -> dict[str, Toolchain]:
    """What each engine needs on this host, found and asked.

    Args:
        deployments: what is to be deployed, by which engine.
        workload: the application.
        jdk: `--jdk`, for the process engine.

    Raises:
        MissingRequirement: a JDK, `taskset`, the container engine or an image is missing.
        BadInput: `--jdk` without the process engine.
    """
    wanted = list(deployments)
    names = list(dict.fromkeys(deployment.engine for deployment in wanted))
    if jdk is not None and "process" not in names:
        raise BadInput(
            "--jdk chooses the JVM of the process engine; images bring their own (STEELYARD_FLAVOUR)"
        )
    found: dict[str, Toolchain] = {}
    for name in names:
        if name == "process":
            require_taskset()
            server = find_jdk(jdk)
            found[name] = JdkToolchain(server, find_hotspot(server))
        else:
            docker = find_docker()
            kinds = [WORKLOADS[workload].kind(one.topology) for one in wanted if one.engine == name]
            found[name] = ImageToolchain(docker, find_images(docker, workload, kinds))
    return found


def make_engines(
    toolchains: Mapping[str, Toolchain], build: Build | None, children: Children, workload: str, session: str
) -> dict[str, Engine]:
    """The engines of a session.

    Args:
        toolchains: as found.
        build: the Java parts; needed by the process engine only.
        children: registry of child processes.
        workload: the application.
        session: name of the session, written on its containers.

    Raises:
        BadInput: engines whose servers were built from different sources, which nothing could compare.
    """
    engines: dict[str, Engine] = {}
    for name, toolchain in toolchains.items():
        if isinstance(toolchain, ImageToolchain):
            engines[name] = ComposeEngine(children, toolchain.docker, toolchain.images, workload, session)
        else:
            assert build is not None
            loadgen = Loadgen(build.loadgen, toolchain.injector_jvm)
            database = EmbeddedDatabase(build.embedded_mongo, toolchain.injector_jvm)
            engines[name] = ProcessEngine(
                children, build.package(workload), toolchain.server_jvm, loadgen, database
            )
    built = {name: engine.fingerprint for name, engine in engines.items()}
    if len(set(built.values())) > 1:
        raise BadInput(
            "the engines would run servers of different sources ("
            + ", ".join(f"{name}: {mark}" for name, mark in built.items())
            + "): make images of this checkout with `./steelyard images build`"
        )
    return engines
