# SPDX-License-Identifier: Apache-2.0
"""Facts and doctor on arm64: trees with the files that kernels of such machines show, as Linux documents them."""

from pathlib import Path

import pytest
from trees import CPU, THP, cpus, put

from steelyard.host.core_kinds import core_kinds
from steelyard.host.doctor import examine
from steelyard.host.facts import read_facts
from steelyard.host.system import System
from steelyard.host.tune import advise

CORE = """processor\t: {number}
BogoMIPS\t: 2100.00
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid
CPU implementer\t: {maker}
CPU architecture: 8
CPU variant\t: {variant}
CPU part\t: {part}
CPU revision\t: 1
"""


def machine(root: Path, cores: list[tuple[str, str, str]], maker: str = "", product: str = "") -> Path:
    """An arm64 host with one thread a core: implementer, variant and part of each."""
    cpus(root, [[number] for number in range(len(cores))])
    blocks = [
        CORE.format(number=number, maker=core[0], variant=core[1], part=core[2])
        for number, core in enumerate(cores)
    ]
    put(root, "proc/cpuinfo", "\n".join(blocks))
    put(root, f"{CPU}/smt/control", "notimplemented")
    put(root, f"{CPU}/smt/active", "0")
    put(root, THP, "always [madvise] never")
    put(root, "proc/sys/kernel/numa_balancing", "0")
    put(root, "proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\nSwapTotal: 0 kB")
    put(root, "sys/devices/system/clocksource/clocksource0/current_clocksource", "arch_sys_counter")
    if maker:
        put(root, "sys/class/dmi/id/sys_vendor", maker)
        put(root, "sys/class/dmi/id/product_name", product)
    return root


GRAVITON3, GRAVITON4 = ("0x41", "0x1", "0xd40"), ("0x41", "0x0", "0xd4f")


@pytest.mark.parametrize(
    ("core", "name"),
    [
        (GRAVITON3, "Arm Neoverse-V1 (0x41:0xd40:0x1)"),
        (GRAVITON4, "Arm Neoverse-V2 (0x41:0xd4f:0x0)"),
        (("0xc0", "0x0", "0xac3"), "Ampere Ampere-1 (0xc0:0xac3:0x0)"),
        (("0x61", "0x1", "0x022"), "Apple core (0x61:0x022:0x1)"),
        (("0x99", "0x0", "0x001"), "unknown maker core (0x99:0x001:0x0)"),
    ],
)
def test_a_processor_is_known_by_its_numbers(tmp_path: Path, core: tuple[str, str, str], name: str) -> None:
    facts = read_facts(machine(tmp_path, [core] * 4), "aarch64")
    assert (facts.cpu_model, facts.architecture) == (name, "aarch64")
    assert (facts.cores, facts.cpus, facts.threads_per_core) == (4, 4, 1)


def test_two_processors_are_two(tmp_path: Path) -> None:
    """A certificate of one must not hold for the other: both were `aarch64`."""
    first = read_facts(machine(tmp_path / "3", [GRAVITON3]), "aarch64")
    second = read_facts(machine(tmp_path / "4", [GRAVITON4]), "aarch64")
    assert first.cpu_model != second.cpu_model


def test_each_kind_of_core_is_named(tmp_path: Path) -> None:
    root = machine(tmp_path, [("0x41", "0x1", "0xd0b"), ("0x41", "0x0", "0xd05")])
    for cpu, capacity in enumerate((1024, 430)):
        put(root, f"{CPU}/cpu{cpu}/cpu_capacity", str(capacity))
    model = read_facts(root, "aarch64").cpu_model
    assert model == "Arm Cortex-A76 (0x41:0xd0b:0x1), Arm core (0x41:0xd05:0x0)"
    assert core_kinds(System(root, "aarch64"), (0, 1))


@pytest.mark.parametrize(
    ("maker", "product", "is_in"),
    [
        ("Amazon EC2", "c7g.large", "Amazon EC2 c7g.large"),
        ("Amazon EC2", "c7g.metal", None),
        ("QEMU", "QEMU Virtual Machine", "QEMU QEMU Virtual Machine"),
        ("Apple Inc.", "MacBook Pro", None),
        (
            "Apple Inc.",
            "Apple Virtualization Generic Platform",
            "Apple Inc. Apple Virtualization Generic Platform",
        ),
        ("Ampere(R)", "Mt. Collins", None),
        ("", "", None),
    ],
)
def test_a_guest_is_told_from_bare_metal(tmp_path: Path, maker: str, product: str, is_in: str | None) -> None:
    assert read_facts(machine(tmp_path, [GRAVITON3], maker, product), "aarch64").virtualization == is_in


def test_a_guest_without_firmware_tables_is_told_by_the_device_tree(tmp_path: Path) -> None:
    root = machine(tmp_path, [GRAVITON3])
    put(root, "proc/device-tree/hypervisor/compatible", "linux,kvm\0")
    assert read_facts(root, "aarch64").virtualization == "linux,kvm"


def test_doctor_and_facts_take_what_arm64_does_not_have(tmp_path: Path) -> None:
    root = machine(tmp_path, [GRAVITON3] * 2, "Amazon EC2", "c7g.large")
    found = {one.topic: one for one in examine(tmp_path / "results", root, seconds=0.0, machine="aarch64")}
    assert found["smt"].level in {"ok", "info"}
    assert "prefetch" not in found
    facts = read_facts(root, "aarch64")
    assert facts.governor in {None, "none"}
    assert facts.extra["clock_source"] == "arch_sys_counter"


def test_pools_of_every_size_are_told_by_it(tmp_path: Path) -> None:
    """arm64 has pages of 64 KiB too, by the contiguous bit."""
    root = machine(tmp_path, [GRAVITON3])
    for size, count in ((64, 3), (2048, 512)):
        put(root, f"sys/kernel/mm/hugepages/hugepages-{size}kB/nr_hugepages", str(count))
    advice = next(line for line in advise(System(root, "aarch64")) if line.topic == "large pages")
    assert advice.now == "512 of 2 MiB, 3 of 64 KiB"
