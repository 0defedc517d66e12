# SPDX-License-Identifier: Apache-2.0
"""The CPU layout of hosts of several kinds."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
import trees

from steelyard.host.cpus import Core, parse_cpu_list, read_layout


def test_x86_two_sockets_smt2(tmp_path: Path) -> None:
    layout = read_layout(trees.x86_smt2(tmp_path), allowed=range(16))
    assert len(layout.cores) == 8
    assert layout.cores[0] == Core(0, 0, 0, (0, 8))
    assert layout.cores[4] == Core(8, 1, 4, (4, 12))
    assert (layout.threads_per_core, layout.nodes, layout.packages) == (2, 2, 2)
    assert layout.cpus[:4] == (0, 8, 1, 9)


@pytest.mark.parametrize("nodes", [1, 2])
def test_power9_smt8(tmp_path: Path, nodes: int) -> None:
    layout = read_layout(trees.power9_smt8(tmp_path, nodes), allowed=range(128))
    assert len(layout.cores) == 16
    assert layout.cores[1].cpus == tuple(range(8, 16))
    assert (layout.threads_per_core, layout.nodes) == (8, nodes)
    assert layout.cpus == tuple(range(128))


def test_power9_switched_to_smt4(tmp_path: Path) -> None:
    off = tuple(cpu for cpu in range(128) if cpu % 8 >= 4)
    root = trees.cpus(tmp_path, [list(range(8 * core, 8 * core + 8)) for core in range(16)], offline=off)
    layout = read_layout(root, allowed=range(128))
    assert layout.threads_per_core == 4
    assert layout.cores[2].cpus == (16, 17, 18, 19)


def test_only_what_this_process_may_use(tmp_path: Path) -> None:
    layout = read_layout(trees.x86_smt2(tmp_path), allowed={1, 9, 5, 99})
    assert layout.cores == (Core(0, 0, 1, (1, 9)), Core(8, 1, 5, (5,)))


def test_guest_without_topology(tmp_path: Path) -> None:
    trees.put(tmp_path, "sys/devices/system/cpu/online", "0-1")
    assert [core.cpus for core in read_layout(tmp_path, allowed={0, 1}).cores] == [(0,), (1,)]


def test_no_sysfs_at_all(tmp_path: Path) -> None:
    assert read_layout(tmp_path, allowed={0, 2}).cpus == (0, 2)


@pytest.mark.alone
@pytest.mark.usefixtures("turn")
def test_this_host_as_another_library_sees_it() -> None:
    everything = read_layout(allowed=range(os.cpu_count() or 1))
    assert len(everything.cores) == psutil.cpu_count(logical=False)
    assert set(read_layout().cpus) == os.sched_getaffinity(0)


def test_affinity_limits_the_layout() -> None:
    one = {min(os.sched_getaffinity(0))}

    def read_limited() -> set[int]:
        os.sched_setaffinity(0, one)  # of this thread alone
        return set(read_layout().cpus)

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(read_limited).result() == one


def test_lists() -> None:
    assert parse_cpu_list("0-3,8,10-11\n") == [0, 1, 2, 3, 8, 10, 11]
    assert parse_cpu_list("") == []
