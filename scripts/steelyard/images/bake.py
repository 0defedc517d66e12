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
from pathlib import Path
from typing import Any

from steelyard.errors import BadInput, BuildFailed, MissingRequirement
from steelyard.host.docker import Docker, DockerFailed
from steelyard.images.checkout import variables
from steelyard.images.lock import Lock, read_lock
from steelyard.paths import ROOT

BAKE_FILE = "images/docker-bake.hcl"
GROUPS = {"all": "default", "hotspot": "hotspot", "openj9": "openj9"}
"""Groups of the bake file, by the name of the flavour."""
HARNESS = "harness"
_UNLOCKED = "not-locked.invalid/base/"
"""Stands for a base that cannot be named yet; a target that takes it is refused before anything is built."""
_INPUTS = ROOT / "images" / "harness" / "inputs.sh"

Plan = dict[str, dict[str, Any]]
"""Targets by name, as bake prints them: tags, platforms, args, labels."""


@dataclass(frozen=True)
class Bakery:
    """The bake file with its variables set."""

    docker: Docker
    environment: Mapping[str, str]
    choice: str
    """Where the bases come from: `lock` or `local`."""

    def definition(self, wanted: Sequence[str]) -> str:
        """What targets or groups come to, as the JSON that bake prints and reads.

        Raises:
            BadInput: there is no such target, or a registry's name is none; bake says which.
        """
        command = ["buildx", "bake", "-f", str(ROOT / BAKE_FILE), "--print", *wanted]
        try:
            return self.docker.run(*command, env=self.environment)
        except DockerFailed as error:
            raise BadInput(f"docker buildx bake cannot plan {', '.join(wanted)} ({error.said})") from error

    def plan(self, wanted: Sequence[str]) -> Plan:
        """The same, parsed; every base is known by digest (raises BadInput)."""
        found = parse_plan(self.definition(wanted))
        for name, target in found.items():
            for value in (target.get("args") or {}).values():
                if str(value).startswith(_UNLOCKED):
                    raise BadInput(self._why_unlocked(name, str(value).removeprefix(_UNLOCKED)))
        return found

    def bake(self, plan: Plan, options: Sequence[str]) -> dict[str, dict[str, str]]:
        """Build what was planned; the digest (`containerimage.digest`) and the names (`image.name`) by target.

        Args:
            plan: what to build.
            options: of bake: `--load`, `--push`.

        Raises:
            BuildFailed: bake failed; what it said went to standard error.
        """
        kept = [f"{name}.platform={','.join(target['platforms'])}" for name, target in plan.items()]
        settings = [word for text in kept for word in ("--set", text)]
        with tempfile.TemporaryDirectory(prefix="steelyard-bake-") as temporary:
            metadata = Path(temporary) / "metadata.json"
            command = [str(self.docker.client), "buildx", "bake", "-f", BAKE_FILE, "--progress", "plain"]
            command += ["--metadata-file", str(metadata), *settings, *options, *plan]
            # Relative paths of the bake file begin at the top of the checkout.
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr,
                check=False,
            )
            if done.returncode != 0:
                raise BuildFailed(
                    f"docker buildx bake failed with exit code {done.returncode}: it says why above"
                )
            return record(json.loads(metadata.read_text(encoding="utf-8")))

    def _why_unlocked(self, target: str, base: str) -> str:
        if self.choice == "local":
            return (
                f"{target} needs the base {base}, which cannot be made from packages: build it with --bases lock, or"
                " choose --flavour hotspot"
            )
        return (
            f"images/lock.json has no digest of the base {base}, which {target} needs: run `./steelyard images lock`"
            " where the registries can be reached, or use --bases local"
        )


def open_bakery(
    docker: Docker, registry: str | None, bases: Lock, choice: str, platforms: Sequence[str]
) -> Bakery:
    """The bake file with the variables of this checkout.

    Args:
        docker: the engine's client.
        registry: registry and path of the images; None: as the bake file says.
        bases: with their digests as far as they are known.
        choice: where the bases come from, for messages.
        platforms: to build for; empty: as the bake file says.
    """
    references = {name: bases.root[name].pinned if name in bases.root else None for name in read_lock().root}
    given = {"REGISTRY": registry, "PLATFORMS": ",".join(platforms)}
    environment = {
        **os.environ,
        **variables(),
        **{f"BASE_{name.upper()}": pinned or f"{_UNLOCKED}{name}" for name, pinned in references.items()},
        **{name: value for name, value in given.items() if value},
    }
    return Bakery(docker, environment, choice)


def parse_plan(printed: str) -> Plan:
    """The targets of what bake printed."""
    found: Plan = json.loads(printed)["target"]
    return dict(sorted(found.items()))


def record(metadata: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """What of bake's metadata names an image: its references and the digest under which they lead to it."""
    keys = ("image.name", "containerimage.digest")
    return {
        name: {key: entry[key] for key in keys}
        for name, entry in sorted(metadata.items())
        if isinstance(entry, dict) and all(key in entry for key in keys)
    }


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
    done = subprocess.run(
        ["sh", str(_INPUTS), "-a", architecture],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "STEELYARD_PYTHON": os.environ.get("STEELYARD_PYTHON", sys.executable)},
    )
    if done.returncode == 0:
        return None
    said = [line.removeprefix("inputs: ") for line in done.stderr.splitlines() if line.startswith("inputs: ")]
    return said[-1] if said else f"{_INPUTS.name} ended with exit code {done.returncode}"
