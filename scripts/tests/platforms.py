# SPDX-License-Identifier: Apache-2.0
"""The platforms that the images of the tests are made for, which are those that all their bases have.

A base has every platform, or `make-bases.sh -i` left one out since apt could not verify the release's package list for
it, or since the mirror lacks packages that the list names. That is noted with the reason, for these causes alone and
never for this host's platform; all else stays a failure.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from steelyard.host.docker import native_architecture
from steelyard.images.bake import Plan
from steelyard.images.catalogue import all_platforms
from steelyard.images.lock import MADE_HERE

LOCAL_REGISTRY = "127.0.0.1:5000"
BASES = f"{LOCAL_REGISTRY}/bases"
PLATFORMS = sorted({f"linux/{native_architecture()}", *all_platforms()})
"""This host's, and those that are started under emulation where this host is another."""


def missing(target: Mapping[str, Any], made_here: Path = MADE_HERE) -> dict[str, str]:
    """By platform why an image is not made for it, told by the bases that its target of the bake file has."""
    taken = [str(value) for value in (target.get("args") or {}).values()]
    bases = sorted(
        {one.removeprefix(f"{BASES}/").partition(":")[0] for one in taken if one.startswith(f"{BASES}/")}
    )
    notes = [(base, made_here / f"{base}.without") for base in bases]
    return {
        platform: f"the base {base} was made without {platform}: {why}"
        for base, note in notes
        if note.exists()
        for platform, why in (line.split(" ", 1) for line in note.read_text(encoding="utf-8").splitlines())
    }


def narrowed(plan: Plan, made_here: Path = MADE_HERE) -> Plan:
    """The targets with those of their platforms that can be made."""
    return {
        name: {
            **target,
            "platforms": [one for one in target["platforms"] if one not in missing(target, made_here)],
        }
        for name, target in plan.items()
    }


def skip_where_missing(*targets: Mapping[str, Any], platform: str) -> None:
    """Skip a test that needs images for a platform which one of their bases was made without; it says which and why."""
    if reasons := {missing(target)[platform] for target in targets if platform in missing(target)}:
        pytest.skip("; ".join(sorted(reasons)))
