# SPDX-License-Identifier: Apache-2.0
"""Programs that some tests need, and that not every host has."""

import shutil
import subprocess

import pytest


def _is_well(*command: str) -> bool:
    return shutil.which(command[0]) is not None and (
        subprocess.run(command, capture_output=True, check=False).returncode == 0
    )


def has_engine() -> bool:
    """Whether a container engine answers here."""
    return _is_well("docker", "info")


needs_compose = pytest.mark.skipif(
    not _is_well("docker", "compose", "version"),
    reason="docker's client or its compose plugin is not installed",
)
"""`docker compose config` needs no engine, but the client and a plugin of it."""
