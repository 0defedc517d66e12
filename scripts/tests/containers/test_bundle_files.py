# SPDX-License-Identifier: Apache-2.0
"""Every bundle of compose/ is one that docker compose reads."""

import subprocess

import pytest

from steelyard.paths import ROOT

pytestmark = pytest.mark.containers


@pytest.mark.parametrize("name", sorted(path.parent.name for path in ROOT.glob("compose/*/compose.yaml")))
def test_bundle_is_read(name: str) -> None:
    command = ["docker", "compose", "-f", f"compose/{name}/compose.yaml", "config", "-q"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
