# SPDX-License-Identifier: Apache-2.0
"""The kernel's map of a process's memory (`/proc/PID/smaps`, proc(5)): what pages back its heap, which class cache is
mapped.

It shows what was granted, while JVMs tell what they meant to use. Explicit huge pages have a page size of their own and
are in no resident set; transparent ones are ordinary memory, marked `AnonHugePages`.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

_HEAD = re.compile(
    r"^([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]{8,}) ([0-9a-f]{2,}:[0-9a-f]{2,} [0-9]+) *(.*)$", re.MULTILINE
)
_FIELD = re.compile(r"^(\w+): +([0-9]+) kB$", re.MULTILINE)
_OTHER = re.compile(r"\w+:(?: |$)")
"""Every line that begins no mapping."""
_ORDINARY = 64
"""Largest page, in KiB, that is no huge one: ppc64le and some kernels for other processors have 64 KiB."""
_MUCH = 1 << 20
"""Bytes of a mapping below which it is no heap."""
_ARCHIVE = re.compile(r".*\.(jsa|aot)|.*/C[0-9]+M[0-9]+F\w+_.+_G[0-9]+L[0-9]+")
"""HotSpot's archives and caches; a shared class cache of OpenJ9."""


class Area(NamedTuple):
    """One mapping; sizes are KiB."""

    start: int
    end: int
    executable: bool
    name: str
    resident: int
    transparent: int
    """Resident in transparent huge pages."""
    explicit: int
    """Resident in explicit ones."""
    file: str = ""
    """Device and inode of the memory that it shows."""
    offset: int = 0
    """Where in that it begins, bytes."""
    shared: bool = False


_NEEDED = ("Rss", "KernelPageSize", "AnonHugePages", "Private_Hugetlb", "Shared_Hugetlb")


def parse_smaps(text: str) -> list[Area]:
    """Read all mappings, in order of address; none at all where one lacks what is needed: it may be the heap."""
    heads = list(_HEAD.finditer(text))
    if any(not _HEAD.match(line) and not _OTHER.match(line) for line in text.splitlines()):
        return []
    ends = [*(head.start() for head in heads), len(text)][1:]
    areas = []
    for head, end in zip(heads, ends, strict=True):
        sizes = {name: int(size) for name, size in _FIELD.findall(text, head.end(), end)}
        if not sizes.keys() >= set(_NEEDED):
            return []
        explicit = sizes.get("Private_Hugetlb", 0) + sizes.get("Shared_Hugetlb", 0)
        # Kernels before 5.18 or so count the transparent pages of files apart: they are no heap.
        resident = (0 if sizes.get("KernelPageSize", 0) > _ORDINARY else sizes.get("Rss", 0)) + explicit
        area = Area(
            int(head[1], 16),
            int(head[2], 16),
            "x" in head[3],
            head[6],
            resident,
            # ZGC's heap is shared memory, whose transparent pages are counted apart.
            sizes.get("AnonHugePages", 0) + sizes.get("ShmemPmdMapped", 0),
            explicit,
            head[5],
            int(head[4], 16),
            "s" in head[3],
        )
        areas.append(area)
    return areas


def heap_pages(areas: Sequence[Area], heap: int | None) -> str | None:
    """What backs the heap: `small`, `transparent` or `large` as in `pages`, a sentence's part where it is mixed.

    The heap is the adjoining mappings without code that are as large as it together, which HotSpot reserves as one;
    where there is none, the largest resident memory that belongs to no file.

    Args:
        areas: all mappings.
        heap: its largest size in bytes; None: not known.
    """
    data = [area for area in areas if not area.executable and not area.name.startswith("[")]
    exact = [run for first in range(len(data)) if (run := _heap_from(data, first, heap or 0))]
    alone = [[area] for area in data if _of_no_file(area)]
    return _pages_of(max(exact or alone, key=_resident, default=[]))


def code_pages(areas: Sequence[Area]) -> str | None:
    """The same of compiled code: memory of no file that may be executed."""
    return _pages_of([area for area in areas if area.executable and _of_no_file(area)])


def shared_mappings(areas: Sequence[Area]) -> int | None:
    """How often shared memory of no file is mapped, where it is mapped most often; None: there is none of `_MUCH`.

    That is the heap of ZGC: three views of the same pages without generations, one with them (JEP 439).
    """
    shared = [area for area in areas if area.shared and _of_no_file(area) and area.end - area.start >= _MUCH]
    times = (sum(_shows(other, area.file, area.offset) for other in shared) for area in shared)
    return max(times, default=None)


def _shows(area: Area, file: str, offset: int) -> bool:
    """Whether a mapping has the byte at an offset of some memory."""
    return area.file == file and area.offset <= offset < area.offset + area.end - area.start


def _of_no_file(area: Area) -> bool:
    return not area.name or area.name.startswith(("/anon_hugepage", "/SYSV", "/memfd"))


def _pages_of(run: Sequence[Area]) -> str | None:
    """What backs mappings; None where nothing of them is resident."""
    resident = _resident(run)
    if not resident:
        return None
    explicit, transparent = (
        sum(area.explicit for area in run) / resident,
        sum(area.transparent for area in run) / resident,
    )
    if explicit >= 0.9:
        return "large"
    if transparent >= 0.5:
        return "transparent"
    if explicit + transparent <= 0.05:
        return "small"
    return f"{explicit:.0%} explicit and {transparent:.0%} transparent"


def class_cache(areas: Sequence[Area]) -> str:
    """What is mapped of class caches: `mapped`, the JVM's `own` archive alone, or `unmapped`."""
    caches = [area.name for area in areas if _ARCHIVE.fullmatch(area.name)]
    if any("/lib/server/" not in name for name in caches):
        return "mapped"
    return "own" if caches else "unmapped"


def _heap_from(areas: Sequence[Area], first: int, size: int) -> list[Area]:
    """The mappings from the first on that are of this size together; none where there is a gap or another size."""
    end = areas[first].start
    for index in range(first, len(areas)):
        if areas[index].start != end or end - areas[first].start >= size:
            break
        end = areas[index].end
        if end - areas[first].start == size:
            return list(areas[first : index + 1])
    return []


def _resident(run: Sequence[Area]) -> int:
    return sum(area.resident for area in run)
