# SPDX-License-Identifier: Apache-2.0
"""An image's content as the registry holds it: its configuration and every file of every layer."""

import json
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Layout:
    """One platform's image, fetched as an OCI layout."""

    blobs: Path
    manifest: dict[str, Any]
    config: dict[str, Any]

    @property
    def compressed_size(self) -> int:
        """Bytes of all layers as they are transferred."""
        return sum(int(layer["size"]) for layer in self.manifest["layers"])

    def layers(self) -> dict[str, Path]:
        """Files of the layers by digest, lowest first."""
        digests = [layer["digest"] for layer in self.manifest["layers"]]
        return {digest: _blob(self.blobs, digest) for digest in digests}


def fetch(reference: str, platform: str, folder: Path) -> Layout:
    """Fetch one platform of an image; what several images share is kept once in `folder`."""
    system, _, architecture = platform.partition("/")
    blobs = folder / "blobs"
    layout = folder / f"{reference.rpartition('/')[2].replace(':', '-')}-{architecture}"
    done = subprocess.run(
        [
            *("skopeo", f"--override-os={system}", f"--override-arch={architecture}", "copy", "--quiet"),
            *("--src-tls-verify=false", "--dest-shared-blob-dir", str(blobs)),
            *(f"docker://{reference}", f"oci:{layout}:image"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    entry = json.loads((layout / "index.json").read_text(encoding="utf-8"))["manifests"][0]
    manifest = json.loads(_blob(blobs, entry["digest"]).read_text(encoding="utf-8"))
    config = json.loads(_blob(blobs, manifest["config"]["digest"]).read_text(encoding="utf-8"))
    assert config["architecture"] == architecture
    return Layout(blobs, manifest, config)


def files(layer: Path) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Every entry of a layer with its content (empty for what is no regular file)."""
    with tarfile.open(layer, "r:*") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isreg() else None
            yield member, file.read() if file is not None else b""


def _blob(blobs: Path, digest: str) -> Path:
    return blobs / digest.replace(":", "/")
