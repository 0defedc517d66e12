# SPDX-License-Identifier: Apache-2.0
"""Control groups: files recorded from real containers (v1: Docker; v2: Linux 6.1), and the running kernel's own.

Both recordings are of a group with 40 MiB and 0.2 CPUs in which the kernel killed one child for want of memory.
"""

import os
import shutil
import time
from pathlib import Path

import pytest

from steelyard.sampling.cgroup import ControlGroup, number, parse_membership, parse_mounts, throttled_seconds
from steelyard.units import MIB

RECORDED = Path(__file__).parents[1] / "fixtures" / "cgroup"
V1_GROUP = "/docker/e93c664f99d9870ae62d85120fd282a9e3ba746cb13b995099fe61e879cfd950"
V2_GROUP = "/system.slice/docker-3f1c0e6f8a4d.scope"
PID = 4711


def content(name: str) -> bytes:
    return (RECORDED / name).read_bytes()


class Tree:
    """A file system as a reader sees it: recorded files in the place of a group, and a /proc that names it."""

    def __init__(self, root: Path, version: str, membership: str, mountinfo: str) -> None:
        self.root = root
        self.version = version
        self.proc = root / "proc"
        for pid in ("self", str(PID)):
            (self.proc / pid).mkdir(parents=True)
        (self.proc / str(PID) / "cgroup").write_bytes(content(f"{version}/{membership}"))
        (self.proc / "self" / "mountinfo").write_bytes(content(f"{version}/{mountinfo}"))

    def group(self, folder: str, *names: str, pid: int = PID) -> Path:
        """Put a group there, with these recorded files."""
        path = self.root / folder.lstrip("/")
        path.mkdir(parents=True, exist_ok=True)
        (path / "cgroup.procs").write_text(f"12\n{pid}\n", encoding="ascii")
        for name in names:
            shutil.copy(RECORDED / self.version / name, path / name)
        return path

    def read(self) -> ControlGroup:
        return ControlGroup(PID, str(self.root))


def test_of_a_process_with_a_quota_nothing_else_is_its_own(docker_v1: Tree) -> None:
    told = ControlGroup(PID, str(docker_v1.root), quota_alone=True).read()
    assert told is not None
    assert set(told) == {"throttled_s", "periods", "throttled_periods"}


V2_FILES = ("cpu.stat", "memory.current", "memory.peak", "memory.stat", "memory.events")
V1_MEMORY = ("memory.usage_in_bytes", "memory.max_usage_in_bytes", "memory.stat", "memory.oom_control")


@pytest.fixture
def docker_v1(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path, "v1", "membership", "mountinfo-host")
    tree.group(f"sys/fs/cgroup/cpu{V1_GROUP}", "cpu.stat")
    tree.group(f"sys/fs/cgroup/cpuacct{V1_GROUP}", "cpuacct.usage")
    tree.group(f"sys/fs/cgroup/memory{V1_GROUP}", *V1_MEMORY)
    tree.group(f"sys/fs/cgroup/unified{V1_GROUP}")
    return tree


def test_version_1_from_the_host(docker_v1: Tree) -> None:
    reading = docker_v1.read().read()
    assert reading
    assert reading == {
        "cpu_s": pytest.approx(0.498684130),
        "throttled_s": pytest.approx(1.270156022),
        "periods": 28,
        "throttled_periods": 23,
        "memory": 22081536,
        "working_set": 22081536 - 21032960,
        "peak": 41943040,
        "oom_kills": 1,
    }


def _charge(group: Path, name: str) -> None:
    """Pages of two sizes; what is only reserved is told beside them."""
    for size, charged in (("2MB", 6), ("1GB", 1024), ("2MB.rsvd", 99)):
        (group / f"hugetlb.{size}.{name}").write_text(f"{charged * MIB}\n", encoding="ascii")


def test_large_pages_are_charged_apart_in_version_1(docker_v1: Tree) -> None:
    with (docker_v1.proc / "self" / "mountinfo").open("a", encoding="ascii") as mounts:
        mounts.write("41 31 0:40 / /sys/fs/cgroup/hugetlb rw,relatime - cgroup cgroup rw,hugetlb\n")
    with (docker_v1.proc / str(PID) / "cgroup").open("a", encoding="ascii") as membership:
        membership.write(f"10:hugetlb:{V1_GROUP}\n")
    _charge(docker_v1.group(f"sys/fs/cgroup/hugetlb{V1_GROUP}"), "usage_in_bytes")
    reading = docker_v1.read().read()
    assert reading is not None
    assert (reading["memory"], reading["huge"]) == (22081536, 1030 * MIB)


