# SPDX-License-Identifier: Apache-2.0
"""Governor, turbo, prefetch, and the CPUs that serve the network card: on trees."""

from pathlib import Path

import pytest
from trees import CPU, put

from steelyard.errors import BadInput, MissingRequirement
from steelyard.host.cards import IRQ_AFFINITY, card
from steelyard.host.facts import read_facts
from steelyard.host.power import GOVERNOR, PREFETCH, TURBO
from steelyard.host.state import HostState
from steelyard.host.system import System
from steelyard.host.tune import advise

ROUTES = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"


def acpi(root: Path) -> System:
    """Two clocks, as acpi-cpufreq shows them."""
    put(root, f"{CPU}/online", "0-3")
    for policy in (0, 2):
        folder = f"{CPU}/cpufreq/policy{policy}"
        put(root, f"{folder}/scaling_governor", "schedutil")
        put(
            root,
            f"{folder}/scaling_available_governors",
            "conservative ondemand powersave performance schedutil",
        )
    put(root, f"{CPU}/cpufreq/boost", "1")
    return System(root, "x86_64")


def intel(root: Path) -> System:
    """As intel_pstate shows it, with a policy for each CPU."""
    for cpu in range(2):
        folder = f"{CPU}/cpu{cpu}/cpufreq"
        put(root, f"{folder}/scaling_governor", "powersave")
        put(root, f"{folder}/scaling_available_governors", "performance powersave")
    put(root, f"{CPU}/intel_pstate/no_turbo", "0")
    return System(root, "x86_64")


def test_governors_are_set_on_every_clock_and_put_back_one_by_one(tmp_path: Path) -> None:
    host = acpi(tmp_path)
    assert GOVERNOR.read(host) == "schedutil"
    put(tmp_path, f"{CPU}/cpufreq/policy2/scaling_governor", "ondemand")
    before = GOVERNOR.read(host)
    assert before == "policy0=schedutil policy2=ondemand"
    GOVERNOR.set(host, "performance")
    assert GOVERNOR.read(host) == "performance"
    GOVERNOR.set(host, before)
    assert GOVERNOR.read(host) == before
    assert GOVERNOR.judge(host) == (
        "ondemand, schedutil",
        "warn",
        "sudo cpupower frequency-set -g performance",
    )
    assert GOVERNOR.better(host) == "performance"
    assert GOVERNOR.levels(host) == ["performance", "schedutil"]
    with pytest.raises(BadInput, match="no governor of this host: there are conservative"):
        GOVERNOR.value(host, "userspace")


def test_governors_of_intel_pstate(tmp_path: Path) -> None:
    host = intel(tmp_path)
    assert GOVERNOR.levels(host) == ["performance", "powersave"]
    GOVERNOR.set(host, "performance")
    assert [host.text(name) for name in GOVERNOR.files(host)] == ["performance", "performance"]


@pytest.mark.parametrize("tree", [acpi, intel])
@pytest.mark.parametrize("busy", [True, False])
def test_the_policy_of_an_offline_cpu_is_passed_over(tmp_path: Path, tree: object, busy: bool) -> None:
    """Its folder stays; files there answer EBUSY, of older kernels `affected_cpus` is empty."""
    assert callable(tree)
    host = tree(tmp_path)
    governor = GOVERNOR.read(host)
    *online, offline = (host.path(name).parent for name in GOVERNOR.files(host))
    for folder in online:
        (folder / "affected_cpus").write_text("0 1\n", encoding="ascii")
    if busy:
        (offline / "affected_cpus").mkdir()
    else:
        (offline / "affected_cpus").write_text("\n", encoding="ascii")
    (offline / "scaling_governor").unlink()
    (offline / "scaling_governor").mkdir()
    assert GOVERNOR.read(host) == governor
    GOVERNOR.set(host, "performance")
    assert (GOVERNOR.read(host), GOVERNOR.observation(host).level) == ("performance", "ok")
    assert read_facts(tmp_path, host.machine).governor == "performance"


@pytest.mark.parametrize(
    ("tree", "file", "off"), [(acpi, "cpufreq/boost", "0"), (intel, "intel_pstate/no_turbo", "1")]
)
def test_turbo_whose_file_may_say_no(tmp_path: Path, tree: object, file: str, off: str) -> None:
    assert callable(tree)
    host = tree(tmp_path)
    assert (TURBO.read(host), TURBO.judge(host).change) == ("on", f"echo {off} | sudo tee /{CPU}/{file}")
    TURBO.set(host, TURBO.value(host, False))
    assert (TURBO.read(host), host.text(f"{CPU}/{file}"), TURBO.judge(host).level) == ("off", off, "ok")


def test_prefetch_of_power(tmp_path: Path) -> None:
    host = System(tmp_path, "ppc64le")
    put(tmp_path, f"{CPU}/dscr_default", "0")
    assert [PREFETCH.value(host, one) for one in ("off", False, "on", "default", "0x1f", 16)] == [
        *("1", "1", "0", "0", "1f", "10")
    ]
    PREFETCH.set(host, "1")
    assert PREFETCH.judge(host) == ("1 (off)", "info", "sudo ppc64_cpu --dscr=0")
    assert "x86_64 has no file" in PREFETCH.missing(System(tmp_path, "x86_64"))
    with pytest.raises(BadInput, match="no value of DSCR"):
        PREFETCH.value(host, "deep")


