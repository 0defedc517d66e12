# SPDX-License-Identifier: Apache-2.0
"""The images that an arm runs: which they are, whether they fit this host, and the JVMs inside."""

import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard import __version__
from steelyard.errors import BadInput, MissingRequirement
from steelyard.host.docker import Docker, DockerFailed, native_architecture
from steelyard.jvm.identify import parse_identity
from steelyard.paths import ROOT
from steelyard.results.spec import JvmIdentity
from steelyard.results.store import write_atomic
from steelyard.spec.layout import Runtime
from steelyard.workload.schema import Container

BUNDLES = ROOT / "compose"
REGISTRY = "localhost/steelyard"
"""Where a build on this host puts them: a name that no registry has. Published ones have their owner's."""
FLAVOUR = "openj9"
FINGERPRINT_LABEL = "dev.steelyard.fingerprint"
DATABASE_LABEL = "dev.steelyard.database"
"""`embedded` on the stand-in for MongoDB."""
PULL_LIMIT = 1800.0
_LEFT = "# Left by `./steelyard images build`, which replaces it; a file without this line it leaves alone."
LOADGEN = Container(repository="loadgen", flavoured=False)
INJECTOR = "injector"
"""The injectors' image, and its name among the others."""


@dataclass(frozen=True)
class Image:
    """An image that is on this host."""

    reference: str
    """As it was asked for, with a tag."""
    pinned: str
    """The same content by digest, where the engine knows it by one; else the reference."""
    labels: Mapping[str, str]


