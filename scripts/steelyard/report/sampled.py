# SPDX-License-Identifier: Apache-2.0
"""Reads the sampled profiles of a session: `profiles/ARM/EVENT/` with profile.json and slices."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from steelyard.analysis.profiles import ProfileData, Stack, read_stacks
from steelyard.errors import BadInput
from steelyard.results.profile import INTERVALS, RECORD, Profile
from steelyard.results.store import read_record

FLAME = "flame.html"


@dataclass(frozen=True)
class SampledProfile:
    """One arm's profile of one event."""

    record: Profile
    data: ProfileData
    path: str
    """Of its flame graph, from the session's folder."""


def read_profiles(folder: Path) -> list[SampledProfile]:
    """The profiles of a session whose requests were counted: without them no cost can be compared.

    Args:
        folder: of the session.

    Raises:
        BadInput: a slice is not what the profiler writes.
    """
    profiles = []
    for path in sorted((folder / "profiles").glob(f"[!.]*/[!.]*/{RECORD}")):
        record = read_record(path, Profile)
        if not record.request_rate:
            continue
        requests = record.request_rate * record.slice_seconds
        data = ProfileData(record.event, _read_slices(path.parent, record), requests)
        profiles.append(SampledProfile(record, data, f"{path.parent.relative_to(folder)}/{FLAME}"))
    order = list(INTERVALS)
    return sorted(profiles, key=lambda profile: order.index(profile.record.event))


def _read_slices(folder: Path, record: Profile) -> list[Counter[Stack]]:
    """Slices of all servers together: the first of each, the second of each."""
    of_servers = []
    for server, names in record.slices.items():
        try:
            texts = [(folder / server / name).read_text(encoding="utf-8", errors="replace") for name in names]
            of_servers.append([read_stacks(text) for text in texts])
        except (OSError, ValueError) as error:
            raise BadInput(f"{folder / server} holds no slices of a profile ({error})") from error
    together = []
    for slices in zip(*of_servers, strict=False):
        summed: Counter[Stack] = Counter()
        for stacks in slices:
            summed.update(stacks)
        together.append(summed)
    return together
