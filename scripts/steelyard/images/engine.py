# SPDX-License-Identifier: Apache-2.0
"""What images and containers the engine has of ours."""

from collections.abc import Sequence

from steelyard.errors import MissingRequirement
from steelyard.host.docker import Docker, DockerFailed
from steelyard.images.verify import Subject, is_ours, subject_of_image


def named_images(docker: Docker, references: Sequence[str]) -> list[Subject]:
    """Images by reference.

    Raises:
        MissingRequirement: one is not in the engine.
    """
    return [_image(docker, reference) for reference in references]


def present_images(docker: Docker, references: Sequence[str]) -> list[Subject]:
    """Those of the references that are in the engine."""
    here = set(docker.run("image", "ls", "--format", "{{.Repository}}:{{.Tag}}").split())
    return [_image(docker, reference) for reference in references if reference in here]


def containers(docker: Docker) -> list[Subject]:
    """What every container of ours was started from, running or not.

    A container may run an image whose tag has moved on: it is looked up by the digest that the container holds.
    """
    names = docker.run("ps", "--all", "--quiet", "--no-trunc").split()
    found = []
    for described in docker.inspect("container", names) if names else []:
        labels = described["Config"].get("Labels") or {}
        if not is_ours(labels):
            continue
        reference = str(described["Config"]["Image"])
        try:
            image = docker.inspect("image", [described["Image"]])[0]
        except DockerFailed:
            image = {"Id": described["Image"], "Os": "linux", "Config": {"Labels": labels}}
        found.append(subject_of_image(reference, image, str(described["Name"]).lstrip("/")))
    return found


def _image(docker: Docker, reference: str) -> Subject:
    try:
        return subject_of_image(reference, docker.inspect("image", [reference])[0])
    except DockerFailed as error:
        raise MissingRequirement(
            f"the image {reference} is not on this host: build it with `./steelyard images build`, or pull it"
        ) from error
