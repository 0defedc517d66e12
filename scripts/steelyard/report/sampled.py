# SPDX-License-Identifier: Apache-2.0
"""Reads the sampled profiles of a session: `profiles/ARM/EVENT/` with profile.json and slices."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from steelyard.analysis.profiles import ProfileData, Stack, pool, read_stacks
from steelyard.errors import BadInput
from steelyard.results.profile import INTERVALS, RECORD, Profile
from steelyard.results.schema import Event
from steelyard.results.store import read_record

FLAME = "flame.html"


@dataclass(frozen=True)
class SampledProfile:
    """One arm's profile of one event, of all its starts."""

    records: list[Profile]
    starts: list[ProfileData]
    path: str
    """Of its flame graph, from the session's folder."""

    @property
    def record(self) -> Profile:
        """Of its first start."""
        return self.records[0]

    @cached_property
    def data(self) -> ProfileData:
        """All starts together."""
        return pool(self.starts)


def read_profiles(folder: Path) -> list[SampledProfile]:
    """The profiles of a session whose requests were counted: without them no cost can be compared.

    Args:
        folder: of the session.

    Raises:
        BadInput: a slice is not what the profiler writes.
    """
    profiles: dict[tuple[str, Event], SampledProfile] = {}
    paths = (folder / "profiles").glob(f"[!.]*/[!.]*/{RECORD}")
    for record, path in sorted(((read_record(path, Profile), path) for path in paths), key=_place):
        if not record.request_rate:
            continue
        slices = _read_slices(path.parent, record)
        requests = [record.request_rate * record.slice_seconds] * len(slices)
        named = f"{path.parent.relative_to(folder)}/{FLAME}"
        profile = profiles.setdefault((record.arm, record.event), SampledProfile([], [], named))
        profile.records.append(record)
        profile.starts.append(ProfileData(record.event, slices, requests))
    return list(profiles.values())


def _place(read: tuple[Profile, Path]) -> tuple[int, str, int]:
    record, _ = read
    return list(INTERVALS).index(record.event), record.arm, record.start


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
