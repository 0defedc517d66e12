# SPDX-License-Identifier: Apache-2.0
"""Whose workload files are run: a workload file is a program, for its commands run as whoever starts them.

One of the checkout is trusted as the checkout is. Of any other a person says so once, for its content as it is then:
the digest is kept, and a file that was changed is asked about again. What it starts (scripts, jars) is not looked at.
"""

import hashlib
import os
from pathlib import Path

from steelyard.errors import BadInput
from steelyard.paths import CACHE, ROOT
from steelyard.regular import read_bytes

TRUSTED = CACHE / "trusted-workloads"
"""A digest a line."""


def is_trusted(path: Path, kept: Path = TRUSTED, checkout: Path = ROOT) -> bool:
    """Whether a workload file may be run: it lies in the checkout, or somebody trusted this content."""
    file = path.resolve()
    if file.is_relative_to(checkout):
        return True
    return kept.exists() and _digest(file) in kept.read_text(encoding="ascii").split()


def keep_trust(path: Path, kept: Path = TRUSTED) -> None:
    """Note that this content is trusted."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(kept, flags, 0o600), "w", encoding="ascii") as file:
        file.write(f"{_digest(path.resolve())}\n")


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(read_bytes(path)).hexdigest()
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({os.strerror(error.errno or 0)})") from error