def test_large_pages_are_charged_apart_in_version_2(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "v2", "membership", "mountinfo-host")
    _charge(tree.group(f"sys/fs/cgroup{V2_GROUP}", *V2_FILES), "current")
    reading = tree.read().read()
    assert reading is not None
    assert (reading["memory"], reading["huge"]) == (8802304, 1030 * MIB)


def test_version_1_without_the_memory_controller(docker_v1: Tree) -> None:
    shutil.rmtree(docker_v1.root / "sys/fs/cgroup/memory")
    reading = docker_v1.read().read()
    assert reading
    assert set(reading) == {"cpu_s", "throttled_s", "periods", "throttled_periods"}


def test_version_2_from_the_host(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "v2", "membership", "mountinfo-host")
    tree.group(f"sys/fs/cgroup{V2_GROUP}", *V2_FILES)
    reading = tree.read().read()
    assert reading
    assert reading == {
        "cpu_s": pytest.approx(2.304707),
        "throttled_s": pytest.approx(8.597465),
        "periods": 112,
        "throttled_periods": 109,
        "memory": 8802304,
        "working_set": 8802304,
        "peak": 41943040,
        "oom_kills": 1,
    }


def test_version_2_before_the_kernel_kept_a_peak(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "v2", "membership", "mountinfo-host")
    tree.group(f"sys/fs/cgroup{V2_GROUP}", *(name for name in V2_FILES if name != "memory.peak"))
    reading = tree.read().read()
    assert reading
    assert "peak" not in reading
    assert reading["memory"] == 8802304


def test_version_2_from_another_container_that_sees_the_hosts_tree(tmp_path: Path) -> None:
    """The path is `/../docker-...` and the mount shows `/../..`: the slice between them has no name."""
    tree = Tree(tmp_path, "v2", "membership-from-container", "mountinfo-container")
    tree.group(f"sys/fs/cgroup{V2_GROUP}", *V2_FILES)
    # A group of the same name elsewhere, which does not hold the process.
    wrong = tree.group("sys/fs/cgroup/another.slice/docker-3f1c0e6f8a4d.scope", *V2_FILES, pid=99)
    (wrong / "memory.current").write_text("1\n", encoding="ascii")
    (tmp_path / "mnt").mkdir()
    reading = tree.read().read()
    assert reading
    assert reading["memory"] == 8802304


def test_version_2_from_another_container_with_its_own_tree_only(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "v2", "membership-from-container", "mountinfo-container")
    tree.group("mnt", *V2_FILES, pid=99)
    group = tree.read()
    assert not group.is_seen
    assert group.read() is None


def test_from_beside_a_container_its_group_is_read_as_it_sees_it(tmp_path: Path) -> None:
    """In a pod: our mounts show our own group, and the other container's are below its root."""
    tree = Tree(tmp_path, "v2", "membership-from-container", "mountinfo-container")
    (tree.proc / str(PID) / "mountinfo").write_text(
        "31 26 0:22 / /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n", encoding="ascii"
    )
    tree.group("mnt", *V2_FILES, pid=99)
    tree.group(f"proc/{PID}/root/sys/fs/cgroup", *V2_FILES)
    reading = tree.read().read()
    assert reading
    assert (reading["memory"], reading["oom_kills"]) == (8802304, 1)


def test_version_1_from_another_container(tmp_path: Path) -> None:
    """Its mounts show its own group; with the host's tree mounted elsewhere, ours is found there."""
    tree = Tree(tmp_path, "v1", "membership", "mountinfo-container")
    own = tree.proc / "self" / "mountinfo"
    own.write_text(own.read_text().replace(V1_GROUP, "/docker/0123"), encoding="utf-8")
    assert not tree.read().is_seen
    host = "90 80 0:32 / /host/memory ro - cgroup cgroup rw,memory\n"
    own.write_text(host + own.read_text(), encoding="utf-8")
    tree.group(f"host/memory{V1_GROUP}", *V1_MEMORY)
    reading = tree.read().read()
    assert reading
    assert reading["memory"] == 22081536
    assert "cpu_s" not in reading


def test_version_1_from_within(tmp_path: Path) -> None:
    """A process looks at its own container: the mount point is the group."""
    tree = Tree(tmp_path, "v1", "membership", "mountinfo-container")
    tree.group("sys/fs/cgroup/memory", *V1_MEMORY)
    reading = tree.read().read()
    assert reading
    assert reading["peak"] == 41943040


def test_a_group_that_is_gone_reads_as_nothing(docker_v1: Tree) -> None:
    group = docker_v1.read()
    shutil.rmtree(docker_v1.root / "sys")
    assert group.is_seen
    assert group.read() is None
    group.close()


