# SPDX-License-Identifier: Apache-2.0
"""A registry on loopback, and a record of what lies in it."""

import json
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from release_steps import PLATFORMS, Registry, keep


@pytest.fixture
def registry() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def record(registry: str, tmp_path: Path) -> Path:
    """Two images for all platforms, each platform with what the builder says of it."""
    entries = {}
    for target in ("loadgen", "ping-openj9"):
        manifests, platforms = [], {}
        for platform in PLATFORMS:
            system, architecture = platform.split("/")
            digest = platforms[platform] = keep({"image": target, "platform": platform})
            manifests += [
                {"digest": digest, "platform": {"os": system, "architecture": architecture}},
                {
                    "digest": keep({"statement": target, "platform": platform}),
                    "platform": {"os": "unknown", "architecture": "unknown"},
                    "annotations": {"vnd.docker.reference.digest": digest},
                },
            ]
        entries[target] = {
            "image.name": f"{registry}/o/steelyard/{target}:1",
            "containerimage.digest": keep({"schemaVersion": 2, "manifests": manifests}),
            "platforms": platforms,
            "openj9": target.endswith("openj9"),
        }
    path = tmp_path / "record.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path
