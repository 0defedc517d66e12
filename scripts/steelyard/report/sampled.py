# SPDX-License-Identifier: Apache-2.0
"""Reads the sampled profiles of a session: `profiles/ARM/EVENT/` with profile.json and slices."""

from collections import Counter
from collections.abc import Sequence
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
    omitted: list[Profile]
    """Of starts of which some server has no slices."""

    @property
    def record(self) -> Profile:
        """Of its first start."""
        return (self.records or self.omitted)[0]

    @cached_property
    def data(self) -> ProfileData:
        """All starts together (one at least)."""
        return pool(self.starts)


def read_profiles(folder: Path) -> list[SampledProfile]:
    """The profiles of a session that can be compared: of starts, and of requests that were counted.

    Args:
        folder: of the session.

    Raises:
        BadInput: a slice is not what the profiler writes.
    """
    profiles: dict[tuple[str, Event], list[tuple[Profile, Path, list[Counter[Stack]]]]] = {}
    paths = (folder / "profiles").glob(f"[!.]*/[!.]*/{RECORD}")
    for record, path in sorted(((read_record(path, Profile), path) for path in paths), key=_place):
        if record.per == "start" or record.request_rate:
            read = record, path.parent, _read_slices(path.parent, record)
            profiles.setdefault((record.arm, record.event), []).append(read)
    return [_make_profile(folder, starts) for starts in profiles.values()]


def _make_profile(
    folder: Path, starts: Sequence[tuple[Profile, Path, list[Counter[Stack]]]]
) -> SampledProfile:
    used = [start for start in starts if start[2]]
    _, first, _ = (used or starts)[0]
    return SampledProfile(
        [record for record, *_ in used],
        [_data_of(record, slices) for record, _, slices in used],
        f"{first.relative_to(folder)}/{FLAME}",
        [record for record, _, slices in starts if not slices],
    )


def _data_of(record: Profile, slices: list[Counter[Stack]]) -> ProfileData:
    """A start, whose seconds are unlike each other, is one slice."""
    if record.per == "start":
        return ProfileData(record.event, [sum(slices, Counter())], [1000.0])
    return ProfileData(
        record.event, slices, [(record.request_rate or 0.0) * record.slice_seconds] * len(slices)
    )


def _place(read: tuple[Profile, Path]) -> tuple[int, str, int]:
    record, _ = read
    return list(INTERVALS).index(record.event), record.arm, record.start


def _read_slices(folder: Path, record: Profile) -> list[Counter[Stack]]:
    """Slices of all servers together: the first of each, the second of each; none where a server has none."""
    of_servers = []
    for server, names in record.slices.items():
        try:
            texts = [(folder / server / name).read_text(encoding="utf-8", errors="replace") for name in names]
            of_servers.append([read_stacks(text) for text in texts])
        except (OSError, ValueError) as error:
            raise BadInput(f"{folder / server} holds no slices of a profile ({error})") from error
    if record.per == "start" and all(of_servers):
        return [slice_ for slices in of_servers for slice_ in slices]
    together = []
    for slices in zip(*of_servers, strict=False):
        summed: Counter[Stack] = Counter()
        for stacks in slices:
            summed.update(stacks)
        together.append(summed)
    return together
