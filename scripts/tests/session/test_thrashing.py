# SPDX-License-Identifier: Apache-2.0
"""Which components thrash at the limit of their containers, from samples."""

from pathlib import Path

import pytest
from builders import make_jvm
from planned import containers, specs

from steelyard.measure.samples import Samples
from steelyard.results.spec import Component
from steelyard.sampling.columns import COLUMNS
from steelyard.session.procedures import find_thrashing, find_unwatched
from steelyard.units import MIB

T = 1_800_000_000
SECONDS = 20
LIMIT = 256 * MIB


def server(memory: int | None) -> Component:
    found = specs(
        "jvm-count", "engine=compose", "jvms=1,2", runtime=containers("server", jvm=make_jvm("openj9"))
    )
    return next(iter(found.values())).servers[0].model_copy(update={"name": "s", "memory_bytes": memory})


def samples(
    folder: Path, faults: float, peak: float, contained: bool = True, keeps_peak: bool = True
) -> Samples:
    """Of a server with so many major faults a second, after 500 at its start, in a container that once had `peak`
    bytes; `keeps_peak`: the kernel does, which it does not with cgroup v2 before Linux 5.19."""
    rows = {
        "processes": [f"{T + s},s,{s},0,1000,,{s},{500 + faults * s},{s},{s},5,,1,0" for s in range(SECONDS)],
        "cgroups": [
            f"{T + s},s,{s},0,0,0,{peak},{peak},{peak if keeps_peak else ''},0,"
            for s in range(SECONDS)
            if contained
        ],
    }
    for name, lines in rows.items():
        (folder / f"{name}.csv").write_text("\n".join([COLUMNS[name], *lines, ""]), encoding="utf-8")
    return Samples.load(folder)


@pytest.mark.parametrize(
    ("faults", "peak", "found"),
    [
        (280.0, LIMIT, True),
        (280.0, LIMIT - 4096 * 64, True),
        (50.0, LIMIT, True),
        (49.0, LIMIT, False),
        # At its limit for page cache that nobody misses.
        (0.0, LIMIT, False),
        # The host itself is short of memory, or its disk was slow to begin with: not the container's limit.
        (280.0, 0.9 * LIMIT, False),
    ],
)
def test_a_container_thrashes_that_reads_back_what_its_limit_took(
    tmp_path: Path, faults: float, peak: float, found: bool
) -> None:
    told = find_thrashing([server(LIMIT)], samples(tmp_path, faults, peak), T, T + SECONDS - 1)
    sentence = (
        "s thrashed at its limit of 256 MiB: it read its own memory back from the disk"
        f" {faults:.0f} times a second"
    )
    assert told == [sentence] * found


def test_without_a_limit_or_samples_of_the_time_nothing_is_said(tmp_path: Path) -> None:
    measured = samples(tmp_path, 280.0, LIMIT)
    assert find_thrashing([server(None)], measured, T, T + SECONDS - 1) == []
    assert find_thrashing([server(LIMIT)], measured, T, T + 2 * SECONDS) == []
    assert find_thrashing([server(LIMIT)], measured, T + 5, T + 5) == []
    assert find_thrashing([server(LIMIT)], samples(tmp_path, 280.0, LIMIT, contained=False), T, T + 19) == []


@pytest.mark.parametrize(("memory", "found"), [(LIMIT, 1), (0.9 * LIMIT, 0)])
def test_without_the_kernels_own_peak_the_samples_tell(tmp_path: Path, memory: float, found: int) -> None:
    measured = samples(tmp_path, 280.0, memory, keeps_peak=False)
    assert len(find_thrashing([server(LIMIT)], measured, T, T + SECONDS - 1)) == found
    assert find_unwatched([server(LIMIT)], measured, T, T + SECONDS - 1) == []


def test_what_cannot_be_told_is_said(tmp_path: Path) -> None:
    hidden = samples(tmp_path, 280.0, LIMIT, contained=False)
    said = ["whether s thrashed at its limit of 256 MiB was not measured"]
    assert find_unwatched([server(LIMIT)], hidden, T, T + SECONDS - 1) == said
    assert find_unwatched([server(LIMIT)], samples(tmp_path, 0.0, LIMIT), T, T + 2 * SECONDS) == said
    assert find_unwatched([server(None)], hidden, T, T + SECONDS - 1) == []


def test_a_peak_that_was_read_before_says_nothing_of_the_time(tmp_path: Path) -> None:
    samples(tmp_path, 280.0, LIMIT)
    path = tmp_path / "cgroups.csv"
    first = path.read_text(encoding="utf-8").splitlines()[:6]
    path.write_text("\n".join([*first, ""]), encoding="utf-8")
    said = ["whether s thrashed at its limit of 256 MiB was not measured"]
    assert find_unwatched([server(LIMIT)], Samples.load(tmp_path), T, T + SECONDS - 1) == said
