# SPDX-License-Identifier: Apache-2.0
"""What is of the checkout: what git tracks, wherever else in its folder something lies.

Where git keeps no files (a wheel, an image, an archive of the sources) it is the shipped folders.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from steelyard.paths import ROOT
from steelyard.processes import child_environment

SHIPPED = ("apps", "docs/examples", "experiments", "scripts/bench/planted")
"""Folders with workload and experiment files of the project's own."""


def are_of_checkout(files: Sequence[Path], checkout: Path = ROOT) -> bool:
    """Whether resolved files are all of the checkout; False where git does not answer, so that somebody is asked."""
    if not all(file.is_relative_to(checkout) for file in files):
        return False
    if not (checkout / ".git").exists():
        return all(any(file.is_relative_to(checkout / folder) for folder in SHIPPED) for file in files)
    command = ["git", "--no-optional-locks", "--literal-pathspecs", "-C", str(checkout)]
    # A hook of git starts its programs with the repository that it stands in.
    environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    try:
        listed = subprocess.run(
            [*command, "ls-files", "-z", "--", *map(str, files)],
            env=child_environment(environment),
            capture_output=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return False
    tracked = {checkout / os.fsdecode(name) for name in listed.stdout.split(b"\0") if name}
    return tracked.issuperset(files)
