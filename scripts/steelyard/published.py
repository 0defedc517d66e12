# SPDX-License-Identifier: Apache-2.0
"""Packages of the applications and of the injector as a release publishes them: an installed release builds nothing, it
fetches what a session runs, checks it by SHA-256, and keeps it where a checkout keeps its builds.

`release.json` in the wheel is the list; the wheel's own checksum is signed with the release, and so is the list.
"""

import hashlib
import http.client
import os
import shutil
import tarfile
import tempfile
import urllib.request
from collections.abc import Callable, Collection
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel

from steelyard.archives import unpack
from steelyard.errors import MissingRequirement
from steelyard.host.programs import is_whole, write_mark
from steelyard.paths import ROOT

VARIABLE = "STEELYARD_PACKAGES"
"""Environment variable: another folder or address that has the packages."""
_TIMEOUT = 60.0
"""Seconds without a byte, after which a server is given up."""
_CHUNK = 2**20


class PublishedPackage(BaseModel):
    """One archive (.tar.gz) of a release: the content of a package's folder."""

    file: str
    sha256: str
    size: int
    """Bytes."""


class Release(BaseModel):
    """What a wheel says of the release that it belongs to."""

    version: str
    commit: str
    """Of the sources; 12 hexadecimal digits."""
    fingerprint: str
    """Of the sources of the Java parts, as `build.fingerprint` has it."""
    address: str
    """Where the packages are: a folder's address, without a slash at its end."""
    packages: dict[str, PublishedPackage]


def read_release() -> Release:
    """The release that is installed."""
    return Release.model_validate_json((ROOT / "release.json").read_text(encoding="utf-8"))


def fetch_packages(
    names: Collection[str], folder: Path, release: Release, on_package: Callable[[str, int], None]
) -> None:
    """Fetch those of the packages that are not there; each appears whole or not at all.

    Args:
        names: of packages.
        folder: where each has a folder.
        release: which says what they are.
        on_package: called before each with its name and size in bytes.

    Raises:
        MissingRequirement: one cannot be fetched, or is not what was released.
    """
    base = os.environ.get(VARIABLE) or release.address
    for name in names:
        if is_whole(folder / name):
            continue
        if name not in release.packages:
            raise MissingRequirement(f"release {release.version} has no package {name}: run it from a clone")
        package = release.packages[name]
        on_package(name, package.size)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as temporary:
            archive = Path(temporary) / package.file
            _fetch(base, package, archive)
            new = Path(temporary) / name
            with tarfile.open(archive) as packed:
                unpack(packed, new)
            shutil.rmtree(folder / name, ignore_errors=True)
            new.rename(folder / name)
        write_mark(folder / name)


def _fetch(base: str, package: PublishedPackage, target: Path) -> None:
    place = f"{base.rstrip('/')}/{package.file}"
    again = f"try again, or set {VARIABLE} to a folder or address that has it"
    try:
        with _open(place) as source, target.open("wb") as file:
            digest = hashlib.sha256()
            while chunk := source.read(_CHUNK):
                digest.update(chunk)
                file.write(chunk)
    except (OSError, ValueError, http.client.HTTPException) as error:
        cause = getattr(error, "reason", error)  # of an address: what its connection met
        reason = getattr(cause, "strerror", None) or cause
        raise MissingRequirement(f"cannot fetch {place} ({reason}): {again}") from error
    if digest.hexdigest() != package.sha256:
        raise MissingRequirement(
            f"{place} is not what was released (SHA-256 {digest.hexdigest()[:12]}..., not"
            f" {package.sha256[:12]}...): {again}"
        )


def _open(place: str) -> BinaryIO:
    if "://" not in place:
        return Path(place).open("rb")
    opened: BinaryIO = urllib.request.urlopen(place, timeout=_TIMEOUT)
    return opened
