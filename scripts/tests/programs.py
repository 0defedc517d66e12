# SPDX-License-Identifier: Apache-2.0
"""Programs that some tests need, and that not every host has."""

import shutil
import subprocess

import pytest


def _has_compose() -> bool:
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0


needs_compose = pytest.mark.skipif(
    not _has_compose(), reason="docker's client or its compose plugin is not installed"
)
"""`docker compose config` needs no engine, but the client and a plugin of it."""
