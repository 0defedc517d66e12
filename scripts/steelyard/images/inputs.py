# SPDX-License-Identifier: Apache-2.0
"""What the harness image takes beside its base: Python packages and clients, collected by images/harness/inputs.sh."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from steelyard.errors import MissingRequirement
from steelyard.images.bake import Target, platforms_of
from steelyard.paths import CACHE, ROOT

HARNESS = "harness"
_SCRIPT = ROOT / "images" / "harness" / "inputs.sh"
_FOLDER = CACHE / "harness"
_KEYED = (
    *(ROOT / "scripts" / "requirements.lock", _SCRIPT),
    *(_SCRIPT.with_name("cross.sh"), _SCRIPT.with_name("build.lock")),
)
"""What inputs.sh computes its key from, in its order."""


def collect(
    targets: Sequence[Target], wanted: Sequence[str], on_line: Callable[[str], None], required: bool
) -> list[Target]:
    """The targets, the harness reduced to the platforms whose inputs could be collected here.

    Its compiled Python packages have to be there as wheels, be compiled on a machine of that platform or, for
    ppc64le, be made on Debian bookworm (images/harness/cross.sh).

    Args:
        targets: to be built.
        wanted: platforms; empty: those of each target.
        on_line: told what is left out, and why.
        required: refuse rather than leave out.

    Raises:
        MissingRequirement: `required`, and a platform's inputs cannot be had.
    """
    found = []
    for target in targets:
        if target.name != HARNESS:
            found.append(target)
            continue
        ready = []
        for platform in platforms_of(target, wanted):
            problem = _collect(platform.partition("/")[2])
            if problem is None:
                ready.append(platform)
            elif required:
                raise MissingRequirement(f"{HARNESS} for {platform}: {problem}")
            else:
                on_line(f"left out: {HARNESS} for {platform} ({problem})")
        if ready:
            found.append(replace(target, platforms=tuple(ready)))
    return found


def _is_ready(folder: Path) -> bool:
    """Whether inputs.sh was run for the present requirements and recipe, here or on a machine of that architecture."""
    recipe = hashlib.sha256(b"".join(path.read_bytes() for path in _KEYED)).hexdigest()[:32]
    try:
        key = (folder / "site.key").read_text(encoding="utf-8")
    except OSError:
        return False
    return key.startswith(recipe) and all(
        (folder / name).exists() for name in ("system", "docker/docker", "docker/docker-compose")
    )


def _collect(architecture: str) -> str | None:
    """None when the inputs of an architecture are there, else why not."""
    folder = _FOLDER / architecture
    if _is_ready(folder):
        return None
    done = subprocess.run(
        ["sh", str(_SCRIPT), "-a", architecture],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "STEELYARD_PYTHON": os.environ.get("STEELYARD_PYTHON", sys.executable)},
    )
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if line.startswith("inputs: ")] or [
        "inputs: no reason given"
    ]
    return lines[-1].removeprefix("inputs: ")
