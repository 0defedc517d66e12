# SPDX-License-Identifier: Apache-2.0
"""Calls `docker buildx bake` on its two files in images/ with the variables that this checkout and its bases give it.

A build goes through: the plan (what bake prints of its targets, each with a base, or left out), the Java build (made by
the caller), and bake itself, whose output is passed on. A release takes the definition and does without this package.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from steelyard import __version__
from steelyard.build import GitFailed, fingerprint, git
from steelyard.errors import BadInput, BuildFailed
from steelyard.host.docker import Docker, DockerFailed
from steelyard.images.lock import Bases, read_bases
from steelyard.paths import ROOT
from steelyard.processes import child_environment
from steelyard.workload.loader import load_workload, workload_names

BAKE_FILES = ("images/docker-bake.hcl", "images/images.json")
"""How images are built, and which there are."""
GROUPS = {"all": "default", "hotspot": "hotspot", "openj9": "openj9"}
"""Groups of the bake file, by the name of the flavour."""
_UNKNOWN = "not-made.invalid/base/"
"""Stands for a base that was not made here; a target that takes it is refused or left out before anything is built."""

# Bake's own JSON, of which each caller reads a few keys.
Plan = dict[str, dict[str, Any]]
"""Targets by name, as bake prints them: tags, platforms, args, labels."""


@dataclass(frozen=True)
class Bakery:
    """The bake file with the variables of this checkout."""

    docker: Docker
    registry: str | None
    """Registry and path of the images; None: as the bake file says."""
    bases: Bases
    """What to build on."""
    platforms: Sequence[str] = ()
    """To build for; empty: as the bake file says."""

    @cached_property
    def environment(self) -> Mapping[str, str]:
        """All variables; a base that there is not is one that `plan` refuses or leaves out."""
        given = {"REGISTRY": self.registry, "PLATFORMS": ",".join(self.platforms)}
        bases = {name: f"{_UNKNOWN}{name}" for name in read_bases()}
        bases |= {name: base.full_reference for name, base in self.bases.items()}
        return {
            **child_environment(),
            **variables(),
            **{f"BASE_{name.upper()}": reference for name, reference in bases.items()},
            **{name: value for name, value in given.items() if value},
        }

    def definition(self, wanted: Sequence[str]) -> str:
        """What targets or groups come to, as the JSON that bake prints and reads.

        Raises:
            BadInput: there is no such target, or a registry's name is none; bake says which.
        """
        files = [word for name in BAKE_FILES for word in ("-f", str(ROOT / name))]
        command = ("buildx", "bake", *files, "--print", *wanted)
        try:
            return self.docker.run(*command, env=self.environment)
        except DockerFailed as error:
            raise BadInput(f"docker buildx bake cannot plan {', '.join(wanted)} ({error.detail})") from error

    def plan(self, wanted: Sequence[str], leave_out: Callable[[str], None] | None = None) -> Plan:
        """The same, parsed; a target without a base is left out, which is told, or refused (raises BadInput)."""
        plan = parse_plan(self.definition(wanted))
        for name, target in list(plan.items()):
            for value in map(str, (target.get("args") or {}).values()):
                if value.startswith(_UNKNOWN):
                    why = f"{name} (there is no base {value.removeprefix(_UNKNOWN)} here)"
                    if leave_out is None:
                        raise BadInput(
                            f"{why}: build it with --bases published, choose --flavour hotspot, or make the base of"
                            " a JDK that you have (images/local/make-bases.sh -j)"
                        )
                    leave_out(f"left out: {why}")
                    plan.pop(name)
        return plan

    def bake(self, plan: Plan, *options: str) -> dict[str, dict[str, str]]:
        """Build what was planned, with options of bake (`--load`).

        Returns:
            By target the digest (`containerimage.digest`) and the names (`image.name`).

        Raises:
            BuildFailed: bake failed; what it said went to standard error.
        """
        kept = [f"{name}.platform={','.join(target['platforms'])}" for name, target in plan.items()]
        settings = [word for text in kept for word in ("--set", text)]
        with tempfile.NamedTemporaryFile(prefix="steelyard-bake-", suffix=".json") as metadata:
            files = [word for name in BAKE_FILES for word in ("-f", name)]
            command = [str(self.docker.client), "buildx", "bake", *files, "--progress", "plain"]
            command += ["--metadata-file", metadata.name, *settings, *options, *plan]
            # Relative paths of the bake file begin at the top of the checkout.
            code = subprocess.call(
                command, cwd=ROOT, env=dict(self.environment), stdin=subprocess.DEVNULL, stdout=sys.stderr
            )
            if code != 0:
                raise BuildFailed(f"docker buildx bake failed with exit code {code}: it says why above")
            metadata_by_target = json.loads(Path(metadata.name).read_text(encoding="utf-8"))
        keys = ("image.name", "containerimage.digest")
        return {
            name: {key: entry[key] for key in keys}
            for name, entry in sorted(metadata_by_target.items())
            if isinstance(entry, dict) and entry.keys() >= set(keys)
        }


def read_bake_names(root: Path = ROOT) -> list[str]:
    """Groups and targets as the bake file has them; a matrix is a group of its targets."""
    text = (root / BAKE_FILES[0]).read_text(encoding="utf-8")
    return re.findall(r'^(?:group|target) "([^"]+)"', text, re.MULTILINE)


def variables(root: Path = ROOT) -> dict[str, str]:
    """Variables of the bake file that state a checkout as it is now.

    REVISION is the commit, with `-dirty` when tracked files differ from it, and `unknown` outside a repository;
    SOURCE_DATE_EPOCH its time, so that images of one commit carry one time; FINGERPRINT the hash of the Java sources,
    which a server reports as its build; BUILD the folder of that build, without the path of this machine, which would
    get into a build's provenance; WORKLOAD_VERSIONS what each workload's file states.
    """
    mark = fingerprint(root)
    try:
        revision, epoch = git(root, "log", "-1", "--format=%H %ct").split()
        if git(root, "status", "--porcelain", "--untracked-files=no"):
            revision += "-dirty"
    except (GitFailed, ValueError):
        revision, epoch = "unknown", "0"
    versions = {name: load_workload(name).workload.version for name in workload_names()}
    return {
        "VERSION": __version__,
        "REVISION": revision,
        "SOURCE_DATE_EPOCH": epoch,
        "FINGERPRINT": mark,
        "BUILD": f".steelyard/build/{mark}",
        "WORKLOAD_VERSIONS": json.dumps(versions),
    }


STAND_INS = ("nginx", "postgresql")
"""What `make-bases.sh` makes in the place of published images that bundles take as they are."""


def parse_plan(printed: str) -> Plan:
    """The targets of what bake printed."""
    return dict(sorted(json.loads(printed)["target"].items()))


def settings_of(plan: Plan, registry: str | None, local: Bases) -> dict[str, str]:
    """The variables by which bundles run what was built; with local bases also what cannot be pulled."""
    settings = {"STEELYARD_REGISTRY": registry} if registry else {}
    if not any(name.endswith("-openj9") for name in plan):
        settings["STEELYARD_FLAVOUR"] = "hotspot"
    for name, base in local.items():
        key = f"{name.upper()}_IMAGE" if name in STAND_INS else f"BASE_{name.upper()}"
        settings[f"STEELYARD_{key}"] = base.reference
    for target in plan.values() if local else ():
        if replaced := target.get("labels", {}).get("dev.steelyard.replaces"):
            settings[f"STEELYARD_{replaced.upper()}_IMAGE"] = target["tags"][0]
    return settings
