# SPDX-License-Identifier: Apache-2.0
"""The images of this host's container engine, and the settings of bundles that say which they are."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard.engines.images import Image, by_digest
from steelyard.errors import MissingRequirement
from steelyard.host.docker import Docker, DockerFailed, native_architecture
from steelyard.jvm.identity import QUESTION
from steelyard.paths import ROOT
from steelyard.results.store import write_atomic

BUNDLES = ROOT / "compose"
PULL_LIMIT = 1800.0
_LEFT = "# Left by `./steelyard images build`, which replaces it; a file without this line it leaves alone."


def bundle_settings(bundle: str, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables as compose sees them for a bundle: of the environment, then of the file `.env` beside it."""
    path = BUNDLES / bundle / ".env"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    entries = (line.partition("=") for line in lines if not line.startswith("#"))
    return {name: value.strip("'\"") for name, _, value in entries} | dict(environment)


_OF_DATABASES = re.compile(r"\$\{(STEELYARD_(?:DB2_(?!IMAGE\b)\w+|(?:MONGO|POSTGRESQL)_USER))\b")
_DRIVER = "STEELYARD_DB2_DRIVER"


def database_settings(bundle: str, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What a bundle's database is given beside its image: its user; licence, password and driver of Db2. The driver's
    folder is absolute: compose reads a trial's files from another place.

    Raises:
        MissingRequirement: one of Db2's is not set.
    """
    text = (BUNDLES / bundle / "compose.yaml").read_text(encoding="utf-8")
    names, settings = dict.fromkeys(_OF_DATABASES.findall(text)), bundle_settings(bundle, environment)
    given = {name: settings[name] for name in names if settings.get(name)}
    if missing := [name for name in names if name not in given and name.startswith("STEELYARD_DB2_")]:
        raise MissingRequirement(f"Db2 needs {', '.join(missing)}: set them as docs/how-to/databases.md says")
    if _DRIVER in given:
        given[_DRIVER] = str(BUNDLES / bundle / Path(given[_DRIVER]).expanduser())
    return given


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


@dataclass(frozen=True)
class DockerImages:
    """Images of this host's container engine; pulled when they are not there."""

    docker: Docker

    def find(self, wanted: Mapping[str, str]) -> dict[str, Image]:
        """Images by reference (see `Images.find`)."""
        return {reference: find_image(self.docker, reference, advice) for reference, advice in wanted.items()}

    def java(self, image: Image) -> str:
        """What the JVM inside prints (see `Images.java`): its settings, on standard error."""
        command = ["run", "--rm", "--network=none", "--read-only", "--entrypoint=java", image.pinned]
        try:
            return self.docker.run(*command, *QUESTION, merge_errors=True)
        except DockerFailed as error:
            raise ValueError(error) from error


_NOT_PUBLISHED = "no matching manifest for"
"""What the engine says of an image that is there for other platforms: Db2 on arm64, MongoDB on ppc64le."""


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
            if _NOT_PUBLISHED in error.detail:
                raise MissingRequirement(
                    f"the image {reference} is not published for linux/{native_architecture()}: take a topology without"
                    " it (`./steelyard list` and the workload's page say which there are), or another host"
                ) from error
            raise MissingRequirement(
                f"the image {reference} is not on this host and cannot be pulled ({error.detail}): {advice}"
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
        pinned=by_digest(reference, described.get("RepoDigests") or []),
        labels=(described.get("Config") or {}).get("Labels") or {},
    )
