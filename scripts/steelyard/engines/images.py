# SPDX-License-Identifier: Apache-2.0
"""The images that an arm runs: which they are, what is known of them, and the JVMs inside; whoever can be asked for
them."""

import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from steelyard import __version__
from steelyard.errors import BadInput, MissingRequirement
from steelyard.jvm.identity import JvmIdentity, parse_identity
from steelyard.spec.layout import Runtime
from steelyard.workload.schema import ContainerDescription, Workload

REGISTRY = "localhost/steelyard"
"""Where a build on this host puts them: a name that no registry has. Published ones have their owner's."""
FLAVOUR = "openj9"
FINGERPRINT_LABEL = "dev.steelyard.fingerprint"
WORKLOAD_LABEL = "dev.steelyard.workload"
VERSION_LABEL = "dev.steelyard.workload.version"
DATABASE_LABEL = "dev.steelyard.database"
"""`embedded` on the stand-in for MongoDB."""
LOADGEN = ContainerDescription(repository="loadgen", flavoured=False)
INJECTOR = "injector"
"""The injectors' image, and its name among the others."""


@dataclass(frozen=True)
class Image:
    """An image that is there."""

    reference: str
    """As it was asked for, with a tag."""
    pinned: str
    """The same content by digest, where the engine knows it by one; else the reference."""
    labels: Mapping[str, str]


class Images(Protocol):
    """Where images are, and who can be asked for them."""

    def find(self, wanted: Mapping[str, str]) -> dict[str, Image]:
        """Images by reference; fetched where they are not there.

        Args:
            wanted: references, each with what a person does when it is not to be had.

        Raises:
            MissingRequirement: one cannot be had (with that advice), or is for another architecture.
        """

    def java(self, image: Image) -> str:
        """What the JVM inside prints of its properties and version (raises ValueError: there is none)."""


def by_digest(reference: str, known: Iterable[str]) -> str:
    """The reference by the digest that an engine or a node knows its repository by (`known`: as they name them); as it
    is where none does."""
    if "@" in reference:
        return reference
    repository = re.sub(r":[^/:]+$", "", reference)
    digests = (
        digest
        for name, _, digest in (text.partition("@") for text in known)
        if digest and _full_name(name) == _full_name(repository)
    )
    digest = next(digests, None)
    return reference if digest is None else f"{repository}@{digest}"


def _full_name(repository: str) -> str:
    """With the default registry, which some leave out: a first part is a registry's if it has a dot or a colon, or is
    `localhost` (github.com/distribution/reference, `splitDockerDomain`)."""
    first, slash, rest = repository.partition("/")
    if not slash or not (re.search("[.:]", first) or first == "localhost"):
        first, rest = "docker.io", repository
    return f"{first}/library/{rest}" if first == "docker.io" and "/" not in rest else f"{first}/{rest}"


def image_reference(
    container: ContainerDescription,
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


def _foreign(
    container: ContainerDescription, jdk: str | None, build: str | None, environment: Mapping[str, str]
) -> str:
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
    images: Images,
    wanted: Mapping[str, ContainerDescription],
    servers: Collection[str],
    jdk: str | None = None,
    build: str | None = None,
    environment: Mapping[str, str] = os.environ,
    compilers: Collection[str] = (),
    workload: Workload | None = None,
) -> Runtime:
    """The images of a topology and of the injectors.

    Args:
        images: where they are.
        wanted: how each kind of component lives in a container.
        servers: those kinds that are weighed, which alone the arm varies.
        jdk: what the servers run on (`image_reference`).
        build: what the servers were built from (`image_reference`).
        environment: variables that say where images are.
        compilers: kinds that compile for the servers, whose JVM must be of the same build.
        workload: what the servers must be made for, where their images say it.

    Raises:
        MissingRequirement: an image is neither here nor to be had, is for another architecture, or is the project's
            own and does not tell its JVM.
        BadInput: as `image_reference`; an image of another workload, or of another version of it; or servers and
            compilers of one topology on different JVMs.
    """
    jvms: dict[str, JvmIdentity | None] = {}
    places = {**wanted, INJECTOR: LOADGEN}
    references = {
        component: image_reference(
            place, *((jdk, build) if component in servers else (None, None)), environment
        )
        for component, place in places.items()
    }
    own = {
        component: place.repository is not None and references[component] != jdk
        for component, place in places.items()
    }
    there = images.find(
        {references[component]: _advice(place, own[component]) for component, place in places.items()}
    )
    chosen_images = {component: there[reference] for component, reference in references.items()}
    for component in servers:
        # Somebody's own workload may load the image of another: only the project's belong to one.
        if workload is not None and places[component].repository is not None:
            _require_workload(chosen_images[component], workload)
    for component, container in places.items():
        if component == INJECTOR or (
            component in {*servers, *compilers} and container.jvm_options is not None
        ):
            earlier = next(
                (other for other in jvms if chosen_images[other] == chosen_images[component]), None
            )
            jvms[component] = (
                jvms[earlier] if earlier else jvm_of(images, chosen_images[component], own[component])
            )
    injector_jvm = jvms.pop(INJECTOR)
    assert injector_jvm is not None
    if len({jvm and (jvm.kind, jvm.runtime_version) for jvm in jvms.values()}) > 1:
        listed = ", ".join(
            f"{component} on {jvm.runtime_version if jvm else 'an unknown one'}"
            for component, jvm in jvms.items()
        )
        raise BadInput(
            f"the servers of one topology run on different JVMs ({listed}): give them images with the same one"
        )
    builds = (
        chosen_images[component].labels.get(FINGERPRINT_LABEL) for component in wanted if component in servers
    )
    return Runtime(
        images={component: image.pinned for component, image in chosen_images.items()},
        server_jvm=next(iter(jvms.values()), None),
        injector_jvm=injector_jvm,
        build=next((mark for mark in builds if mark), None),
        tools=chosen_images[INJECTOR].labels.get(FINGERPRINT_LABEL),
        embedded=frozenset(
            component
            for component, image in chosen_images.items()
            if image.labels.get(DATABASE_LABEL) == "embedded"
        ),
    )


def _require_workload(image: Image, workload: Workload) -> None:
    """Refuse an image whose labels tell another workload or version: its load would be another one."""
    content = tuple(image.labels.get(label) for label in (WORKLOAD_LABEL, VERSION_LABEL))
    if all(content) and content != (workload.name, workload.version):
        raise BadInput(
            f"the image {image.reference} holds {' '.join(map(str, content))}, and this experiment is on"
            f" {workload.name} {workload.version}: give an image of that version, or the checkout that the image was"
            " built from"
        )


def jvm_of(images: Images, image: Image, required: bool) -> JvmIdentity | None:
    """The JVM inside an image (raises MissingRequirement: it does not tell, and is `required` to); None: not told."""
    try:
        return parse_identity(images.java(image))
    except ValueError as error:
        if not required:
            return None
        raise MissingRequirement(
            f"the image {image.reference} does not tell its JVM ({error}): build it again with"
            " `./steelyard images build`"
        ) from error


def _advice(container: ContainerDescription, own: bool) -> str:
    if own:
        return (
            "build it with `./steelyard images build`, or say where and which it is with STEELYARD_REGISTRY,"
            " STEELYARD_VERSION and STEELYARD_FLAVOUR"
        )
    if container.variable is not None:
        return f"say with {container.variable} which image to run instead (docs/how-to/build-images.md)"
    return "build or pull it on this host, or correct the image in the workload file or the experiment"