def bundle_settings(bundle: str, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables as compose sees them for a bundle: of the environment, then of the file `.env` beside it."""
    path = BUNDLES / bundle / ".env"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    told = (line.partition("=") for line in lines if not line.startswith("#"))
    return {name: value.strip("'\"") for name, _, value in told} | dict(environment)


def leave_settings(settings: Mapping[str, str]) -> list[Path]:
    """Write `.env` beside every bundle, so that compose and the harness find what was built; a person's file stays.

    Returns:
        The files that are a person's, and were not written.
    """
    text = "".join(f"{line}\n" for line in (_LEFT, *(f"{name}={value}" for name, value in settings.items())))
    others = []
    for bundle in sorted(BUNDLES.glob("*/compose.yaml")):
        path = bundle.with_name(".env")
        if path.exists() and not path.read_text(encoding="utf-8").startswith(_LEFT):
            others.append(path)
        else:
            write_atomic(path, text)
    return others


def image_reference(
    container: Container,
    jdk: str | None = None,
    build: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> str:
    """The image of a component, with a tag, by the same variables as in `compose/`.

    Args:
        container: what the workload says.
        jdk: a flavour of the project's images (`openj9`, `hotspot`), or a whole image reference.
        build: another tag; of the project's images another version.
        environment: STEELYARD_REGISTRY, STEELYARD_VERSION, STEELYARD_FLAVOUR, and the component's own variable.

    Raises:
        BadInput: the image cannot be had in that flavour or build.
    """
    if jdk is not None and jdk.startswith(("/", ".", "~")):
        raise BadInput(
            f"jdk {jdk} is a folder: an arm in containers takes a flavour (openj9, hotspot) or an image"
        )
    if jdk is not None and not re.fullmatch(r"[a-z0-9]+", jdk):
        if build is not None:
            raise BadInput(f"jdk {jdk} is a whole image: leave build ({build}) out")
        return jdk
    if container.repository is None:
        return _foreign(container, jdk, build, environment)
    registry = environment.get("STEELYARD_REGISTRY") or REGISTRY
    version = build or environment.get("STEELYARD_VERSION") or __version__
    if not container.flavoured:
        if jdk is not None:
            raise BadInput(
                f"the image {container.repository} has no flavours: jdk {jdk} must be a whole image"
            )
        return f"{registry}/{container.repository}:{version}"
    flavour = jdk or environment.get("STEELYARD_FLAVOUR") or FLAVOUR
    return f"{registry}/{container.repository}:{version}-{flavour}"


def _foreign(container: Container, jdk: str | None, build: str | None, environment: Mapping[str, str]) -> str:
    named = environment.get(container.variable) if container.variable else None
    reference = named or container.image or ""
    if jdk is not None:
        raise BadInput(
            f"the image {reference} is not the project's and has no flavours: give jdk as a whole image, not {jdk!r}"
        )
    if build is None:
        return reference
    return f"{re.sub(r'(:[^/:@]+)?(@.*)?$', '', reference)}:{build}"


def find_images(
    docker: Docker,
    wanted: Mapping[str, Container],
    servers: Collection[str],
    jdk: str | None = None,
    build: str | None = None,
    environment: Mapping[str, str] = os.environ,
    compilers: Collection[str] = (),
) -> Runtime:
    """The images of a topology and of the injectors; pulled when they are not on this host.

    Args:
        docker: the container engine.
        wanted: how each kind of component lives in a container.
        servers: those kinds that are weighed, which alone the arm varies.
        jdk: what the servers run on (`image_reference`).
        build: what the servers were built from (`image_reference`).
        environment: variables that say where images are.
        compilers: kinds that compile for the servers, whose JVM must be of the same build.

    Raises:
        MissingRequirement: an image is neither here nor to be had, is for another architecture, or is the project's
            own and does not tell its JVM.
        BadInput: as `image_reference`; or servers and compilers of one topology on different JVMs.
    """
    found: dict[str, Image] = {}
    jvms: dict[str, JvmIdentity | None] = {}
    for kind, container in {**wanted, INJECTOR: LOADGEN}.items():
        varied = (jdk, build) if kind in servers else (None, None)
        reference = image_reference(container, *varied, environment)
        own = container.repository is not None and reference != jdk
        found[kind] = find_image(docker, reference, _advice(container, own))
        if kind == INJECTOR or (kind in {*servers, *compilers} and container.jvm_options is not None):
            earlier = next((other for other in jvms if found[other] == found[kind]), None)
            jvms[kind] = jvms[earlier] if earlier else _jvm(docker, found[kind], own)
    injector_jvm = jvms.pop(INJECTOR)
    assert injector_jvm is not None
    if len({jvm and (jvm.kind, jvm.runtime_version) for jvm in jvms.values()}) > 1:
        listed = ", ".join(
            f"{kind} on {jvm.runtime_version if jvm else 'an unknown one'}" for kind, jvm in jvms.items()
        )
        raise BadInput(
            f"the servers of one topology run on different JVMs ({listed}): give them images with the same one"
        )
    builds = (found[kind].labels.get(FINGERPRINT_LABEL) for kind in wanted if kind in servers)
    return Runtime(
        images={kind: image.pinned for kind, image in found.items()},
        server_jvm=next(iter(jvms.values()), None),
        injector_jvm=injector_jvm,
        build=next((mark for mark in builds if mark), None),
        tools=found[INJECTOR].labels.get(FINGERPRINT_LABEL),
        embedded=frozenset(
            kind for kind, image in found.items() if image.labels.get(DATABASE_LABEL) == "embedded"
        ),
    )


def find_image(docker: Docker, reference: str, advice: str = "pull or build it, then go on") -> Image:
    """An image of this host; pulled when it is not there.

    Raises:
        MissingRequirement: it cannot be had (with the advice), or is for another architecture.
    """
    try:
        described = docker.inspect("image", [reference])[0]
    except DockerFailed:
        try:
            docker.run("pull", "--quiet", reference, timeout=PULL_LIMIT)
        except DockerFailed as error:
            raise MissingRequirement(
                f"the image {reference} is not on this host and cannot be pulled ({error.said}): {advice}"
            ) from error
        described = docker.inspect("image", [reference])[0]
    built_for, here = described["Architecture"], native_architecture()
    if built_for != here:
        raise MissingRequirement(
            f"the image {reference} on this host is for {built_for} and the host is {here}: fetch the right"
            f" one with `docker pull --platform linux/{here} {reference}`"
        )
    return Image(
        reference=reference,
        pinned=_pinned(reference, described.get("RepoDigests") or []),
        labels=(described.get("Config") or {}).get("Labels") or {},
    )


def _advice(container: Container, own: bool) -> str:
    if own:
        return (
            "build it with `./steelyard images build`, or say where and which it is with STEELYARD_REGISTRY,"
            " STEELYARD_VERSION and STEELYARD_FLAVOUR"
        )
    if container.variable is not None:
        return f"say with {container.variable} which image to run instead (docs/containers.md)"
    return "build or pull it on this host, or correct the image in the workload file or the experiment"


def _pinned(reference: str, digests: Iterable[str]) -> str:
    """The reference by the digest that the engine has of its repository; engines leave out the default registry."""
    if "@" in reference:
        return reference
    repository = re.sub(r":[^/:]+$", "", reference)
    names = {repository, repository.removeprefix("docker.io/"), repository.removeprefix("docker.io/library/")}
    known = (text.partition("@") for text in digests)
    return next((f"{repository}@{digest}" for name, _, digest in known if name in names), reference)


def _jvm(docker: Docker, image: Image, required: bool) -> JvmIdentity | None:
    """Ask the JVM inside what it is; `java` prints its settings on standard error."""
    command = ["run", "--rm", "--network=none", "--read-only", "--entrypoint=java", image.pinned]
    try:
        return parse_identity(
            docker.run(*command, "-XshowSettings:properties", "-version", merge_errors=True)
        )
    except (DockerFailed, ValueError) as error:
        if not required:
            return None
        raise MissingRequirement(
            f"the image {image.reference} does not tell its JVM ({error}): build it anew with"
            " `./steelyard images build`"
        ) from error
