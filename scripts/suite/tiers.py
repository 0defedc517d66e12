# SPDX-License-Identifier: Apache-2.0
"""The tiers of the tests, and which of them a changed path needs."""

import subprocess
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from suite import ROOT


class Tier(NamedTuple):
    """Tests that are chosen together."""

    name: str
    holds: str
    is_default: bool = False


TIERS = (
    Tier("checks", "linters, types, formats, waits", True),
    Tier("unit", "Python: units, golden bundles and reports", True),
    Tier("java", "Maven: packages, formats, units, one contract of each application", True),
    Tier(
        "sessions",
        "each procedure, a search, a resume, a gate, each application; states of this machine",
        True,
    ),
    Tier("servers", "Maven: all that is asked of applications on real servers"),
    Tier("site", "the documents as a site: built strictly, its search in Chromium"),
    Tier("long", "long sessions and fault trials, other JDKs, long simulations, reports in Chromium"),
    Tier("containers", "images of each platform, bundles, sessions in containers and on a Kubernetes node"),
)
"""In the order in which they run."""
EVERY = tuple(tier.name for tier in TIERS)
DEFAULT = tuple(tier.name for tier in TIERS if tier.is_default)

_PYTHON = ("checks", "unit")
_JAVA = ("java", "servers")
_PAGES = (*_PYTHON, "site")
NEEDS: dict[str, tuple[str, ...]] = {
    # Each path counts for every pattern that it matches; `*` goes over folders as well.
    "*.md": _PAGES,
    ".*": ("checks",),
    "CITATION.cff": _PYTHON,
    "LICENSE": ("checks",),
    ".ci/*": DEFAULT,
    ".dockerignore": ("containers",),
    ".github/*": _PYTHON,
    ".github/scripts/build.sh": ("containers",),
    ".github/scripts/start.sh": ("containers",),
    ".mvn/*": (*_JAVA, "sessions", "containers"),
    "action.yml": _PYTHON,
    "apps/*": _JAVA,
    "apps/*/src/main/*": ("sessions", "containers"),
    "apps/*/pom.xml": ("sessions", "containers"),
    "apps/*/workload.yaml": (*_PYTHON, "sessions", "long", "containers"),
    "apps/databases/*": (*_JAVA, *_PYTHON, "sessions", "servers", "long", "containers"),
    "compose/*": (*_PYTHON, "containers"),
    "docs/*": _PAGES,
    "docs/examples/*": ("sessions", "long"),
    "experiments/*": (*DEFAULT, "long"),
    "images/*": (*_PYTHON, "containers"),
    "k8s/*": (*_PYTHON, "containers"),
    "mkdocs.yml": _PAGES,
    "loadgen/*": ("checks", "java"),
    "loadgen/src/main/*": ("sessions", "long", "containers"),
    "pom.xml": (*_JAVA, "sessions", "containers"),
    "scripts/*": _PYTHON,
    "scripts/host_set.py": ("long",),
    "scripts/pages/*": _PAGES,
    "scripts/requirements*": (*DEFAULT, "containers"),
    "scripts/requirements-site*": ("site",),
    "scripts/steelyard/*": ("sessions", "long"),
    "scripts/steelyard/engines/container.py": ("containers",),
    "scripts/steelyard/engines/images.py": ("containers",),
    "scripts/steelyard/engines/compose/*": ("containers",),
    "scripts/steelyard/engines/kubernetes/*": ("containers",),
    "scripts/steelyard/host/docker.py": ("containers",),
    "scripts/steelyard/images/*": ("containers",),
    "scripts/steelyard/sampling/*": ("containers",),
    "scripts/suite/*": EVERY,
    "scripts/tests/*.py": _PYTHON,
    "scripts/tests/browser/*": ("site", "long"),
    "scripts/tests/containers/*": ("containers",),
    "scripts/tests/e2e/*": ("sessions", "long"),
    "scripts/tests/report/*collector*": ("long",),
    "scripts/tests/stages.py": EVERY,
    "steelyard": DEFAULT,
}


def tiers_for(paths: Iterable[str]) -> tuple[str, ...]:
    """The tiers that changed paths need, in their order; of a path that no pattern knows, all of them."""
    needed: set[str] = set()
    for path in paths:
        needed |= {
            tier for pattern, tiers in NEEDS.items() if fnmatchcase(path, pattern) for tier in tiers
        } or {*EVERY}
    return tuple(tier for tier in EVERY if tier in needed)


def changed_paths(reference: str, root: Path = ROOT) -> list[str]:
    """Paths that differ from where this branch left `reference`: committed, not yet committed, and new ones.

    Raises:
        ValueError: git does not know the reference, or cannot read the checkout; with what git says.
    """
    base = _git(root, "merge-base", reference, "HEAD")[0]
    changed = _git(root, "diff", "--no-renames", "--name-only", "-z", base)
    return sorted({*changed, *_git(root, "ls-files", "--others", "--exclude-standard", "-z")})


def _git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[0]
        raise ValueError(f"git {arguments[0]}: {said}")
    return [part for part in done.stdout.replace("\n", "\0").split("\0") if part]