def test_a_process_that_is_gone_has_none(tmp_path: Path) -> None:
    group = ControlGroup(PID, str(tmp_path))
    assert not group.is_seen
    assert group.read() is None


def test_mounts() -> None:
    mounts = parse_mounts(content("v1/mountinfo-host").decode() + content("v2/mountinfo-host").decode())
    assert mounts[0] == ("/sys/fs/cgroup", frozenset([""]))
    assert [point for point, controllers in mounts if "memory" in controllers] == ["/sys/fs/cgroup/memory"]
    joined = "34 30 0:31 /a\\040b /cg\\040x rw shared:9 master:1 - cgroup cgroup rw,cpu,cpuacct\nbroken\n"
    assert parse_mounts(joined) == [("/cg x", frozenset(["rw", "cpu", "cpuacct"]))]


def test_membership() -> None:
    found = parse_membership(content("v1/membership").decode())
    assert found["memory"] == found["cpu"] == found[""] == V1_GROUP
    assert parse_membership("4:cpu,cpuacct:/x:y\n0::/z\n") == {"cpu": "/x:y", "cpuacct": "/x:y", "": "/z"}


def test_a_group_without_quota_is_never_throttled(tmp_path: Path, docker_v1: Tree) -> None:
    """As with a cpuset alone."""
    stat = docker_v1.root / f"sys/fs/cgroup/cpu{V1_GROUP}/cpu.stat"
    stat.write_bytes(b"nr_periods 0\nnr_throttled 0\nthrottled_time 0\nnr_bursts 0\nburst_time 0\n")
    reading = docker_v1.read().read()
    assert reading
    assert (reading["throttled_s"], reading["periods"], reading["throttled_periods"]) == (0, 0, 0)
    tree = Tree(tmp_path / "v2", "v2", "membership", "mountinfo-host")
    shutil.copy(RECORDED / "v2/cpu.stat-without-quota", tree.group(f"sys/fs/cgroup{V2_GROUP}") / "cpu.stat")
    reading = tree.read().read()
    assert reading
    assert (reading["throttled_s"], reading["periods"], reading["throttled_periods"]) == (0, 0, 0)


def test_version_2_without_the_cpu_controller(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "v2", "membership", "mountinfo-host")
    stat = tree.group(f"sys/fs/cgroup{V2_GROUP}") / "cpu.stat"
    stat.write_bytes(b"usage_usec 877942476\nuser_usec 755021555\nsystem_usec 122920921\n")
    assert tree.read().read() == {"cpu_s": pytest.approx(877.942476)}


def test_version_2_without_the_cpu_controller_is_throttled_by_groups_above(tmp_path: Path) -> None:
    """As in a session of a desktop, whose scope has no controller of its own."""
    tree = Tree(tmp_path, "v2", "membership", "mountinfo-host")
    own = tree.group(f"sys/fs/cgroup{V2_GROUP}")
    usage = b"usage_usec 877942476\nuser_usec 755021555\nsystem_usec 122920921\n"
    slice_, top = own.parent, tmp_path / "sys/fs/cgroup"
    for folder in (own, slice_, top):
        (folder / "cpu.stat").write_bytes(usage)
        (folder / "cgroup.procs").touch()
    (own / "cgroup.type").write_text("domain\n")
    (slice_ / "cgroup.type").write_text("domain\n")
    assert throttled_seconds(PID, str(tmp_path)) == 0.0, "no group up to the root can have a quota"
    (slice_ / "cpu.stat").write_bytes(usage + b"nr_periods 9\nnr_throttled 2\nthrottled_usec 1500000\n")
    assert throttled_seconds(PID, str(tmp_path)) == 1.5
    (slice_ / "cpu.stat").write_bytes(usage)
    (top / "cgroup.type").write_text("domain\n")
    assert throttled_seconds(PID, str(tmp_path)) is None, (
        "what is above the topmost that is seen is not known"
    )


def _above(own: Path, levels: int) -> list[Path]:
    """The groups above one, made those of a kernel's tree."""
    above = list(own.parents[:levels])
    for folder in above:
        (folder / "cgroup.procs").touch()
    return above


