# SPDX-License-Identifier: Apache-2.0
"""What an image says of the sources it was made from."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from steelyard import __version__
from steelyard.build import fingerprint
from steelyard.errors import BadInput
from steelyard.paths import ROOT

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Sources:
    """A checkout."""

    version: str
    revision: str
    """Commit, with `-dirty` when tracked files differ from it; `unknown` outside a repository."""
    epoch: int
    """Time of the commit, seconds since 1970: images made of one commit carry one time."""
    fingerprint: str
    """Hash of the Java sources, which a server reports as its build."""


def read_sources(root: Path = ROOT) -> Sources:
    """The checkout as it is now."""
    commit = _git(root, "rev-parse", "HEAD")
    if commit is None:
        return Sources(__version__, UNKNOWN, 0, fingerprint(root))
    changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    epoch = int(_git(root, "log", "-1", "--format=%ct") or 0)
    return Sources(__version__, commit + ("-dirty" if changed else ""), epoch, fingerprint(root))


def workload_version(workload: str, root: Path = ROOT) -> str:
    """The version that a workload's application states in its `Workload` class.

    Raises:
        BadInput: there is no such class, or it states none.
    """
    for path in sorted((root / "apps" / workload).rglob("src/main/**/*Workload.java")):
        text = path.read_text(encoding="utf-8")
        stated = re.search(r"String version\(\) \{\s*return ([^;]+);", text)
        if stated and stated[1].isidentifier():
            stated = re.search(rf"String {stated[1]} = ([^;]+);", text)
        if stated:
            return stated[1].strip('"')
    raise BadInput(
        f"apps/{workload} states no workload version: its Workload class has to return one in version()"
    )


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
