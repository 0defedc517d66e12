# SPDX-License-Identifier: Apache-2.0
"""Recorded answers of `docker buildx imagetools inspect --raw` and `skopeo inspect --raw` (the same bytes)."""

import json
from pathlib import Path

import pytest

from steelyard.images.manifests import Index, Manifest, digest_of, parse_manifest, platform_name

FIXTURES = Path(__file__).parents[1] / "fixtures" / "registry"


def recorded(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def test_an_index_holds_its_platforms_and_no_attestations() -> None:
    index = parse_manifest(recorded("index.json"))
    assert isinstance(index, Index)
    assert index.platforms == {
        "linux/amd64": "sha256:353b54c5de9691475199f0e849777f3a3b50aa03121e875f97ac45719705add5",
        "linux/ppc64le": "sha256:eba6b1bf452d4eaaeae04280bb1e4b5cabb6c7250af11b7841cd413559908b90",
    }
    # The registry names it by this digest, as `imagetools inspect` without --raw printed.
    assert index.digest == "sha256:6190033ee67bdc198f83e287119a6c54b1f58bb8cdcf143eb0e585f4e3202656"


def test_a_manifest_list_of_docker_is_an_index_too() -> None:
    index = parse_manifest(recorded("docker-list.json"))
    assert isinstance(index, Index)
    assert sorted(index.platforms) == ["linux/amd64", "linux/ppc64le"]


def test_an_image_has_layers_and_a_size() -> None:
    manifest = parse_manifest(recorded("manifest.json"))
    assert isinstance(manifest, Manifest)
    assert manifest.compressed_size == 183
    assert manifest.config.startswith("sha256:13586dcb")


@pytest.mark.parametrize("raw", [b"<html>", b"[]", b'{"errors": [{"code": "UNAUTHORIZED"}]}'])
def test_anything_else_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"JSON|neither"):
        parse_manifest(raw)


def test_a_variant_is_named_only_where_it_tells_platforms_apart() -> None:
    assert platform_name({"os": "linux", "architecture": "arm64", "variant": "v8"}) == "linux/arm64"
    assert platform_name({"os": "linux", "architecture": "arm", "variant": "v7"}) == "linux/arm/v7"


def test_a_digest_is_of_the_bytes_and_not_of_the_document() -> None:
    raw = recorded("index.json")
    assert digest_of(raw) != digest_of(json.dumps(json.loads(raw)).encode())
