# SPDX-License-Identifier: Apache-2.0
"""The bases of the images, by digest: those of `images/lock.json`, or those that `make-bases.sh` made here."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from steelyard.errors import BadInput, MissingRequirement
from steelyard.host.docker import Docker, DockerFailed
from steelyard.paths import CACHE, ROOT
from steelyard.results.store import write_atomic
from steelyard.yamlfile import first_error

LOCK = ROOT / "images" / "lock.json"
MADE_HERE = CACHE / "bases" / "roots"
"""Where `images/local/make-bases.sh` notes what it pushed: NAME.pushed begins with the reference."""
CHOICES = ("lock", "local")
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


class Base(BaseModel):
    """A base image. A digest is null until a registry has been asked for it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reference: str
    index: Digest | None = None
    platforms: dict[str, Digest | None]

    @property
    def pinned(self) -> str | None:
        """The reference by the digest of its index; None until it is locked."""
        return None if self.index is None else f"{self.reference}@{self.index}"


class Lock(RootModel[dict[str, Base]]):
    """All bases by name."""

    def missing(self) -> list[str]:
        """What has no digest yet, as `base` or `base linux/ppc64le`."""
        found = []
        for name, base in sorted(self.root.items()):
            digests = {name: base.index, **{f"{name} {on}": digest for on, digest in base.platforms.items()}}
            found += [what for what, digest in digests.items() if digest is None]
        return found

    def text(self) -> str:
        """The file's text: always in the same order, so that a difference shows what changed and nothing else."""
        return json.dumps(dict(sorted(self.model_dump(mode="json").items())), indent=2) + "\n"


def read_lock(path: Path = LOCK) -> Lock:
    """Read a lock file; one that is not there or damaged raises BadInput."""
    try:
        return Lock.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror})") from error
    except ValidationError as error:
        what = ": ".join(first_error(error))
        raise BadInput(f"{path} is damaged: {what}; take it from the repository again") from error


def write_lock(docker: Docker, path: Path = LOCK) -> Lock:
    """Write the digests that registries tell now, for the platforms that the file names: all of them or nothing.

    Raises:
        MissingRequirement: a registry does not give one of the bases.
        BadInput: a base is not published for one of its platforms.
        NoSpace: the file cannot be written.
    """
    bases = read_lock(path).root.items()
    lock = Lock({name: ask(docker, base.reference, base.platforms) for name, base in bases})
    write_atomic(path, lock.text())
    return lock


def find_bases(docker: Docker, choice: str, made_here: Path = MADE_HERE) -> Lock:
    """The bases by name, with digests as far as they are known; `choice` is `lock` or `local`.

    Raises:
        BadInput: another choice, or the lock file is damaged.
        MissingRequirement: no bases were made here, or their registry does not answer.
    """
    if choice not in CHOICES:
        raise BadInput(f"unknown bases {choice!r}: there are {', '.join(CHOICES)}")
    if choice == "lock":
        return read_lock()
    notes = {path.stem: path.read_text(encoding="utf-8").split() for path in made_here.glob("*.pushed")}
    if not any(notes.values()):
        raise MissingRequirement(
            "no bases were made on this machine: run images/local/setup-engine.sh start and"
            " images/local/make-bases.sh (as root on Debian), or use --bases lock"
        )
    return Lock({name: ask(docker, words[0]) for name, words in notes.items() if words})


def ask(docker: Docker, reference: str, wanted: Mapping[str, object] | None = None) -> Base:
    """What a registry holds under the reference of a base, with a tag; `wanted` are the platforms to note, None: all.

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
    found = {
        f"{entry['platform']['os']}/{entry['platform']['architecture']}": entry["digest"]
        for entry in index.get("manifests") or []
    }
    if not found:
        raise BadInput(
            f"{reference} is an image of one platform, and a base has to be an index: choose another tag"
        )
    found.pop("unknown/unknown", None)  # a builder's attestation
    if absent := sorted(set(wanted or ()) - set(found)):
        raise BadInput(
            f"{reference} is not published for {', '.join(absent)}: choose another tag of it in images/lock.json, or"
            " take the platform out there"
        )
    platforms = {platform: found[platform] for platform in (wanted or sorted(found))}
    return Base(reference=reference, index=index["digest"], platforms=platforms)
