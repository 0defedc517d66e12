# SPDX-License-Identifier: Apache-2.0
"""`images/docker-bake.hcl`: its variables, what it would build, and the command lines that build it (pure)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import BadInput
from steelyard.images.checkout import Sources
from steelyard.paths import ROOT

BAKE_FILE = "images/docker-bake.hcl"
_UNLOCKED = "not-locked.invalid/base/"
"""Stands for a base that cannot be named yet; a target that takes it is refused before anything is built."""
FLAVOURS = ("hotspot", "openj9", "all")
_GROUPS = {"all": "default", "hotspot": "hotspot"}
_EVERYTHING = "default"


@dataclass(frozen=True)
class Target:
    """What the bake file makes under one name."""

    name: str
    repository: str
    tags: tuple[str, ...]
    """Without the repository, the most specific first."""
    platforms: tuple[str, ...]
    args: Mapping[str, str]

    @property
    def reference(self) -> str:
        """Repository and first tag."""
        return f"{self.repository}:{self.tags[0]}"

    @property
    def unlocked(self) -> list[str]:
        """Names of the bases that it takes and that nobody could name."""
        return sorted({v.removeprefix(_UNLOCKED) for v in self.args.values() if v.startswith(_UNLOCKED)})


def variables(
    registry: str,
    sources: Sources,
    workload_versions: Mapping[str, str],
    build: Path,
    bases: Mapping[str, str | None],
) -> dict[str, str]:
    """The bake file's variables, to be put into the environment.

    Args:
        registry: registry and path that all images share, for example `ghcr.io/steelyard`.
        sources: the checkout.
        workload_versions: what each application states, by workload.
        build: folder of the finished Java build; named from the top of the checkout where it lies in there, so that
            no path of the building machine gets into a build's provenance.
        bases: reference of each base by name; None for one that is not locked.
    """
    named = {f"BASE_{name.upper()}": text or f"{_UNLOCKED}{name}" for name, text in bases.items()}
    return {
        "REGISTRY": registry,
        "VERSION": sources.version,
        "REVISION": sources.revision,
        "FINGERPRINT": sources.fingerprint,
        "BUILD": str(build.relative_to(ROOT) if build.is_relative_to(ROOT) else build),
        "SOURCE_DATE_EPOCH": str(sources.epoch),
        **{f"VERSION_{name.upper()}": version for name, version in workload_versions.items()},
        **named,
    }


def print_command(targets: Sequence[str]) -> list[str]:
    """Arguments of docker that print what targets or groups come to, as JSON."""
    return ["buildx", "bake", "-f", str(ROOT / BAKE_FILE), "--print", *targets]


def parse_plan(printed: str) -> dict[str, Target]:
    """Targets by name, from what `bake --print` printed.

    Raises:
        ValueError: it is something else.
    """
    found = {}
    for name, described in json.loads(printed)["target"].items():
        references = [str(tag).rpartition(":") for tag in described.get("tags") or []]
        if not references:
            raise ValueError(f"target {name} has no tags")
        # The longest tag says most: `0.1.0-openj9` rather than `0.1.0`.
        tags = sorted((tag for _, _, tag in references), key=lambda tag: (-len(tag), tag))
        args = {key: str(value) for key, value in (described.get("args") or {}).items()}
        platforms = tuple(described.get("platforms") or [])
        found[name] = Target(name, references[0][0], tuple(tags), platforms, args)
    return dict(sorted(found.items()))


def chosen(
    names: Sequence[str], flavour: str, everything: Mapping[str, Target], hotspot: Sequence[str]
) -> list[str]:
    """Names of the targets to build.

    Args:
        names: targets that were asked for; empty: those of the flavour.
        flavour: one of FLAVOURS; `hotspot` is all that needs no OpenJ9, `openj9` the rest.
        everything: all targets of the bake file.
        hotspot: those that need no OpenJ9.

    Raises:
        BadInput: an unknown target or flavour.
    """
    if flavour not in FLAVOURS:
        raise BadInput(f"unknown flavour {flavour!r}: there are {', '.join(FLAVOURS)}")
    unknown = sorted(set(names) - set(everything))
    if unknown:
        raise BadInput(f"unknown image {unknown[0]!r}: there are {', '.join(everything)}")
    if names:
        return sorted(set(names))
    if flavour == "openj9":
        return sorted(set(everything) - set(hotspot))
    return sorted(hotspot if flavour == "hotspot" else everything)


def group_of(flavour: str) -> str:
    """The bake file's group of a flavour."""
    return _GROUPS.get(flavour, _EVERYTHING)


def platforms_of(target: Target, wanted: Sequence[str]) -> list[str]:
    """The platforms to build a target for: those wanted that it exists for, or all of its own."""
    return [platform for platform in target.platforms if not wanted or platform in wanted]


def bake_command(
    targets: Sequence[Target], wanted: Sequence[str], output: Sequence[str], metadata: Path
) -> list[str]:
    """Arguments of docker that build targets.

    Args:
        targets: all built in one go.
        wanted: platforms; empty: those of each target.
        output: `--load`, `--push`, or settings of an output of its own.
        metadata: file for the digests.
    """
    settings = []
    for target in targets:
        settings += ["--set", f"{target.name}.platform={','.join(platforms_of(target, wanted))}"]
    names = [target.name for target in targets]
    common = ["--progress", "plain", "--metadata-file", str(metadata)]
    return ["buildx", "bake", "-f", BAKE_FILE, *common, *settings, *output, *names]


def archive_output(target: Target, archive: Path) -> list[str]:
    """Output into an OCI archive with a single name, which is what can be pushed by digest without a tag."""
    return [
        *("--set", f"{target.name}.tags={target.repository}:staged"),
        *("--set", f"{target.name}.output=type=oci,dest={archive}"),
    ]


def join_command(repository: str, tags: Sequence[str], digests: Sequence[str]) -> list[str]:
    """Arguments of docker that make one index of what was pushed by digest, and tag it."""
    tagged = [part for tag in tags for part in ("--tag", f"{repository}:{tag}")]
    return ["buildx", "imagetools", "create", *tagged, *(f"{repository}@{digest}" for digest in digests)]


def parse_metadata(text: str) -> dict[str, str]:
    """Digest of the pushed index or image by target, from bake's metadata file."""
    document = json.loads(text)
    return {
        name: str(entry["containerimage.digest"])
        for name, entry in document.items()
        if isinstance(entry, dict) and "containerimage.digest" in entry
    }


def folder() -> Path:
    """Where bake is run: relative paths of the bake file begin there."""
    return ROOT