def test_version_2_with_the_cpu_controller_is_throttled_by_groups_above(tmp_path: Path) -> None:
    """As a session of a user whose slice has a quota: the kernel counts throttling only in the group that has it."""
    tree = Tree(tmp_path, "v2", "membership", "mountinfo-host")
    (tree.proc / str(PID) / "cgroup").write_text("0::/user.slice/session-2.scope\n", encoding="ascii")
    own = tree.group("sys/fs/cgroup/user.slice/session-2.scope")
    slice_, _ = _above(own, 2)
    for folder, quota, micros in ((own, "max 100000", 0), (slice_, "50000 100000", 1500000)):
        (folder / "cpu.max").write_text(f"{quota}\n", encoding="ascii")
        (folder / "cpu.stat").write_text(
            f"usage_usec 9\nnr_periods 4\nnr_throttled 1\nthrottled_usec {micros}\n", encoding="ascii"
        )
    group = tree.read()
    assert throttled_seconds(PID, str(tmp_path)) == 1.5
    assert (group.read() or {})["throttled_s"] == 1.5
    (own / "cpu.stat").write_text("nr_periods 4\nthrottled_usec 250000\n", encoding="ascii")
    assert throttled_seconds(PID, str(tmp_path)) == 1.75, "what one group adds is seen beside a larger count"
    assert (group.read() or {})["throttled_s"] == 1.75
    alone = ControlGroup(PID, str(tmp_path), quota_alone=True)
    assert (alone.read() or {})["throttled_s"] == 0.25
    (slice_ / "cpu.stat").write_text("usage_usec 9\n", encoding="ascii")
    assert "throttled_s" not in (group.read() or {}), "of one that is not told any more no sum is known"


def test_a_group_that_is_gone_has_no_throttling_of_those_above(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "v2", "membership", "mountinfo-host")
    own = tree.group(f"sys/fs/cgroup{V2_GROUP}")
    (own / "cpu.stat").write_text("usage_usec 9\n", encoding="ascii")
    slice_, _ = _above(own, 2)
    (slice_ / "cpu.stat").write_text("usage_usec 9\nthrottled_usec 5\n", encoding="ascii")
    assert set(tree.read().read() or {}) == {"cpu_s", "throttled_s"}
    group = tree.read()
    shutil.rmtree(own)
    assert group.read() is None


def test_version_1_is_throttled_by_groups_above(docker_v1: Tree) -> None:
    """As a container in one with a quota, that of a CI runner."""
    docker, _ = _above(docker_v1.root / f"sys/fs/cgroup/cpu{V1_GROUP}", 2)
    (docker / "cpu.stat").write_text("nr_periods 9\nnr_throttled 2\nthrottled_time 500000000\n")
    expected = pytest.approx(1.270156022 + 0.5)
    assert (docker_v1.read().read() or {})["throttled_s"] == expected
    assert throttled_seconds(PID, str(docker_v1.root)) == expected


@pytest.mark.parametrize(
    ("memory", "inactive", "expected"),
    [("8802304", "802304", 8000000), ("100", "802304", 0), ("100", None, None)],
)
def test_working_set(tmp_path: Path, memory: str, inactive: str | None, expected: int | None) -> None:
    """It is never below 0, although the two are read at different moments."""
    tree = Tree(tmp_path, "v2", "membership", "mountinfo-host")
    group = tree.group(f"sys/fs/cgroup{V2_GROUP}")
    (group / "memory.current").write_text(f"{memory}\n", encoding="ascii")
    lines = "anon 1\n" if inactive is None else f"anon 1\ninactive_file {inactive}\n"
    (group / "memory.stat").write_text(lines, encoding="ascii")
    reading = tree.read().read()
    assert reading
    assert reading.get("working_set") == expected


def test_numbers_by_their_whole_key() -> None:
    text = b"oom_kill_disable 0\nunder_oom 1\noom_kill 7\n"
    assert number(text, b"oom_kill") == 7
    assert number(text, b"oom_kill_disable") == 0
    assert number(text, b"kill") is None
    assert number(b"", b"oom_kill") is None
    assert (number(b"17\n", b""), number(b"", b"")) == (17, None)


def test_the_running_kernel() -> None:
    """Our own group, whatever this machine has."""
    group = ControlGroup(os.getpid())
    before = group.read()
    if before is None or "cpu_s" not in before:
        pytest.skip("the control group of this process cannot be seen here")
    until = time.thread_time() + 0.3
    while time.thread_time() < until:
        sum(range(1000))
    after = group.read()
    group.close()
    assert after
    assert after["cpu_s"] - before["cpu_s"] >= 0.29
    assert after.get("memory", 2 << 20) > 1 << 20
    throttled = throttled_seconds()
    assert throttled is None or throttled >= after.get("throttled_s", 0.0)


def test_a_size_of_large_pages_that_is_not_told_makes_their_sum_unknown(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "v2", "membership", "mountinfo-host")
    group = tree.group(f"sys/fs/cgroup{V2_GROUP}", *V2_FILES)
    _charge(group, "current")
    (group / "hugetlb.1GB.current").write_text("many\n", encoding="ascii")
    reading = tree.read().read()
    assert reading is not None
    assert "huge" not in reading
