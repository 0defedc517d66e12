# SPDX-License-Identifier: Apache-2.0
"""Calls `docker buildx bake` on images/docker-bake.hcl with the variables that this checkout and its bases give it.

A build goes through: the plan (what bake prints of its targets, each base by digest, or refused), the Java build (made
by the caller), the inputs of the harness image, and bake itself, whose output is passed on.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from steelyard import __version__
from steelyard.build import fingerprint, git
from steelyard.errors import BadInput, BuildFailed, MissingRequirement
from steelyard.host.docker import Docker, DockerFailed
from steelyard.images.lock import Bases, read_bases
from steelyard.paths import ROOT
from steelyard.workload.loader import load_workload, workload_names

BAKE_FILE = "images/docker-bake.hcl"
GROUPS = {"all": "default", "hotspot": "hotspot", "openj9": "openj9"}
"""Groups of the bake file, by the name of the flavour."""
HARNESS = "harness"
_UNKNOWN = "not-made.invalid/base/"
"""Stands for a base that was not made here; a target that takes it is refused or left out before anything is built."""
_INPUTS = ROOT / "images" / "harness" / "inputs.sh"

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
        bases |= {name: base.pinned for name, base in self.bases.items()}
        return {
            **os.environ,
            **variables(),
            **{f"BASE_{name.upper()}": reference for name, reference in bases.items()},
            **{name: value for name, value in given.items() if value},
        }

    def definition(self, wanted: Sequence[str]) -> str:
        """What targets or groups come to, as the JSON that bake prints and reads.

        Raises:
            BadInput: there is no such target, or a registry's name is none; bake says which.
        """
        command = ("buildx", "bake", "-f", str(ROOT / BAKE_FILE), "--print", *wanted)
        try:
            return self.docker.run(*command, env=self.environment)
        except DockerFailed as error:
            raise BadInput(f"docker buildx bake cannot plan {', '.join(wanted)} ({error.said})") from error

    def plan(self, wanted: Sequence[str], leave_out: Callable[[str], None] | None = None) -> Plan:
        """The same, parsed; a target without a base is left out, which is told, or refused (raises BadInput)."""
        found = parse_plan(self.definition(wanted))
        for name, target in list(found.items()):
            for value in map(str, (target.get("args") or {}).values()):
                if value.startswith(_UNKNOWN):
                    why = f"{name} ({value.removeprefix(_UNKNOWN)} is no base that can be made from packages)"
                    if leave_out is None:
                        raise BadInput(f"{why}: build it with --bases published, or choose --flavour hotspot")
                    leave_out(f"left out: {why}")
                    found.pop(name)
        return found

    def bake(self, plan: Plan, *options: str) -> dict[str, dict[str, str]]:
        """Build what was planned, with options of bake (`--load`, `--push`); a push that fails is tried once more.

        Returns:
            By target the digest (`containerimage.digest`) and the names (`image.name`).

        Raises:
            BuildFailed: bake failed; what it said went to standard error.
        """
        kept = [f"{name}.platform={','.join(target['platforms'])}" for name, target in plan.items()]
        settings = [word for text in kept for word in ("--set", text)]
        with tempfile.NamedTemporaryFile(prefix="steelyard-bake-", suffix=".json") as metadata:
            command = [str(self.docker.client), "buildx", "bake", "-f", BAKE_FILE, "--progress", "plain"]
            command += ["--metadata-file", metadata.name, *settings, *options, *plan]
            # Relative paths of the bake file begin at the top of the checkout.
            run = partial(
                subprocess.call,
                command,
                cwd=ROOT,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr,
            )
            code = run()
            if code != 0 and "--push" in options:
                # A registry can answer amiss while another layer of the same image comes in; what was built is kept.
                code = run()
            if code != 0:
                raise BuildFailed(f"docker buildx bake failed with exit code {code}: it says why above")
            told = json.loads(Path(metadata.name).read_text(encoding="utf-8"))
        keys = ("image.name", "containerimage.digest")
        return {
            name: {key: entry[key] for key in keys}
            for name, entry in sorted(told.items())
            if isinstance(entry, dict) and entry.keys() >= set(keys)
        }


def variables(root: Path = ROOT) -> dict[str, str]:
    """Variables of the bake file that state a checkout as it is now.

    REVISION is the commit, with `-dirty` when tracked files differ from it, and `unknown` outside a repository;
    SOURCE_DATE_EPOCH its time, so that images of one commit carry one time; FINGERPRINT the hash of the Java sources,
    which a server reports as its build; BUILD the folder of that build, without the path of this machine, which would
    get into a build's provenance; VERSION_... what each workload's file states.
    """
    mark = fingerprint(root)
    try:
        revision, epoch = git(root, "log", "-1", "--format=%H %ct").split()
        if git(root, "status", "--porcelain", "--untracked-files=no"):
            revision += "-dirty"
    except (OSError, subprocess.CalledProcessError):
        revision, epoch = "unknown", "0"
    versions = {f"VERSION_{name.upper()}": load_workload(name).workload.version for name in workload_names()}
    build = {"FINGERPRINT": mark, "BUILD": f".steelyard/build/{mark}"}
    return {"VERSION": __version__, "REVISION": revision, "SOURCE_DATE_EPOCH": epoch, **build, **versions}


def parse_plan(printed: str) -> Plan:
    """The targets of what bake printed."""
    return dict(sorted(json.loads(printed)["target"].items()))


def settings_of(plan: Plan, registry: str | None, local: Bases) -> dict[str, str]:
    """The variables by which bundles run what was built; with local bases also what cannot be pulled."""
    found = {"STEELYARD_REGISTRY": registry} if registry else {}
    if not any(name.endswith("-openj9") for name in plan):
        found["STEELYARD_FLAVOUR"] = "hotspot"
    found |= {
        f"STEELYARD_BASE_{name.upper()}": base.reference for name, base in local.items() if name != "nginx"
    }
    if "nginx" in local:
        found["STEELYARD_NGINX_IMAGE"] = local["nginx"].reference
    if local and "embedded-mongo" in plan:
        found["STEELYARD_MONGO_IMAGE"] = plan["embedded-mongo"]["tags"][0]
    return found


def collect_inputs(plan: Plan, on_line: Callable[[str], None], required: bool) -> Plan:
    """Collect what the harness image takes beside its base: Python packages and clients (images/harness/inputs.sh).

    Args:
        plan: what is to be built.
        on_line: told which platforms the harness is left out for, and why.
        required: refuse rather than leave out.

    Returns:
        The plan, the harness in it for the platforms that it can be built for here.

    Raises:
        MissingRequirement: `required`, and a platform's inputs cannot be had.
    """
    if HARNESS not in plan:
        return plan
    ready = []
    for platform in plan[HARNESS]["platforms"]:
        problem = _collect(platform.partition("/")[2])
        if problem is None:
            ready.append(platform)
        elif required:
            raise MissingRequirement(f"{HARNESS} for {platform}: {problem}")
        else:
            on_line(f"left out: {HARNESS} for {platform} ({problem})")
    others = {name: target for name, target in plan.items() if name != HARNESS}
    return {**others, HARNESS: {**plan[HARNESS], "platforms": ready}} if ready else others


def _collect(architecture: str) -> str | None:
    """None when the inputs of an architecture are there, else why not."""
    told = {"STEELYARD_PYTHON": sys.executable, **os.environ}
    ask = ["sh", str(_INPUTS), "-a", architecture]
    done = subprocess.run(
        ask, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False, env=told
    )
    if done.returncode == 0:
        return None
    said = [line.removeprefix("inputs: ") for line in done.stderr.splitlines() if line.startswith("inputs: ")]
    return said[-1] if said else f"{_INPUTS.name} ended with exit code {done.returncode}"
