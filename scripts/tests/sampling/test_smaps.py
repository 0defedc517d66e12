# SPDX-License-Identifier: Apache-2.0
"""Memory maps of real JVMs with a heap of 256 MiB (HotSpot 17.0.15 and 25.0.3, OpenJ9 21.0.13).

They are cut to the fields that are read and to mappings of 1 MiB and more; folders are renamed.
"""

import mmap
import os
from pathlib import Path

import pytest

from steelyard.sampling.smaps import Area, class_cache, code_pages, heap_pages, parse_smaps, shared_mappings
from steelyard.units import MIB

MAPS = Path(__file__).parents[1] / "fixtures" / "smaps"
HEAP = 256 * MIB


def read(name: str) -> list[Area]:
    return parse_smaps((MAPS / f"hotspot-{name}.txt").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("granted-17", "large"),
        ("granted-25", "large"),
        # The pool held enough for the code cache and none for the heap. Option and log say `large` all the same.
        ("code-alone-17", "small"),
        ("code-alone-25", "small"),
        ("transparent-17", "transparent"),
        ("transparent-25", "transparent"),
        ("small-17", "small"),
        ("none-25", "small"),
    ],
)
def test_what_backs_the_heap_is_told_apart(name: str, pages: str) -> None:
    areas = read(name)
    assert heap_pages(areas, HEAP) == pages
    # Without its size it is the largest memory of no file; code is none.
    assert heap_pages(areas, None) == pages


@pytest.mark.parametrize(
    ("name", "times"),
    # Written by `-XX:+UseZGC -Xmx256m`. Their processes had RSS / PSS of 313 / 167 MB (17) and 184 / 181 MB (25).
    [("hotspot-zgc-17", 3), ("hotspot-zgc-25", 1), ("hotspot-small-17", None), ("openj9-granted-21", 1)],
)
def test_a_heap_that_is_mapped_several_times_is_told(name: str, times: int | None) -> None:
    areas = parse_smaps((MAPS / f"{name}.txt").read_text(encoding="utf-8"))
    assert shared_mappings(areas) == times


def test_the_code_cache_alone_had_large_pages() -> None:
    assert any(one.explicit and one.executable for one in read("code-alone-17"))


@pytest.mark.parametrize(
    ("name", "state"),
    [("small-17", "own"), ("archive-17", "mapped"), ("cache-25", "mapped"), ("none-25", "unmapped")],
)
def test_class_caches_are_known_by_what_is_mapped(name: str, state: str) -> None:
    assert class_cache(read(name)) == state


@pytest.mark.parametrize(
    ("name", "heap", "code"),
    [
        ("granted", "large", "large"),
        # -Xlp with 150 pages free, not enough for the heap: not a word of it, and transparent ones as by default.
        ("few", "transparent", "transparent"),
        ("transparent", "transparent", "transparent"),
        ("small", "small", "small"),
    ],
)
def test_heap_and_code_of_openj9(name: str, heap: str, code: str) -> None:
    areas = parse_smaps((MAPS / f"openj9-{name}-21.txt").read_text(encoding="utf-8"))
    assert (heap_pages(areas, HEAP), heap_pages(areas, None), code_pages(areas)) == (heap, heap, code)


def test_a_shared_class_cache_of_openj9_is_known_by_its_name() -> None:
    name = "/session/trials/1-a/cache/server/C290M4F1A64P_steelyard_G43L00"
    head = f"7f6203059000-7f6208000000 rw-s 00000000 fe:00 12 {' ' * 20} {name}\n"
    zeros = "AnonHugePages: 0 kB\nShared_Hugetlb: 0 kB\nPrivate_Hugetlb: 0 kB\nKernelPageSize: 4 kB\n"
    (area,) = parse_smaps(f"{head}Rss: 8 kB\n{zeros}")
    assert class_cache([area]) == "mapped"
    assert class_cache([area._replace(name="/opt/jdk/lib/server/C290.so")]) == "unmapped"


def test_the_heap_is_found_among_larger_memory() -> None:
    heap = Area(0x1000, 0x1000 + 64 * MIB, False, "", 1000, 0, 1000)
    native = Area(0x40000000, 0x40000000 + 512 * MIB, False, "", 400_000, 400_000, 0)
    assert heap_pages([heap, native], 64 * MIB) == "large"
    assert heap_pages([heap, native], None) == "transparent"
    half = heap._replace(resident=1000, explicit=0, transparent=300)
    assert heap_pages([half, native], 64 * MIB) == "0% explicit and 30% transparent"


@pytest.mark.parametrize(("huge", "pages"), [(0, "small"), (65536, "transparent")])
def test_a_heap_in_shared_memory_may_lie_in_transparent_pages(huge: int, pages: str) -> None:
    head = "40000000000-40004000000 rw-s 00000000 00:01 12                       /memfd:java_heap (deleted)\n"
    zeros = "AnonHugePages: 0 kB\nShared_Hugetlb: 0 kB\nPrivate_Hugetlb: 0 kB\nKernelPageSize: 4 kB\n"
    areas = parse_smaps(f"{head}Rss: 65536 kB\n{zeros}ShmemPmdMapped: {huge} kB\n")
    assert heap_pages(areas, 64 * MIB) == heap_pages(areas, None) == pages


def test_what_cannot_be_read_is_not_known() -> None:
    assert heap_pages(parse_smaps(""), HEAP) is None


def test_this_process_is_read() -> None:
    with mmap.mmap(-1, 48 * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as held:
        held.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(0, len(held), mmap.PAGESIZE):
            held[page] = 1
        areas = parse_smaps(Path(f"/proc/{os.getpid()}/smaps").read_text(encoding="utf-8"))
        large = [one for one in areas if one.resident >= 48 * 1024]
        assert any(heap_pages([one], None) == "small" for one in large)
