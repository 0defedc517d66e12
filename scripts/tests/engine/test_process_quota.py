# SPDX-License-Identifier: Apache-2.0
"""CPU quotas of processes: where groups are made, what is written into them, and a process that is held by one."""

import os
import subprocess
from pathlib import Path

import pytest
from builders import make_component

from steelyard.engines.process.quota import (
    enter,
    find_parent,
    group_of,
    make_group,
    quota_files,
    remove_abandoned,
    remove_group,
    script_lines,
)
from steelyard.errors import MissingRequirement
from steelyard.sampling.cgroup import Place, cpu_quota, throttled_seconds

OWN = str(os.getpid())
MOUNTS = {
    "v1": "30 20 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct",
    "v2": "30 20 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
}
MEMBERSHIP = {"v1": "4:cpu,cpuacct:/ci/job", "v2": "0::/ci/job"}


def tree(root: Path, version: str, passed_on: dict[str, str]) -> None:
    """A host whose harness is in the group ci/job; of version 2 the controllers that each group passes on."""
    for pid in ("self", OWN):
        (root / "proc" / pid).mkdir(parents=True)
        (root / "proc" / pid / "mountinfo").write_text(MOUNTS[version] + "\n", encoding="ascii")
        (root / "proc" / pid / "cgroup").write_text(MEMBERSHIP[version] + "\n", encoding="ascii")
    top = root / "sys/fs/cgroup" / ("cpu" if version == "v1" else "")
    for name in ("", "ci", "ci/job"):
        (top / name).mkdir(parents=True, exist_ok=True)
        (top / name / "cgroup.procs").write_text(OWN if name == "ci/job" else "", encoding="ascii")
        if name in passed_on:
            (top / name / "cgroup.subtree_control").write_text(passed_on[name], encoding="ascii")


@pytest.mark.parametrize(
    ("version", "passed_on", "folder"),
    [
        ("v1", {}, "sys/fs/cgroup/cpu/ci/job"),
        ("v2", {"": "cpu memory", "ci": "memory", "ci/job": ""}, "sys/fs/cgroup"),
        ("v2", {"": "cpu memory", "ci": "cpuset cpu"}, "sys/fs/cgroup/ci"),
    ],
)
def test_groups_are_made_where_the_kernel_allows_it(
    tmp_path: Path, version: str, passed_on: dict[str, str], folder: str
) -> None:
    tree(tmp_path, version, passed_on)
    assert find_parent(str(tmp_path)) == Place(str(tmp_path / folder), version == "v2")


def test_where_no_group_can_be_made_one_sentence_says_what_to_do(tmp_path: Path) -> None:
    tree(tmp_path, "v2", {"": "memory", "ci": "cpuset"})
    with pytest.raises(
        MissingRequirement, match=r"run as root of the host, choose --engine compose, or leave cpus out"
    ):
        find_parent(str(tmp_path))


def test_a_quota_is_written_in_periods_of_100_ms(tmp_path: Path) -> None:
    make_group(tmp_path / "v1", 0.5, unified=False)
    make_group(tmp_path / "v2", 1.5, unified=True)
    assert {path.name: path.read_text() for path in (tmp_path / "v1").iterdir()} == {
        "cpu.cfs_period_us": "100000",
        "cpu.cfs_quota_us": "50000",
    }
    assert (tmp_path / "v2" / "cpu.max").read_text() == "150000 100000"
    assert list(quota_files(0.5, unified=True)) == ["cpu.max"]
    assert script_lines(Path("/g 1"), 0.5, unified=True) == [
        "mkdir -p '/g 1'",
        "echo 50000 100000 > '/g 1/cpu.max'",
    ]
    with pytest.raises(MissingRequirement, match="the kernel refuses a CPU quota of 2"):
        make_group(tmp_path / "away" / "group", 2, unified=True)


def test_groups_of_commands_that_have_ended_are_removed(tmp_path: Path) -> None:
    parent = Place(str(tmp_path), unified=True)
    gone = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True, check=True).stdout.strip()
    own, abandoned = group_of(parent, make_component(port=9080)), tmp_path / f"steelyard-{gone}-server-1"
    for folder in (own, abandoned, tmp_path / "other"):
        folder.mkdir()
    remove_abandoned(parent)
    assert sorted(tmp_path.iterdir()) == sorted([own, tmp_path / "other"])


def test_a_process_is_held_to_its_quota_by_the_kernel() -> None:
    try:
        parent = find_parent()
        folder = group_of(parent, make_component())
        make_group(folder, 0.1, unified=parent.unified)
    except MissingRequirement as missing:
        pytest.skip(str(missing))
    endless = subprocess.Popen(enter(str(folder), ["sh", "-c", "while :; do :; done"]))
    try:
        while (folder / "cgroup.procs").read_text() != f"{endless.pid}\n":
            assert endless.poll() is None
        assert cpu_quota(endless.pid) == 0.1
        # It is never idle, so that it is held back as soon as it has had its first 10 ms.
        while not throttled_seconds(endless.pid):
            assert endless.poll() is None
    finally:
        endless.kill()
        endless.wait()
        remove_group(folder)
    assert not folder.exists()
