# SPDX-License-Identifier: Apache-2.0
"""Hosts unlike the usual ones: two kinds of core, isolated CPUs, soft limits on memory, lxcfs."""

import os
from pathlib import Path

import pytest
import trees
from planned import specs

from steelyard.errors import BadInput, MissingRequirement
from steelyard.host import settings
from steelyard.host.core_kinds import core_kinds
from steelyard.host.facts import container, read_facts
from steelyard.host.system import System
from steelyard.results.spec import Spec
from steelyard.sampling.cgroup import memory_high
from steelyard.session.plan import check_host
from steelyard.spec.split import check_kinds

FAST, SLOW = (0, 1), (2, 3)


def hybrid(root: Path, sign: str) -> System:
    """Four cores with one thread each, two and two of a kind, as the kernel tells by one sign."""
    trees.cpus(root, [[0], [1], [2], [3]])
    for cpu in range(4):
        for measure, numbers in {
            "cpufreq/cpuinfo_max_freq": (5_000_000, 3_800_000),
            "acpi_cppc/highest_perf": (64, 36),
            "cpu_capacity": (1024, 446),
        }.items():
            if sign in measure:
                trees.put(root, f"{trees.CPU}/cpu{cpu}/{measure}", str(numbers[cpu in SLOW]))
    if sign == "unit":
        trees.put(root, "sys/devices/cpu_core/cpus", "0-1")
        trees.put(root, "sys/devices/cpu_atom/cpus", "2-3")
    return System(root)


@pytest.mark.parametrize("sign", ["cpuinfo_max_freq", "highest_perf", "cpu_capacity", "unit"])
def test_two_kinds_of_core_are_seen_by_each_sign(tmp_path: Path, sign: str) -> None:
    system = hybrid(tmp_path, sign)
    kinds = core_kinds(system, range(4))
    assert kinds[0] == kinds[1] != kinds[2] == kinds[3]
    assert core_kinds(system, FAST) == {}
    seen = settings.cores(system)
    assert (seen.level, seen.state.count("CPU 0-1")) == ("warn", 1)
    assert "taskset -c 0-1" in (seen.change or "")
    assert "CPU 2-3" in (read_facts(tmp_path).extra["core_kinds"] or "")


@pytest.mark.parametrize(
    ("measure", "numbers"),
    [
        ("cpufreq/cpuinfo_max_freq", (5_000_000, 4_900_000, 4_900_000, 4_700_000)),  # favoured cores
        ("acpi_cppc/highest_perf", (231, 226, 216, 206)),  # AMD's preferred cores
        ("cpufreq/cpuinfo_max_freq", (5_000_000, 0, 3_000_000, 3_000_000)),  # not told of all
    ],
)
def test_cores_of_one_kind_may_differ_a_little(
    tmp_path: Path, measure: str, numbers: tuple[int, ...]
) -> None:
    trees.cpus(tmp_path, [[0], [1], [2], [3]])
    for cpu, number in enumerate(numbers):
        if number:
            trees.put(tmp_path, f"{trees.CPU}/cpu{cpu}/{measure}", str(number))
    assert core_kinds(System(tmp_path), range(4)) == {}


def arms() -> dict[str, Spec]:
    """jvm-count: one server on both cores of an arm, and one on each."""
    return specs("jvm-count", host=[(0,), (2,)])


def test_one_jvm_does_not_get_the_fast_and_another_the_slow_cores(tmp_path: Path) -> None:
    system = hybrid(tmp_path, "cpuinfo_max_freq")
    with pytest.raises(BadInput, match=r"cores are not alike: .*taskset -c 0,1 "):
        check_host(list(arms().values()), system)
    check_host(list(specs("jvm-count", host=[(0,), (1,)]).values()), system)


def test_the_same_mix_for_all_is_no_difference() -> None:
    kinds = {0: "fast", 1: "fast", 2: "slow", 3: "slow"}
    mixed = [arm for name, arm in arms().items() if len(arm.servers) == 1]
    check_kinds([*mixed, *mixed], kinds)
    alone = specs("jvm-count", host=[(0,), (1,)])
    with pytest.raises(BadInput, match="50% fast and 50% slow"):
        check_kinds([*mixed, *(arm for arm in alone.values() if len(arm.servers) == 1)], kinds)


def test_isolated_cpus_are_told_and_nothing_is_bound_to_several(tmp_path: Path) -> None:
    trees.cpus(tmp_path, [[0], [2]])
    trees.put(tmp_path, f"{trees.CPU}/isolated", "2-3")
    system = System(tmp_path)
    assert settings.isolated_cores(system).state == "CPU 2-3"
    assert settings.isolated_cores(System(tmp_path / "none")).state == "none"
    with pytest.raises(BadInput, match=r"bound to CPU 2, which is isolated"):
        check_host(list(arms().values()), system)


def test_lxcfs_hides_other_load(tmp_path: Path) -> None:
    trees.cpus(tmp_path, [[0], [2]])
    line = "512 510 0:60 /proc/{0} /proc/{0} rw,nosuid - fuse.lxcfs lxcfs rw,user_id=0"
    trees.put(tmp_path, "proc/self/mountinfo", "\n".join(line.format(name) for name in ("stat", "meminfo")))
    system = System(tmp_path)
    assert container(system) == "lxc"
    seen = settings.container(system)
    assert (seen.level, "/proc/stat, /proc/meminfo" in seen.state) == ("warn", True)
    with pytest.raises(MissingRequirement, match="lxcfs shows this container a /proc/stat of its own"):
        check_host(list(arms().values()), system)


def test_a_soft_limit_on_memory_is_told(tmp_path: Path) -> None:
    pid = os.getpid()
    trees.put(tmp_path, f"proc/{pid}/cgroup", "0::/session")
    trees.put(tmp_path, "proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw")
    group = "sys/fs/cgroup/session"
    for name, text in {"cgroup.procs": str(pid), "memory.max": "max", "memory.high": str(1 << 30)}.items():
        trees.put(tmp_path, f"{group}/{name}", text)
    trees.put(tmp_path, "sys/fs/cgroup/cgroup.controllers", "cpu memory")
    assert memory_high(pid, str(tmp_path)) == 1 << 30
    seen = settings.cgroup(System(tmp_path))
    assert (seen.level, "1,024 MiB, above which it is slowed down (memory.high)" in seen.state) == (
        "warn",
        True,
    )
    trees.put(tmp_path, f"{group}/memory.high", "a lot")
    assert settings.cgroup(System(tmp_path)).state == "version 2, a limit on memory reads 'a lot'"