@pytest.mark.parametrize("state", [GOVERNOR, TURBO, PREFETCH, IRQ_AFFINITY])
def test_a_host_without_it_says_why(tmp_path: Path, state: HostState) -> None:
    host = System(tmp_path, "x86_64")
    seen = state.observation(host)
    assert seen.level == "info"
    with pytest.raises(MissingRequirement, match=f"this host has no {state.name} to set"):
        state.require(host)


# The card that the load comes through.


def network(root: Path, queues: int = 4, cpus: int = 8) -> System:
    """A card with an interrupt for each queue, beside one that no default route leads through."""
    put(root, f"{CPU}/online", f"0-{cpus - 1}")
    routes = [
        ("eth1", "00000000", "100", "00000000"),
        ("eth0", "00000000", "20", "00000000"),
        ("lo", "7F", "0", "FF"),
    ]
    lines = [f"{name} {to} 0 3 0 0 {metric} {mask} 0 0 0" for name, to, metric, mask in routes]
    put(root, "proc/net/route", ROUTES + "\n".join(lines))
    for queue in range(queues):
        put(root, f"sys/class/net/eth0/device/msi_irqs/{40 + queue}", "msix")
        put(root, f"proc/irq/{40 + queue}/smp_affinity_list", "0")
    return System(root, "x86_64")


def test_interrupts_are_dealt_out_one_cpu_each(tmp_path: Path) -> None:
    host = network(tmp_path)
    assert (card(host), IRQ_AFFINITY.read(host), IRQ_AFFINITY.better(host)) == ("eth0", "0", "all")
    assert IRQ_AFFINITY.judge(host).level == "warn"
    for wanted, value in (
        ("all", "40=0 41=1 42=2 43=3"),
        ("dealt 2-3", "40=2 41=3 42=2 43=3"),
        ("2-3", "2-3"),
        ("40=1 41=2 42=3 43=0-7", "40=1 41=2 42=3 43=0-7"),
        (5, "5"),
        ("one", "0"),
    ):
        assert IRQ_AFFINITY.value(host, wanted) == value
        IRQ_AFFINITY.set(host, value)
        assert IRQ_AFFINITY.read(host) == value
    IRQ_AFFINITY.set(host, "40=1 41=1 42=1 43=7")
    assert [host.text(name) for name in IRQ_AFFINITY.files(host)] == ["1", "1", "1", "7"]
    for wrong in ("8", "some", True, "servers", "dealt out"):
        with pytest.raises(BadInput, match="no list of CPUs that are online"):
            IRQ_AFFINITY.value(host, wrong)
    for wrong in ("40=1", "40=1 41=1 42=1 43=1 44=1", "40=1 41=1 42=1 43=1 1", "40=1 41=1 42=1 43=;"):
        with pytest.raises(BadInput, match="does not name each of 40 41 42 43 once"):
            IRQ_AFFINITY.value(host, wrong)


def test_interrupts_by_name_where_the_device_has_none(tmp_path: Path) -> None:
    host = network(tmp_path, queues=0)
    put(
        tmp_path, "proc/interrupts", "     CPU0 CPU1\n 33: 5 0 GIC eth0\n 34: 5 0 GIC eth01\n 35: 5 1 GIC mmc"
    )
    for number in (33, 34, 35):
        put(tmp_path, f"proc/irq/{number}/smp_affinity_list", "0-7")
    assert IRQ_AFFINITY.files(host) == ["proc/irq/33/smp_affinity_list"]
    assert IRQ_AFFINITY.read(host) == "0-7"


def test_a_virtual_card_has_no_interrupts(tmp_path: Path) -> None:
    host = network(tmp_path, queues=0)
    assert IRQ_AFFINITY.missing(host) == "the card eth0 has no interrupts of its own: a virtual one"
    put(tmp_path, "proc/net/route", ROUTES)
    assert "no default route" in IRQ_AFFINITY.missing(host)


def test_the_checklist_names_what_is_better_and_how_it_is_undone(tmp_path: Path) -> None:
    network(tmp_path)
    host = acpi(tmp_path)
    put(tmp_path, "sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never")
    found = {one.topic: one for one in advise(host)}
    governor = found["governor"]
    assert (governor.now, governor.better) == ("schedutil", "performance")
    assert (governor.sets, governor.undoes) == (
        "sudo cpupower frequency-set -g performance",
        "sudo cpupower frequency-set -g schedutil",
    )
    assert (found["thp"].better, found["thp"].experiment) == ("madvise", "page-faults")
    assert found["thp"].undoes.startswith("echo always")
    assert found["irq-affinity"].better == "all"
    assert found["prefetch"].now.startswith("not here: ")
    assert found["prefetch"].sets == ""
    assert found["gc threads"].better == "one each, and fewer than 20 JVMs: at most 4 x 4 in all"
