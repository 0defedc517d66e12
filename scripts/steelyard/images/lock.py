# SPDX-License-Identifier: Apache-2.0
"""`images/lock.json`: the bases of the images, by digest and platform."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from steelyard.errors import BadInput
from steelyard.images.manifests import Index
from steelyard.paths import ROOT
from steelyard.results.store import write_atomic

LOCK = ROOT / "images" / "lock.json"
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
            if base.index is None:
                found.append(name)
            found += [f"{name} {platform}" for platform, digest in base.platforms.items() if digest is None]
        return found


def read_lock(path: Path = LOCK) -> Lock:
    """Read a lock file.

    Raises:
        BadInput: it is not there or damaged.
    """
    try:
        return Lock.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror})") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadInput(
            f"{path} is damaged: {where}: {first['msg']}; take it from the repository again"
        ) from error


def locked(lock: Lock, found: Mapping[str, Index]) -> Lock:
    """The lock with the digests that registries told. The platforms stay those that it names.

    Raises:
        BadInput: a base is not published for a platform that the lock names.
    """
    bases = {}
    for name, base in lock.root.items():
        index = found[name]
        absent = sorted(set(base.platforms) - set(index.platforms))
        if absent:
            raise BadInput(
                f"{base.reference} is not published for {', '.join(absent)}: choose another tag of it in"
                " images/lock.json, or take the platform out there"
            )
        platforms = {platform: index.platforms[platform] for platform in base.platforms}
        bases[name] = Base(reference=base.reference, index=index.digest, platforms=platforms)
    return Lock(bases)


def lock_text(lock: Lock) -> str:
    """The file's text: always in the same order, so that a difference shows what changed and nothing else."""
    bases = lock.model_dump(mode="json")
    return json.dumps({name: bases[name] for name in sorted(bases)}, indent=2) + "\n"


def write_lock(lock: Lock, path: Path = LOCK) -> None:
    """Write the whole file or nothing (raises NoSpace)."""
    write_atomic(path, lock_text(lock))
