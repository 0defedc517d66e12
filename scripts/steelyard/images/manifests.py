# SPDX-License-Identifier: Apache-2.0
"""What a registry says of a reference: an index of several platforms, or one image (pure)."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

_ATTESTATION = "attestation-manifest"


@dataclass(frozen=True)
class Layer:
    """A layer as it lies in the registry."""

    digest: str
    size: int
    """Bytes, compressed."""


@dataclass(frozen=True)
class Manifest:
    """One image of one platform."""

    digest: str
    config: str
    """Digest of its configuration."""
    layers: tuple[Layer, ...]

    @property
    def compressed_size(self) -> int:
        """Bytes that a pull without any layer at hand transfers."""
        return sum(layer.size for layer in self.layers)


@dataclass(frozen=True)
class Index:
    """One reference for several platforms."""

    digest: str
    platforms: dict[str, str]
    """Digest of the image by platform (`linux/ppc64le`), sorted; attestations are left out."""


def digest_of(raw: bytes) -> str:
    """The digest under which a registry keeps these bytes."""
    return f"sha256:{hashlib.sha256(raw).hexdigest()}"


def parse_manifest(raw: bytes) -> Index | Manifest:
    """Read what `imagetools inspect --raw` or `skopeo inspect --raw` printed.

    Raises:
        ValueError: it is neither an index nor an image (OCI or Docker schema 2).
    """
    try:
        document = json.loads(raw)
    except ValueError as error:
        raise ValueError(f"no JSON ({error})") from error
    if not isinstance(document, dict):
        raise ValueError("no JSON object")  # noqa: TRY004 - what was printed is at fault, not the caller
    if isinstance(document.get("manifests"), list):
        return Index(digest_of(raw), _platforms(document["manifests"]))
    if isinstance(document.get("layers"), list) and "config" in document:
        layers = tuple(Layer(layer["digest"], int(layer["size"])) for layer in document["layers"])
        return Manifest(digest_of(raw), document["config"]["digest"], layers)
    raise ValueError(f"media type {document.get('mediaType', 'unknown')} is neither an index nor an image")


def platform_name(platform: dict[str, Any]) -> str:
    """`linux/arm64`; the variant only where it tells platforms apart (`linux/arm/v7`, not `linux/arm64/v8`)."""
    name = f"{platform.get('os')}/{platform.get('architecture')}"
    variant = platform.get("variant")
    return f"{name}/{variant}" if variant and platform.get("architecture") == "arm" else name


def _platforms(entries: list[dict[str, Any]]) -> dict[str, str]:
    found = {}
    for entry in entries:
        annotations = entry.get("annotations") or {}
        name = platform_name(entry.get("platform") or {})
        if annotations.get("vnd.docker.reference.type") == _ATTESTATION or name.endswith("/unknown"):
            continue
        found[name] = str(entry["digest"])
    return dict(sorted(found.items()))
