# SPDX-License-Identifier: Apache-2.0
"""Every bundle of compose/ is one that docker compose reads, and that it can build."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from steelyard.paths import ROOT

pytestmark = pytest.mark.containers
NAMES = sorted(path.parent.name for path in ROOT.glob("compose/*/compose.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_bundle_is_read_and_says_how_its_images_are_built(name: str) -> None:
    folder = ROOT / "compose" / name
    command = ["docker", "compose", "-f", str(folder / "compose.yaml"), "--profile", "*", "config"]
    # As in a fresh clone: the suite's own images are in its environment.
    own = {name: value for name, value in os.environ.items() if not name.startswith("STEELYARD_")}
    own["STEELYARD_SERVER_IMAGE"] = "example/shop:1"
    done = subprocess.run(
        [*command, "--format", "json"], cwd=ROOT, env=own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    services = json.loads(done.stdout)["services"]
    assert [wrong for service in services.values() for wrong in unbuildable(service, services)] == []


def unbuildable(service: dict[str, Any], services: dict[str, Any]) -> list[str]:
    """What keeps compose from making an image of this project from the checkout, on bases of the user's choice.

    One service builds it, others say that it is not to be pulled: an image that is made twice under one name has
    another digest, for which the next `up` makes the first one's containers anew and leaves their volumes behind.
    """
    build, image = service.get("build"), service["image"]
    makers = [name for name, one in services.items() if one["image"] == image and "build" in one]
    if build is None:
        ours = re.search(r"steelyard/[\w-]+:", image)
        fine = not ours or (makers and service.get("pull_policy") == "never")
        return [] if fine else [f"{image} is neither built nor another service's"]
    path = Path(build["context"], build["dockerfile"])
    text = path.read_text(encoding="utf-8")
    stages = set(re.findall(r"^FROM .* AS ([\w-]+)$", text, re.MULTILINE))
    declared = set(re.findall(r"^ARG (\w+)", text, re.MULTILINE))
    given = set(build.get("args", {}))
    wrong = [f"{image} is built by {makers}"] if len(makers) > 1 else []
    wrong += (
        [f"{path} has no stage {build['target']}"] if build.get("target", "") not in {"", *stages} else []
    )
    wrong += [f"{path} takes no {name}" for name in sorted(given - declared)]
    return wrong + [
        f"{path}: {name} is not given" for name in sorted(declared - given) if name.startswith("BASE_")
    ]
