# SPDX-License-Identifier: Apache-2.0
"""An image's content as the registry holds it: its configuration and every file of every layer."""

import json
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.errors import MissingRequirement
from steelyard.images import registry

LIMIT = 600.0


@dataclass(frozen=True)
class Layout:
    """One platform's image, fetched into a folder as an OCI layout."""

    folder: Path
    manifest: dict[str, Any]
    config: dict[str, Any]

    @property
    def compressed_size(self) -> int:
        """Bytes of all layers as they are transferred."""
        return sum(int(layer["size"]) for layer in self.manifest["layers"])

    def layers(self) -> Iterator[Path]:
        """Files of the layers, lowest first."""
        for layer in self.manifest["layers"]:
            yield self._blob(layer["digest"])

    def size(self) -> int:
        """Bytes of all regular files of all layers, unpacked."""
        return sum(member.size for layer in self.layers() for member in _members(layer) if member.isreg())

    def _blob(self, digest: str) -> Path:
        return self.folder / "blobs" / digest.replace(":", "/")


def fetch(reference: str, platform: str, folder: Path) -> Layout:
    """Fetch one platform of an image.

    Raises:
        MissingRequirement: skopeo is missing, or the registry does not give it.
    """
    system, _, architecture = platform.partition("/")
    command = [
        *(
            registry.find_skopeo(),
            f"--override-os={system}",
            f"--override-arch={architecture}",
            "copy",
            "--quiet",
        ),
        *registry.insecure(reference, "--src-tls-verify=false"),
        *(f"docker://{registry.untagged(reference)}", f"oci:{folder}:image"),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        raise registry.explained(reference, done.stderr)
    entry = _json(folder / "index.json")["manifests"][0]
    blobs = folder / "blobs"
    manifest = _json(blobs / entry["digest"].replace(":", "/"))
    config = _json(blobs / manifest["config"]["digest"].replace(":", "/"))
    if config.get("architecture") != architecture:
        raise MissingRequirement(
            f"{reference} is not there for {platform}, only for {config.get('architecture')}"
        )
    return Layout(folder, manifest, config)


def files(layer: Path) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Every entry of a layer with its content (empty for what is no regular file)."""
    with tarfile.open(layer, "r:*") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isreg() else None
            yield member, file.read() if file is not None else b""


def _members(layer: Path) -> Iterator[tarfile.TarInfo]:
    with tarfile.open(layer, "r:*") as archive:
        yield from archive


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
