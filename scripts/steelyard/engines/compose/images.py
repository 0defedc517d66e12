# SPDX-License-Identifier: Apache-2.0
"""The images that a session runs: which they are, whether they fit this host, and the JVMs inside."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from steelyard import __version__
from steelyard.errors import MissingRequirement
from steelyard.experiment.workloads import Kind
from steelyard.host.docker import Docker, DockerFailed, native_architecture
from steelyard.jvm.identify import parse_identity
from steelyard.results.schema import JvmIdentity

REGISTRY = "ghcr.io/steelyard"
FLAVOUR = "openj9"
MONGO = "docker.io/library/mongo:8.0"
NGINX = "docker.io/library/nginx:1.28"
"""What the bundles take when nobody says otherwise; images/lock.json has their digests."""
FINGERPRINT_LABEL = "dev.steelyard.fingerprint"
DATABASE_LABEL = "dev.steelyard.database"
"""`embedded` on the stand-in for MongoDB."""
PULL_LIMIT = 1800.0


@dataclass(frozen=True)
class Image:
    """An image that is on this host."""

    reference: str
    """As it was asked for, with a tag."""
    pinned: str
    """The same content by digest, where the engine knows it by one; else the reference."""
    architecture: str
    labels: Mapping[str, str]


@dataclass(frozen=True)
class Images:
    """What a session with the compose engine runs."""

    server: Image
    loadgen: Image
    server_jvm: JvmIdentity
    injector_jvm: JvmIdentity
    database: Image | None = None
    """None where the topologies of the session have none."""
    proxy: Image | None = None

    @property
    def embedded_database(self) -> bool:
        """Whether the database's image is the embedded stand-in and not MongoDB."""
        return self.database is not None and self.database.labels.get(DATABASE_LABEL) == "embedded"

    @property
    def by_role(self) -> dict[str, str]:
        """What each role runs, pinned."""
        found = {
            "server": self.server,
            "loadgen": self.loadgen,
            "database": self.database,
            "proxy": self.proxy,
        }
        return {role: image.pinned for role, image in found.items() if image is not None}

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the Java sources that the server image holds."""
        return self.server.labels.get(FINGERPRINT_LABEL, "")


def references(workload: str, environment: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """Server and injector image by the same variables as in `compose/`: registry, version, flavour."""
    registry = environment.get("STEELYARD_REGISTRY") or REGISTRY
    version = environment.get("STEELYARD_VERSION") or __version__
    flavour = environment.get("STEELYARD_FLAVOUR") or FLAVOUR
    return f"{registry}/{workload}:{version}-{flavour}", f"{registry}/loadgen:{version}"


def find_images(
    docker: Docker, workload: str, kinds: Iterable[Kind], environment: Mapping[str, str] = os.environ
) -> Images:
    """The images of a workload in these topologies; pulled when they are not on this host.

    Raises:
        MissingRequirement: an image is neither here nor to be had, is for another architecture, or has no JVM in it.
    """
    wanted = list(kinds)
    server, loadgen = (_find(docker, reference, _BUILD) for reference in references(workload, environment))
    database = proxy = None
    if any(kind.databases for kind in wanted):
        database = _find(docker, environment.get("STEELYARD_MONGO_IMAGE") or MONGO, _NAME_MONGO)
    if any(kind.proxied for kind in wanted):
        proxy = _find(docker, environment.get("STEELYARD_NGINX_IMAGE") or NGINX, _NAME_NGINX)
    return Images(server, loadgen, _jvm(docker, server), _jvm(docker, loadgen), database, proxy)


_BUILD = (
    "build it with `./steelyard images build`, or say where and which it is with STEELYARD_REGISTRY, STEELYARD_VERSION"
    " and STEELYARD_FLAVOUR"
)
_NAME_MONGO = "say with STEELYARD_MONGO_IMAGE which MongoDB or embedded database to run (docs/containers.md)"
_NAME_NGINX = "say with STEELYARD_NGINX_IMAGE which nginx to run (docs/containers.md)"


def _find(docker: Docker, reference: str, advice: str) -> Image:
    try:
        found = docker.inspect("image", [reference])[0]
    except DockerFailed:
        _pull(docker, reference, advice)
        found = docker.inspect("image", [reference])[0]
    image = Image(
        reference=reference,
        pinned=_pinned(reference, found.get("RepoDigests") or []),
        architecture=str(found["Architecture"]),
        labels=(found.get("Config") or {}).get("Labels") or {},
    )
    _require_architecture(image)
    return image


def _pinned(reference: str, digests: Iterable[str]) -> str:
    """The reference by the digest that the engine has of its repository; engines leave out the default registry."""
    if "@" in reference:
        return reference
    repository = reference.rpartition(":")[0]
    names = {repository, repository.removeprefix("docker.io/"), repository.removeprefix("docker.io/library/")}
    known = (text.partition("@") for text in digests)
    return next((f"{repository}@{digest}" for name, _, digest in known if name in names), reference)


def _pull(docker: Docker, reference: str, advice: str) -> None:
    try:
        docker.run("pull", "--quiet", reference, timeout=PULL_LIMIT)
    except DockerFailed as error:
        raise MissingRequirement(
            f"the image {reference} is not on this host and cannot be pulled ({error.said}): {advice}"
        ) from error


def _require_architecture(image: Image) -> None:
    here = native_architecture()
    if image.architecture != here:
        raise MissingRequirement(
            f"the image {image.reference} on this host is for {image.architecture} and the host is {here}: fetch the"
            f" right one with `docker pull --platform linux/{here} {image.reference}`"
        )


def _jvm(docker: Docker, image: Image) -> JvmIdentity:
    """Ask the JVM inside what it is; `java` prints its settings on standard error."""
    command = ["run", "--rm", "--network=none", "--read-only", "--entrypoint=java", image.pinned]
    try:
        return parse_identity(
            docker.run(*command, "-XshowSettings:properties", "-version", merge_errors=True)
        )
    except (DockerFailed, ValueError) as error:
        raise MissingRequirement(
            f"the image {image.reference} does not tell its JVM ({error}): build it anew with"
            " `./steelyard images build`"
        ) from error
