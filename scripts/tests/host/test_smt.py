# SPDX-License-Identifier: Apache-2.0
"""Hardware threads: set, read back and planned for, on trees of POWER and x86 hosts; CPU sets that are made again."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trees
from trees import CPU, CPUSETS, Hotplug, power, put, x86_smt2

from steelyard.errors import BadInput, MissingRequirement
from steelyard.host.cpusets import RECORD, unusable
from steelyard.host.smt import CPUS_ONLINE, SMT, planned_cores
from steelyard.host.states import STATES
from steelyard.host.switching import HostStates
from steelyard.host.system import System
from steelyard.processes import Children

FIXTURES = Path(__file__).parent.parent / "fixtures"
POWER9 = [list(range(8 * core, 8 * core + 8)) for core in range(2)]
X86 = [[core, core + 8] for core in range(8)]
ABSENT = 100_000
"""A CPU of no host: Linux is built for 8192 at most."""


def power9(root: Path, online: int = 8, control: str = "notimplemented") -> Hotplug:
    return Hotplug(power(root, 2, online=online), "ppc64le", POWER9, control)


@pytest.mark.parametrize("mode", ["8", "4"])
def test_the_threads_of_a_real_kernel_are_read(tmp_path: Path, mode: str) -> None:
    recorded = json.loads((FIXTURES / "smt" / "power9-guest.json").read_text(encoding="utf-8"))
    for name, content in recorded[mode].items():
        put(tmp_path, name, content)
    words = tmp_path / "proc/device-tree/cpus/PowerPC,POWER9@0/ibm,ppc-interrupt-server#s"
    words.parent.mkdir(parents=True)
    words.write_bytes(bytes.fromhex(recorded["ibm,ppc-interrupt-server#s"]))
    kernel = System(tmp_path, "ppc64le")
    assert (SMT.read(kernel), SMT.files(kernel)) == (mode, [f"{CPU}/smt/control"])
    assert CPUS_ONLINE.read(kernel) == f"0-{int(mode) - 1}"
    planned = planned_cores({"smt": 8}, kernel)
    assert (planned.cpus, planned.threads_per_core) == (tuple(range(8)), 8)


def x86(root: Path, control: str = "on") -> Hotplug:
    put(x86_smt2(root), f"{CPU}/present", "0-15")
    for cpu in range(1, 16):
        put(root, f"{CPU}/cpu{cpu}/online", "1")
    return Hotplug(root, "x86_64", X86, control)


@pytest.mark.parametrize("mode", [1, 2, 4])
def test_threads_of_a_power_host_are_switched_one_by_one(tmp_path: Path, mode: int) -> None:
    kernel = power9(tmp_path)
    assert SMT.read(kernel) == "8"
    SMT.set(kernel, str(mode))
    assert (SMT.read(kernel), kernel.online()) == (
        str(mode),
        {8 * core + thread for core in (0, 1) for thread in range(mode)},
    )
    assert all(write.endswith("=0") for write in kernel.writes)
    SMT.set(kernel, "8")
    assert kernel.online() == set(range(16))
    kernel.writes.clear()
    SMT.set(kernel, "8")
    assert kernel.writes == []


def test_a_kernel_that_takes_numbers_switches_all_at_once(tmp_path: Path) -> None:
    kernel = power9(tmp_path, control="numbers")
    for mode in ("4", "1", "8"):
        SMT.set(kernel, mode)
        assert SMT.read(kernel) == mode
    assert kernel.writes == ["smt/control=4", "smt/control=off", "smt/control=on"]
    assert SMT.files(kernel) == [f"{CPU}/smt/control"]


def test_threads_of_an_x86_host_are_on_or_off(tmp_path: Path) -> None:
    kernel = x86(tmp_path)
    assert [SMT.value(kernel, value) for value in ("on", True, 2, "off", False, 1)] == ["on"] * 3 + [
        "off"
    ] * 3
    SMT.set(kernel, "off")
    assert (kernel.writes, kernel.online()) == (["smt/control=off"], set(range(8)))
    with pytest.raises(BadInput, match="no mode of this machine's threads"):
        SMT.value(kernel, 4)


def test_what_a_power_host_takes(tmp_path: Path) -> None:
    kernel = Hotplug(power(tmp_path, 1, threads=4), "ppc64le", [[0, 1, 2, 3]])
    assert SMT.levels(kernel) == [1, 2, 4]
    assert [SMT.value(kernel, value) for value in ("on", True, 4, "off", False, 1)] == ["4"] * 3 + ["1"] * 3
    for wrong, why in (
        (8, "8 is more than the 4 threads"),
        (3, "no number of threads"),
        ("two", "no number"),
    ):
        with pytest.raises(BadInput, match=why):
            SMT.value(kernel, wrong)
    assert SMT.judge(kernel).state == "4 of 4 threads of each core"


@pytest.mark.parametrize(
    ("machine", "control", "why"),
    [
        ("x86_64", "notsupported", "one thread a core"),
        ("x86_64", "notimplemented", "cannot switch threads"),
        ("x86_64", "forceoff", "off for good"),
        ("ppc64le", "notimplemented", "firmware does not tell the threads"),
    ],
)
def test_a_host_without_it_says_why(tmp_path: Path, machine: str, control: str, why: str) -> None:
    put(tmp_path, f"{CPU}/online", "0,1")
    put(tmp_path, f"{CPU}/smt/control", control)
    system = System(tmp_path, machine)
    assert why in SMT.observation(system).state
    with pytest.raises(MissingRequirement, match="this host has no smt to set") as caught:
        SMT.require(system)
    assert why in str(caught.value)


def test_cores_with_unlike_threads_are_not_switched(tmp_path: Path) -> None:
    """What was there could not be put back by a number of threads."""
    kernel = power9(tmp_path)
    kernel.bring(set(range(16)) - {3})
    assert SMT.read(kernel) is None
    assert "do not have the same threads online" in SMT.missing(kernel)


@pytest.mark.parametrize("now", [1, 2, 4, 8])
@pytest.mark.parametrize("then", [1, 2, 4, 8])
def test_the_cores_of_an_arm_are_those_that_it_will_find(tmp_path: Path, now: int, then: int) -> None:
    kernel = power9(tmp_path, online=now)
    planned = planned_cores({"smt": then}, kernel)
    SMT.set(kernel, str(then))
    assert planned == planned_cores({}, kernel)
    assert planned.threads_per_core == then


def test_the_cores_of_an_x86_arm(tmp_path: Path) -> None:
    kernel = x86(tmp_path)
    assert planned_cores({"smt": "off"}, kernel).cpus == tuple(range(8))
    assert planned_cores({"smt": "on"}, kernel).threads_per_core == 2
    assert planned_cores({"cpus_online": "0-3,8-11"}, kernel).cpus == (0, 8, 1, 9, 2, 10, 3, 11)
    SMT.set(kernel, "off")
    with pytest.raises(
        MissingRequirement, match=r"second thread of each core is offline.*echo on \| sudo tee"
    ):
        planned_cores({"smt": "on"}, kernel)
    with pytest.raises(MissingRequirement, match=r"CPU 8 is offline now"):
        planned_cores({"cpus_online": "0-8"}, kernel)


def test_an_arm_gets_threads_that_stay_online_and_that_may_be_used(tmp_path: Path) -> None:
    """The kernel keeps the first thread of each core, whichever this process may use."""
    put(trees.cpus(tmp_path / "x86", [[0, 1], [2, 3]]), f"{CPU}/smt/control", "on")
    host = System(tmp_path / "x86", "x86_64")
    assert planned_cores({"smt": "off"}, host, {0, 1, 3, 2}).cpus == (0, 2)
    assert planned_cores({"smt": "off"}, host, {0, 2, 3}).cpus == (0, 2)
    assert planned_cores({"smt": "on"}, host, {1, 3}).cpus == (1, 3)
    for allowed in ({1, 3}, {0, 1, 3}):
        with pytest.raises(BadInput, match=r"may use others alone .*`taskset -c 0-3 \./steelyard"):
            planned_cores({"smt": "off"}, host, allowed)
    kernel = power9(tmp_path / "power")
    assert planned_cores({"smt": 4}, kernel, {0, 1, 6, 8, 9, 14}).cpus == (0, 1, 8, 9)
    assert planned_cores({"smt": 4, "cpus_online": "0-1,8-15"}, kernel).cpus == (0, 1, 8, 9, 10, 11)
    with pytest.raises(BadInput, match=r"`taskset -c 0-15 \./steelyard"):
        planned_cores({"smt": 4}, kernel, {0, 1, 14})
    kernel.bring({0, 1, 8, 9})
    assert planned_cores({"smt": 4}, kernel, {8, 9}).cpus == (8, 9, 10, 11)


def test_which_cpus_are_online(tmp_path: Path) -> None:
    kernel = x86(tmp_path)
    assert CPUS_ONLINE.read(kernel) == "0-15"
    CPUS_ONLINE.set(kernel, CPUS_ONLINE.value(kernel, 4))
    assert (CPUS_ONLINE.read(kernel), kernel.online()) == ("0-3", {0, 1, 2, 3})
    CPUS_ONLINE.set(kernel, "0-15")
    assert kernel.writes[-12:] == [f"cpu{cpu}/online=1" for cpu in range(4, 16)]
    for wrong, why in (
        ("1-3", "CPU 0 cannot go offline"),
        ("0-16", "not among the CPUs of this host"),
        (17, "not among"),
        ("some", "no list of CPUs"),
        (True, "no list of CPUs"),
    ):
        with pytest.raises(BadInput, match=why):
            CPUS_ONLINE.value(kernel, wrong)


def test_a_session_over_two_modes_puts_back_a_third(tmp_path: Path, children: Children) -> None:
    kernel = power9(tmp_path, online=2)
    plots = [{"smt": 4}, {"smt": 8}]
    with HostStates(plots, children, "s", kernel) as states:
        for plot, wanted in (((1, 1), plots[1]), ((1, 2), plots[0]), ((2, 1), plots[0]), ((2, 2), plots[1])):
            states.enter(plot, wanted)
            assert (SMT.read(kernel), states.verify(wanted)) == (str(wanted["smt"]), [])
        kernel.bring(set(range(15)))
        assert states.verify(plots[1]) == ["host state smt reads back nothing, 8 was asked for"]
        kernel.bring(set(range(16)))
    assert SMT.read(kernel) == "2"


# CPU sets of version 1 do not get back by themselves what comes online.


def sets(kernel: Hotplug) -> dict[str, str | None]:
    return {name: kernel.text(f"{CPUSETS}/{name}/cpuset.cpus") for name in ("docker", "docker/one", "few")}


@pytest.fixture
def kernel(tmp_path: Path) -> Hotplug:
    for name, cpus in (("docker", "0-15"), ("docker/one", "0-15"), ("few", "0-3")):
        put(tmp_path, f"{CPUSETS}/{name}/cpuset.cpus", cpus)
    return power9(tmp_path)


def test_cpu_sets_are_made_again(kernel: Hotplug) -> None:
    before = sets(kernel)
    SMT.set(kernel, "1")
    assert sets(kernel) == {"docker": "0,8", "docker/one": "0,8", "few": "0"}
    SMT.set(kernel, "4")
    assert sets(kernel) == {"docker": "0-3,8-11", "docker/one": "0-3,8-11", "few": "0-3"}
    assert set(json.loads(kernel.path(RECORD).read_text(encoding="utf-8"))) == {
        f"{CPUSETS}/docker/cpuset.cpus",
        f"{CPUSETS}/docker/one/cpuset.cpus",
    }
    SMT.set(kernel, "8")
    assert sets(kernel) == before
    assert not kernel.path(RECORD).exists()


def test_a_cpu_set_that_went_meanwhile_is_no_error(kernel: Hotplug) -> None:
    SMT.set(kernel, "1")
    kernel.path(f"{CPUSETS}/docker/one/cpuset.cpus").unlink()
    SMT.set(kernel, "8")
    assert kernel.text(f"{CPUSETS}/docker/cpuset.cpus") == "0-15"
    assert not kernel.path(RECORD).exists()


def test_interrupts_go_back_to_the_cpus_that_alone_served_them(kernel: Hotplug) -> None:
    put(kernel.root, "proc/net/route", "Iface Destination\neth0 00000000 0 3 0 0 20 00000000 0 0 0")
    masks = {40: "3", 41: "0-15", 42: "8", 43: "2,7"}
    for number, mask in masks.items():
        put(kernel.root, f"sys/class/net/eth0/device/msi_irqs/{number}", "msix")
        put(kernel.root, f"proc/irq/{number}/smp_affinity_list", mask)

    def moved() -> list[int]:
        return [
            number for number in masks if kernel.text(f"proc/irq/{number}/smp_affinity_list") != masks[number]
        ]

    moves = []
    for state, value in ((SMT, "4"), (SMT, "1"), (SMT, "4"), (SMT, "8"), (CPUS_ONLINE, "0-2,4-15")):
        state.set(kernel, value)
        moves.append(moved())
    assert moves == [[], [40, 43], [43], [], [40]]
    CPUS_ONLINE.set(kernel, "0-15")
    assert moved() == []
    assert not kernel.path(RECORD).exists()


@pytest.mark.alone
@pytest.mark.usefixtures("turn")
def test_cpus_on_which_nothing_can_run_are_found() -> None:
    mine = os.sched_getaffinity(0)
    assert unusable(mine) == []
    assert unusable([min(mine), ABSENT]) == [ABSENT]
    assert os.sched_getaffinity(0) == mine


def test_a_session_in_a_smaller_cpu_set_brings_threads_back_that_it_cannot_use(
    tmp_path: Path, children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hotplug, "is_here", True)
    monkeypatch.setattr("steelyard.host.cpusets.unusable", lambda cpus: sorted(set(cpus) - {0, 1, 8}))
    kernel = x86(tmp_path)
    off, on = {"smt": "off"}, {"smt": "on"}
    with HostStates([off, on], children, "s", kernel) as states:
        states.enter((1, 1), off, (0, 1))
        states.enter((1, 2), on, (0, 8))
        with pytest.raises(MissingRequirement, match="CPU 9 is online and cannot be used from here"):
            states.enter((1, 2), on, (1, 9))
        states.enter((2, 1), off, (0, 1))
    assert SMT.read(kernel) == "on"
    with (
        HostStates([off], children, "s", kernel) as states,
        pytest.raises(MissingRequirement, match="CPU 2-3"),
    ):
        states.enter((1, 1), off, (0, 1, 2, 3))
    assert SMT.read(kernel) == "on"


@pytest.mark.alone
def test_this_hosts_cpus_go_and_come_and_can_be_used(host: System) -> None:
    state = STATES["cpus_online"]
    before = state.read(host)
    if before is None or not all(host.may_write(file) for file in state.files(host)):
        pytest.skip("CPUs of this host cannot go offline")
    cpus = os.sched_getaffinity(0)
    with own_cpu_set() as own:
        held = own.read_text(encoding="ascii") if own else ""
        state.set(host, "0")
        try:
            assert Path(f"/{CPU}/online").read_text(encoding="ascii") == "0\n"
            assert own is None or own.read_text(encoding="ascii") == "0\n"
        finally:
            state.set(host, before)
        assert (state.read(host), os.sched_getaffinity(0), unusable(cpus)) == (before, cpus, [])
        assert own is None or own.read_text(encoding="ascii") == held
        assert not host.path(RECORD).exists()


@contextmanager
def own_cpu_set() -> Iterator[Path | None]:
    """A CPU set of version 1 with every CPU, and nothing in it; None where this host has none."""
    top = Path(f"/{CPUSETS}")
    if not (top / "cpuset.cpus").exists():
        yield None
        return
    folder = top / f"steelyard-test-{os.getpid()}"
    folder.mkdir()
    try:
        (folder / "cpuset.cpus").write_text(
            (top / "cpuset.cpus").read_text(encoding="ascii"), encoding="ascii"
        )
        yield folder / "cpuset.cpus"
    finally:
        folder.rmdir()
