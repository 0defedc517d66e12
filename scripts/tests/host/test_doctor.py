# SPDX-License-Identifier: Apache-2.0
"""Host facts, limits and the doctor, on recorded hosts and on this one."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import trees
from trees import put
from waiting import TINY, ended, wait_until

from steelyard.errors import MissingRequirement
from steelyard.host import checkpoints
from steelyard.host.doctor import (
    TOPICS,
    Activity,
    BusyProcess,
    DoctorFinding,
    Host,
    disk,
    examine,
    load,
    steal,
    watch,
)
from steelyard.host.facts import read_facts
from steelyard.host.system import System
from steelyard.sampling.cgroup import cpu_quota, memory_limit

DOC = Path(__file__).parents[3] / "docs" / "doctor.md"
CPU = "sys/devices/system/cpu"
CGROUP2 = "sys/fs/cgroup"
RUNNING = ("steal", "load", "disk", "memlock")
"""Topics of this host itself, whatever the tree."""


@pytest.fixture
def laptop(tmp_path: Path) -> Path:
    """An x86 host on which nearly everything disturbs."""
    root = trees.x86_smt2(tmp_path)
    put(root, f"{CPU}/smt/control", "on")
    for cpu in range(16):
        put(root, f"{CPU}/cpu{cpu}/cpufreq/scaling_governor", "powersave")
    put(root, f"{CPU}/intel_pstate/no_turbo", "0")
    put(root, "sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never")
    put(root, "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512")
    put(root, "proc/sys/vm/hugetlb_shm_group", "1000")
    put(root, "proc/sys/kernel/shmmax", "18446744073692774399")
    put(root, "proc/sys/kernel/numa_balancing", "1")
    heads = " ".join(f"CPU{i}" for i in range(16))
    put(
        root,
        "proc/interrupts",
        f"     {heads}\n 24: 90000 {'100 ' * 15} PCI-MSI eth0\nLOC: {'9999999 ' * 16} timer",
    )
    put(root, f"{CGROUP2}/cgroup.controllers", "cpu memory")
    put(root, f"proc/{os.getpid()}/cgroup", "0::/user.slice/run")
    put(root, "proc/self/mountinfo", "30 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw")
    for folder in ("", "/user.slice", "/user.slice/run"):
        put(root, f"{CGROUP2}{folder}/cgroup.procs", str(os.getpid()) if folder.endswith("run") else "")
    put(root, f"{CGROUP2}/user.slice/run/cpu.max", "max 100000")
    put(root, f"{CGROUP2}/user.slice/cpu.max", "150000 100000")
    put(root, f"{CGROUP2}/user.slice/run/memory.max", str(2 << 30))
    put(
        root,
        "proc/meminfo",
        "MemTotal: 8000000 kB\nMemAvailable: 500000 kB\nSwapTotal: 4000000 kB\nSwapFree: 3000000 kB\n"
        "Hugepagesize: 2048 kB",
    )
    put(root, "sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet")
    put(root, "sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm")
    put(root, "proc/cpuinfo", "model name\t: Example CPU\nflags\t\t: fpu hypervisor sse")
    put(root, "sys/class/dmi/id/sys_vendor", "QEMU")
    put(root, "run/.containerenv", "")
    put(root, "proc/sys/kernel/randomize_va_space", "0")
    return root


@pytest.fixture
def power(tmp_path: Path) -> Path:
    """A well-kept POWER9."""
    root = trees.power9_smt8(tmp_path, nodes=2)
    put(root, f"{CPU}/dscr_default", "0")
    put(
        root,
        "proc/cpuinfo",
        "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n\nplatform\t: PowerNV\nmodel\t\t: 8335-GTH",
    )
    put(root, "proc/sys/kernel/numa_balancing", "0")
    put(
        root,
        "proc/meminfo",
        "MemTotal: 267000000 kB\nMemAvailable: 250000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB",
    )
    put(root, f"{CPU}/cpu0/cpufreq/scaling_governor", "performance")
    put(root, "sys/devices/system/clocksource/clocksource0/current_clocksource", "timebase")
    return root


def doctor(root: Path, machine: str) -> dict[str, DoctorFinding]:
    """Findings on what a tree of files tells."""
    told = (one for one in examine(root, root, 0.0, machine) if one.topic not in RUNNING)
    return {one.topic: one for one in told}


def levels(found: dict[str, DoctorFinding]) -> dict[str, str]:
    return {topic: one.level for topic, one in found.items()}


@pytest.mark.parametrize(
    ("files", "state", "change"),
    [
        ({}, "the kernel has no events", "CONFIG_PERF_EVENTS"),
        (
            {"perf_event_paranoid": "2"},
            "perf_event_paranoid is 2: the kernel's part",
            "perf_event_paranoid=1",
        ),
        ({"perf_event_paranoid": "1", "nmi_watchdog": "1"}, "the kernel's watchdog takes", "nmi_watchdog=0"),
        ({"perf_event_paranoid": "-1", "nmi_watchdog": "0"}, "events of kernel and processor", None),
    ],
)
def test_what_counters_need_is_said(
    tmp_path: Path, files: dict[str, str], state: str, change: str | None
) -> None:
    for device in ("cpu", "software"):
        put(tmp_path, f"sys/bus/event_source/devices/{device}/type", "4")
    for name, value in files.items():
        put(tmp_path, f"proc/sys/kernel/{name}", value)
    found = doctor(tmp_path, "x86_64")["counters"]
    assert state in found.state
    assert (found.change is None) if change is None else (change in (found.change or ""))


def test_a_virtual_machine_without_counters_of_the_processor_is_named(tmp_path: Path) -> None:
    put(tmp_path, "sys/bus/event_source/devices/software/type", "1")
    put(tmp_path, "proc/sys/kernel/perf_event_paranoid", "1")
    assert doctor(tmp_path, "x86_64")["counters"].state.startswith("the kernel's events alone")


FULL, OF_A_CONTAINER = "000001ffffffffff", "00000000a80425fb"
"""Capabilities of a root login on Linux 5.9 and newer, and of a container of docker."""


@pytest.mark.parametrize(
    ("programs", "last", "bounding", "state", "needs"),
    [
        ((), None, None, "no criu", ["CRIU (apt install criu", "a kernel that tells its capabilities"]),
        (("criu",), 40, FULL, "/usr/sbin/criu, which can take a checkpoint and restore it", []),
        (("criu",), 40, OF_A_CONTAINER, "/usr/sbin/criu", ["withheld"]),
        (("criu",), 37, FULL, "/usr/sbin/criu", ["Linux 5.9 or newer"]),
        (("docker",), 40, FULL, "no criu", ["CRIU"]),
    ],
)
def test_what_a_checkpoint_needs_is_said(
    tmp_path: Path,
    programs: tuple[str, ...],
    last: int | None,
    bounding: str | None,
    state: str,
    needs: list[str],
) -> None:
    for program in programs:
        put(tmp_path, f"usr/sbin/{program}", "")
        (tmp_path / "usr/sbin" / program).chmod(0o755)
    if last is not None and bounding is not None:
        put(tmp_path, "proc/sys/kernel/cap_last_cap", str(last))
        put(tmp_path, "proc/self/status", f"Name:\tpython3\nCapBnd:\t{bounding}\nSeccomp:\t0")
    found = doctor(tmp_path, "x86_64")["checkpoints"]
    assert found.state == state
    assert (found.change is None) == (needs == [])
    assert [need for need in needs if need not in (found.change or "")] == []


THERE = "libc.so.6"


@pytest.mark.parametrize(
    ("printed", "code", "library", "needs"),
    [
        ("Looks good.", 0, THERE, None),
        # As Debian's CRIU 3.17.1 said on Linux 6.18.
        (
            "Error (criu/vdso.c:381): vdso: Unexpected rt vDSO area bounds",
            1,
            THERE,
            "works on this kernel .`criu check`: .*rt vDSO area bounds",
        ),
        ("", 1, THERE, "works on this kernel .`criu check`: it fails"),
        # In a folder that the loader does not search, OpenJ9 finds none and Liberty takes no checkpoint.
        (
            "Looks good.",
            0,
            "libcriu-of-nowhere.so",
            "library where the loader finds it as libcriu-of-nowhere.so",
        ),
    ],
)
def test_a_criu_that_does_not_work_here_is_none(
    monkeypatch: pytest.MonkeyPatch, printed: str, code: int, library: str, needs: str | None
) -> None:
    asked = subprocess.CompletedProcess([], code, stdout="", stderr=f"{printed}\n")
    monkeypatch.setattr(checkpoints, "_find_criu", lambda _system: Path("usr/sbin/criu"))
    monkeypatch.setattr(checkpoints, "_bounding_set", lambda _system: int(FULL, 16))
    monkeypatch.setattr(checkpoints, "ask", lambda _command: asked)
    monkeypatch.setattr(checkpoints, "_LIBRARY", library)
    monkeypatch.setattr(System, "number", lambda _self, _name: 40)
    if needs is None:
        checkpoints.require_checkpoints()
    else:
        with pytest.raises(MissingRequirement, match=needs):
            checkpoints.require_checkpoints()


def test_everything_that_disturbs_is_found(laptop: Path) -> None:
    found = doctor(laptop, "x86_64")
    assert levels(found) == {
        "smt": "info",
        "governor": "warn",
        "turbo": "info",
        "thp": "info",
        "huge-pages": "info",
        "shm-group": "ok",
        "shmmax": "ok",
        "host-states": "ok",
        "memory": "warn",
        "numa": "info",
        "numa-balancing": "warn",
        "cores": "ok",
        "isolated": "ok",
        "cpus-online": "info",
        "irq-affinity": "info",
        "interrupts": "warn",
        "cgroup": "warn",
        "swap": "warn",
        "clock": "warn",
        "counters": "info",
        "checkpoints": "info",
        "virtualization": "info",
        "container": "info",
        "aslr": "info",
    }
    assert found["cgroup"].state == "version 2, this session is limited to 1.5 CPUs and 2,048 MiB"
    assert found["interrupts"].state == "CPU 0 served 98% of 91,500 device interrupts since boot"
    assert (
        found["clock"].change
        == "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"
    )
    assert found["virtualization"].state == "a guest of QEMU"
    assert found["huge-pages"].state == "512 of 2 MiB"


def test_a_well_kept_power_host(power: Path) -> None:
    found = doctor(power, "ppc64le")
    assert found["cores"].state == "16 with 8 hardware threads each"
    assert found["smt"].state == "its firmware does not tell the threads of a core"
    assert levels(found)["numa"] == "info"
    for topic in ("governor", "swap", "clock", "virtualization", "container", "prefetch"):
        assert found[topic].level == "ok", found[topic]
    put(power, f"{CPU}/dscr_default", "1f")
    assert doctor(power, "ppc64le")["prefetch"].level == "info"


def _limits(root: str) -> tuple[float | None, int | None]:
    return cpu_quota(os.getpid(), root), memory_limit(os.getpid(), root)


def test_nothing_can_be_read(tmp_path: Path) -> None:
    found = doctor(tmp_path, "ppc64le")
    assert {one.level for one in found.values()} <= {"ok", "info"}
    assert found["cores"].state == "cannot be told here"
    assert found["thp"].state.startswith("its kernel was built without")
    assert found["memory"].state == "cannot be told here"
    assert read_facts(tmp_path, "ppc64le").cgroup_version is None
    assert _limits(str(tmp_path)) == (None, None)


def test_the_frequency_policy_of_an_offline_cpu_hides_nothing(laptop: Path) -> None:
    """The kernel answers EBUSY to who reads there."""
    for file in ("affected_cpus", "scaling_governor"):
        path = laptop / f"{CPU}/cpu15/cpufreq/{file}"
        path.unlink(missing_ok=True)
        path.mkdir()
    assert doctor(laptop, "x86_64")["governor"].state == "powersave"
    assert read_facts(laptop, "x86_64").governor == "powersave"


def test_uneven_smt(tmp_path: Path) -> None:
    root = trees.cpus(tmp_path, [[0, 1], [2, 3]], offline=(3,))
    assert doctor(root, "x86_64")["cores"].level == "warn"


def test_facts_of_x86(laptop: Path) -> None:
    facts = read_facts(laptop, "x86_64")
    assert (facts.sockets, facts.cores, facts.cpus, facts.threads_per_core, facts.numa_nodes) == (
        2,
        8,
        16,
        2,
        2,
    )
    assert (facts.cpu_model, facts.smt, facts.governor, facts.turbo) == (
        "Example CPU",
        "on",
        "powersave",
        "on",
    )
    assert (facts.thp, facts.huge_pages, facts.cgroup_version) == ("always", {"2048": 512}, 2)
    assert facts.memory_bytes == 8000000 * 1024
    assert facts.extra["container"] == "podman"


def test_facts_of_power(power: Path) -> None:
    facts = read_facts(power, "ppc64le")
    assert (facts.cores, facts.cpus, facts.threads_per_core, facts.numa_nodes) == (16, 128, 8, 2)
    assert facts.cpu_model == "POWER9, altivec supported, 8335-GTH"
    assert (facts.virtualization, facts.turbo, facts.smt) == (None, "none", "none")


def test_what_a_host_does_not_have_is_none_and_what_cannot_be_told_is_unknown(tmp_path: Path) -> None:
    untold = read_facts(tmp_path, "x86_64")
    assert (untold.smt, untold.governor, untold.turbo, untold.thp) == (None, None, None, None)
    put(tmp_path, f"{CPU}/online", "0-3")
    put(tmp_path, "sys/kernel/mm/ksm/run", "0")
    guest = read_facts(tmp_path, "x86_64")
    assert (guest.governor, guest.turbo, guest.thp) == ("none", "none", "none")
    put(tmp_path, f"{CPU}/intel_pstate/no_turbo", "who knows")
    put(tmp_path, "sys/kernel/mm/transparent_hugepage/enabled", "another form")
    strange = read_facts(tmp_path, "x86_64")
    assert strange.thp is None


def test_kernel_options_that_matter_and_no_others(tmp_path: Path) -> None:
    put(tmp_path, "proc/cmdline", "BOOT_IMAGE=/vmlinuz root=UUID=1 isolcpus=2-3 password=x mitigations=off")
    assert read_facts(tmp_path).extra["kernel_options"] == "isolcpus=2-3 mitigations=off"


@pytest.mark.alone
@pytest.mark.usefixtures("turn")
def test_facts_of_this_host() -> None:
    facts = read_facts()
    assert facts.cpus == psutil.cpu_count()
    assert facts.memory_bytes == psutil.virtual_memory().total
    assert facts.swap_bytes == psutil.swap_memory().total


def test_limits_of_the_old_cgroups(tmp_path: Path) -> None:
    put(tmp_path, f"proc/{os.getpid()}/cgroup", "4:memory:/box\n2:cpu,cpuacct:/box\n0::/")
    mount = "30 25 0:26 / /sys/fs/cgroup/{0} rw - cgroup cgroup rw,{0}"
    put(tmp_path, "proc/self/mountinfo", "\n".join(mount.format(name) for name in ("cpu", "memory")))
    for folder in ("cpu", "cpu/box", "memory", "memory/box"):
        put(tmp_path, f"{CGROUP2}/{folder}/cgroup.procs", str(os.getpid()) if folder.endswith("box") else "")
    put(tmp_path, f"{CGROUP2}/cpu/box/cpu.cfs_quota_us", "50000")
    put(tmp_path, f"{CGROUP2}/cpu/box/cpu.cfs_period_us", "100000")
    put(tmp_path, f"{CGROUP2}/memory/box/memory.limit_in_bytes", "9223372036854771712")
    put(tmp_path, f"{CGROUP2}/memory/memory.limit_in_bytes", str(1 << 30))
    assert _limits(str(tmp_path)) == (0.5, 1 << 30)


def test_activity() -> None:
    quiet = Host(Path("/"), "x86_64", Path("/"), Activity(0.01, 0.0, (BusyProcess(7, "cron", 0.01),)))
    assert [one(quiet).level for one in (steal, load)] == ["ok", "ok"]
    processes = (BusyProcess(7, "make", 0.3), BusyProcess(8, "idle", 0.0001))
    loud = Host(Path("/"), "x86_64", Path("/"), Activity(0.31, 0.05, processes))
    assert [one(loud).level for one in (steal, load)] == ["warn", "warn"]
    assert load(loud).state == "31.0% of the CPU time: make (7) 30.0%"


def test_what_is_busy_is_seen() -> None:
    burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])

    def activity() -> Activity | None:
        found = watch(TINY)
        return found if burner.pid in {one.pid for one in found.processes} else None

    try:
        seen = wait_until(activity, "a time in which it had a processor", ended(burner))
    finally:
        burner.kill()
        burner.wait()
    assert seen is not None
    assert all(one.share > 0 for one in seen.processes)
    assert 0 < seen.busy <= 1
    assert [one.share for one in seen.processes] == sorted(
        (one.share for one in seen.processes), reverse=True
    )


def test_a_share_is_one_of_all_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = SimpleNamespace(pid=-1, name=lambda: "busy", cpu_percent=lambda: 100.0)
    monkeypatch.setattr(psutil, "process_iter", lambda: [busy])
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert watch(0.0).processes == (BusyProcess(-1, "busy", 1 / 8),)


def test_disk(tmp_path: Path) -> None:
    host = Host(Path("/"), "x86_64", tmp_path / "not" / "there" / "yet", Activity(0.0, 0.0, ()))
    assert str(tmp_path) in disk(host).state


def test_this_host_in_the_documented_order(tmp_path: Path) -> None:
    found = examine(tmp_path, seconds=0.1, machine="x86_64")
    topics = [one.topic for one in found]
    assert topics == [topic for topic in TOPICS if topic != "prefetch"]
    assert all(one.why == TOPICS[one.topic] and one.state for one in found)


def test_documentation_lists_every_topic_with_its_reason() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| (.+?) \| .+? \|$", DOC.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(TOPICS.items())
