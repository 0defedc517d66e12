# SPDX-License-Identifier: Apache-2.0
"""The bases of the images: what `FROM` lines of CONTAINERFILES name, or what `make-bases.sh` made here.

Such a line (`FROM docker.io/library/busybox:1.37-musl@sha256:... AS tools`) is what the update robot reads and keeps.
Its digest may be missing, for a release alone it may not.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from steelyard.errors import BadInput, MissingRequirement
from steelyard.host.docker import Docker, DockerFailed
from steelyard.images.catalogue import all_platforms
from steelyard.paths import CACHE, ROOT
from steelyard.processes import child_environment
from steelyard.results.store import write_atomic

CONTAINERFILES = ("images/*/Containerfile", "scripts/bench/planted/Containerfile")
"""Of a checkout: all that name a base in a registry."""
OTHERS = "others"
"""Folder whose Containerfile names images of others that are taken as they are; nothing is built of them."""
MADE_HERE = CACHE / "bases" / "roots"
"""Where `images/local/make-bases.sh` notes what it pushed: NAME.pushed begins with the reference."""
CHOICES = ("published", "local")
_FROM = re.compile(r"^FROM (\w[\w.:-]*/[\w./:-]+)(?:@(sha256:[0-9a-f]{64}))? AS (\w+)$", re.MULTILINE)


class Base(NamedTuple):
    """A base image."""

    reference: str
    """With a tag."""
    digest: str | None = None
    """Of its index; None until it is locked."""

    @property
    def full_reference(self) -> str:
        """The reference, by digest where there is one."""
        return self.reference if self.digest is None else f"{self.reference}@{self.digest}"


Bases = Mapping[str, Base]
"""By name: the stage of the `FROM` line, and in capitals the argument BASE_NAME that replaces it."""


def read_bases(root: Path = ROOT) -> dict[str, Base]:
    """The bases that the Containerfiles name; two that differ under one name raise BadInput."""
    return _read(path for path in container_files(root) if path.parent.name != OTHERS)


def read_others(root: Path = ROOT) -> dict[str, Base]:
    """Databases, proxies and the scanner that are taken as they are published, by name."""
    return _read(path for path in container_files(root) if path.parent.name == OTHERS)


def container_files(root: Path = ROOT) -> list[Path]:
    """The files of a checkout that name bases."""
    return sorted(path for pattern in CONTAINERFILES for path in root.glob(pattern))


def _read(paths: Iterable[Path]) -> dict[str, Base]:
    bases: dict[str, Base] = {}
    for path in paths:
        for reference, digest, name in _FROM.findall(path.read_text(encoding="utf-8")):
            base = Base(reference, digest or None)
            if bases.setdefault(name, base) != base:
                raise BadInput(
                    f"{path} has {base.full_reference} as {name}, another file {bases[name].full_reference}:"
                    " take one of them for both"
                )
    return bases


def find_unlocked(bases: Bases) -> list[str]:
    """Names of those without a digest."""
    return sorted(name for name, base in bases.items() if base.digest is None)


def lock(docker: Docker, root: Path = ROOT) -> dict[str, Base]:
    """Write the digests that registries tell now into the Containerfiles: all of them or nothing.

    Raises:
        MissingRequirement: a registry does not give one of the bases.
        BadInput: a base is not published for one of the platforms that images are made for. Others' images need not be.
        NoSpace: a file cannot be written.
    """
    platforms = all_platforms()
    bases = {name: ask(docker, base.reference, platforms) for name, base in read_bases(root).items()}
    bases |= {name: ask(docker, base.reference) for name, base in read_others(root).items()}
    for path in container_files(root):
        text = path.read_text(encoding="utf-8")
        new = _FROM.sub(lambda line: f"FROM {bases[line[3]].full_reference} AS {line[3]}", text)
        if new != text:
            write_atomic(path, new)
    return bases


def bases_here(docker: Docker, platform: str, on_line: Callable[[str], None]) -> tuple[str, dict[str, Base]]:
    """Where the bases come from that this host can have, and which they are, for a build that says nothing of it.

    Published ones where their registry answers; else those that are made now, of packages, for one platform.

    Raises:
        MissingRequirement: neither is possible.
    """
    published = read_bases()
    try:
        ask(docker, published["tools"].full_reference)
    except MissingRequirement as error:
        on_line(f"{error}: bases are made of this machine's packages, which leaves OpenJ9 out")
        for command in (["setup-engine.sh", "start"], ["make-bases.sh", "-p", platform]):
            script = ROOT / "images" / "local" / command[0]
            if (
                subprocess.call(
                    [str(script), *command[1:]],
                    env=child_environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=sys.stderr,
                )
                != 0
            ):
                raise MissingRequirement(
                    "no base can be had: it says why above; go on where the registry can be reached, or give your own"
                    " with `docker compose up --build` (docs/how-to/build-images.md)"
                ) from error
        return "local", find_bases(docker, "local")
    if missing := find_unlocked(published):
        on_line(
            f"bases by their tags, as no digest is locked ({', '.join(missing)}): good for all but a release"
        )
    return "published", published


def find_bases(docker: Docker, choice: str, made_here: Path = MADE_HERE) -> dict[str, Base]:
    """The bases by name; `choice` is `published` (as the Containerfiles say) or `local`.

    Raises:
        BadInput: another choice, or the Containerfiles contradict each other.
        MissingRequirement: no bases were made here, or their registry does not answer.
    """
    if choice not in CHOICES:
        raise BadInput(f"unknown bases {choice!r}: there are {', '.join(CHOICES)}")
    if choice == "published":
        return read_bases()
    notes = {path.stem: path.read_text(encoding="utf-8").split() for path in made_here.glob("*.pushed")}
    if not any(notes.values()):
        raise MissingRequirement(
            "no bases were made on this machine: run images/local/setup-engine.sh start and"
            " images/local/make-bases.sh (as root on Debian), or use --bases published"
        )
    bases: dict[str, Base] = {}
    lost: list[MissingRequirement] = []
    for name, words in notes.items():
        try:
            bases |= {name: ask(docker, words[0])} if words else {}
        except MissingRequirement as error:  # of an earlier registry; it may be none that is needed
            lost.append(error)
    if not bases:
        raise lost[0]
    return bases


def ask(docker: Docker, reference: str, wanted: Sequence[str] = ()) -> Base:
    """What a registry holds under the reference of a base, with a tag.

    Raises:
        MissingRequirement: it cannot be reached, wants a login, or does not know the reference.
        BadInput: it is an image of one platform, or is not there for one that is wanted.
    """
    try:
        printed = docker.run(
            "buildx", "imagetools", "inspect", reference, "--format", "{{json .Manifest}}", timeout=120.0
        )
    except DockerFailed as error:
        raise MissingRequirement(f"the registry does not give {reference} ({error.said})") from error
    index = json.loads(printed)
    platforms = {
        f"{entry['platform']['os']}/{entry['platform']['architecture']}"
        for entry in index.get("manifests") or []
    }
    if wanted and not platforms:
        raise BadInput(
            f"{reference} is an image of one platform, and a base has to be an index: choose another tag"
        )
    if absent := sorted(set(wanted) - platforms):
        raise BadInput(f"{reference} is not published for {', '.join(absent)}: choose another tag of it")
    return Base(reference, index["digest"])
