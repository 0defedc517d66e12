# SPDX-License-Identifier: Apache-2.0
"""The record of what was pushed: digests by image and platform. `verify` compares with it, `push --join` reads it."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from steelyard.errors import BadInput
from steelyard.images.lock import Digest
from steelyard.paths import CACHE
from steelyard.results.store import write_atomic

RECORD = CACHE / "images" / "record.json"


class Published(BaseModel):
    """An image that was pushed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: str
    repository: str
    """Registry, path and name, without tag."""
    tags: list[str]
    """Its tags alone (`0.1.0-hotspot`); pushed by digest it has none of them yet."""
    index: Digest | None
    """Digest of the index of all platforms; None when it was pushed by digest."""
    sources: list[Digest]
    """What an index is to be joined of: one digest for each push by digest."""
    platforms: dict[str, Digest]
    sbom: dict[str, str] = {}
    """File with the SPDX document by platform, beside the record."""
    signed: bool = False

    @property
    def pinned(self) -> str:
        """The index by its digest; only for what has one."""
        return f"{self.repository}@{self.index}"


class Record(BaseModel):
    """What one checkout was pushed as."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str
    revision: str
    fingerprint: str
    images: list[Published]

    def of(self, reference: str) -> Published | None:
        """The image that carries this reference (`repository:tag` or `repository@digest`)."""
        for image in self.images:
            digests = {image.index, *image.sources, *image.platforms.values()}
            by_digest = {f"{image.repository}@{digest}" for digest in digests}
            if reference in by_digest | {f"{image.repository}:{tag}" for tag in image.tags}:
                return image
        return None


def read_record(path: Path) -> Record:
    """Read a record.

    Raises:
        BadInput: it is not there or damaged.
    """
    try:
        return Record.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadInput(f"the record {path} cannot be read ({error.strerror})") from error
    except ValidationError as error:
        raise BadInput(f"{path} is no record that `images push` wrote, or of another version") from error


def write_record(path: Path, record: Record) -> None:
    """Write the whole file or nothing (raises NoSpace)."""
    write_atomic(path, record.model_dump_json(indent=2) + "\n")


def joined(records: Sequence[Record]) -> Record:
    """One record of what several machines pushed by digest, each for its own platform. It has no index yet.

    Raises:
        BadInput: they are of different sources, or two hold the same platform of an image.
    """
    first = records[0]
    origin = (first.version, first.revision, first.fingerprint)
    images: dict[str, Published] = {}
    for record in records:
        if (record.version, record.revision, record.fingerprint) != origin:
            raise BadInput(
                f"the records are of different sources ({first.revision[:12]}, build {first.fingerprint}, and"
                f" {record.revision[:12]}, build {record.fingerprint}): push all platforms from one commit"
            )
        for image in record.images:
            before = images.get(image.target)
            images[image.target] = image if before is None else _merged(before, image)
    return Record(
        version=first.version,
        revision=first.revision,
        fingerprint=first.fingerprint,
        images=[*images.values()],
    )


def _merged(one: Published, other: Published) -> Published:
    twice = sorted(set(one.platforms) & set(other.platforms))
    if twice or one.repository != other.repository:
        raise BadInput(
            f"two records hold {one.target} for {', '.join(twice) or one.repository}: join one record of each platform"
        )
    return one.model_copy(
        update={
            "index": None,
            "sources": [*one.sources, *other.sources],
            "platforms": dict(sorted({**one.platforms, **other.platforms}.items())),
        }
    )
