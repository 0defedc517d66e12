# SPDX-License-Identifier: Apache-2.0
"""What an image says of the sources it was made from."""

import re
import subprocess
from pathlib import Path

from steelyard import __version__
from steelyard.build import fingerprint
from steelyard.paths import ROOT


def variables(root: Path = ROOT) -> dict[str, str]:
    """Variables of the bake file that state a checkout as it is now.

    REVISION is the commit, with `-dirty` when tracked files differ from it, and `unknown` outside a repository;
    SOURCE_DATE_EPOCH its time, so that images of one commit carry one time; FINGERPRINT the hash of the Java sources,
    which a server reports as its build; BUILD the folder of that build, without the path of this machine, which would
    get into a build's provenance.
    """
    mark = fingerprint(root)
    revision, epoch = _git(root, "rev-parse", "HEAD"), "0"
    if revision is not None:
        epoch = _git(root, "log", "-1", "--format=%ct") or "0"
        if _git(root, "status", "--porcelain", "--untracked-files=no"):
            revision += "-dirty"
    return {
        "VERSION": __version__,
        "REVISION": revision or "unknown",
        "SOURCE_DATE_EPOCH": epoch,
        "FINGERPRINT": mark,
        "BUILD": f".steelyard/build/{mark}",
        **{f"VERSION_{name.upper()}": version for name, version in workload_versions(root).items()},
    }


def workload_versions(root: Path = ROOT) -> dict[str, str]:
    """What the applications below `apps/` state in `version()` of a `Workload` class, by folder."""
    found = {}
    for path in sorted((root / "apps").glob("*/**/src/main/**/*Workload.java")):
        text = path.read_text(encoding="utf-8")
        stated = re.search(r"String version\(\) \{\s*return ([^;]+);", text)
        if stated and stated[1].isidentifier():
            stated = re.search(rf"String {stated[1]} = ([^;]+);", text)
        if stated:
            found[path.relative_to(root / "apps").parts[0]] = stated[1].strip('"')
    return found


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
