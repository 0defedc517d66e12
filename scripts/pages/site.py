# SPDX-License-Identifier: Apache-2.0
"""Builds the documents as a site, strictly: `python3 scripts/pages/site.py [FOLDER]`.

MkDocs with its theme lies in an environment of its own (.steelyard/site-venv, from requirements-site.txt), which only
whoever builds the site needs. A link that leads nowhere, a page that no part of the navigation names and a page that
asks another host for anything end it with exit code 12.
"""

import filecmp
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".steelyard"
LOCK = ROOT / "scripts" / "requirements-site.txt"
MISSING, FAILED = 3, 12
"""Exit codes: an environment that cannot be made; a fault of the pages."""
_LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc=[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|<link\b(?=[^>]*\brel=[\"']?(?:stylesheet|preconnect|preload|icon|prefetch))[^>]*?\bhref=[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|url\([\"']?((?:https?:)?//[^\"')]+)",
    re.IGNORECASE,
)


def make_environment(folder: Path) -> Path:
    """The environment's Python; it is made, or made again, where the lock is another."""
    stamp, python = folder / LOCK.name, folder / "bin" / "python"
    if not (stamp.exists() and filecmp.cmp(LOCK, stamp, shallow=False)):
        venv.create(folder, clear=True, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--require-hashes", "-r", str(LOCK)], check=True)
        shutil.copy(LOCK, stamp)
    return python


def requests_elsewhere(site: Path) -> Iterator[str]:
    """Each file of the site with what a browser would ask another host for when it shows that file."""
    for path in sorted((*site.rglob("*.html"), *site.rglob("*.css"))):
        for match in _LOADED.finditer(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)}: {next(filter(None, match.groups()))}"


def build_site(target: Path) -> int:
    """Build into a folder; the exit code."""
    try:
        python = make_environment(CACHE / "site-venv")
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"site: MkDocs could not be installed: {error}", file=sys.stderr)  # noqa: T201
        return MISSING
    command = [
        str(python),
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--clean",
        "--site-dir",
        str(target),
    ]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # of the theme, about its successor
    if subprocess.run(command, cwd=ROOT, env=quiet, check=False).returncode:
        return FAILED
    elsewhere = list(requests_elsewhere(target))
    for line in elsewhere:
        print(f"site: {line}: a page asks another host", file=sys.stderr)  # noqa: T201
    return FAILED if elsewhere else 0


if __name__ == "__main__":
    sys.exit(build_site(Path(sys.argv[1] if len(sys.argv) > 1 else CACHE / "site").resolve()))
