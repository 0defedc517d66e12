# SPDX-License-Identifier: Apache-2.0
"""What arm64 hosts say otherwise than others: the processor by numbers, the hypervisor by the firmware.

Numbers: Linux, arch/arm64/include/asm/cputype.h (`MIDR_EL1`). Firmware: the makers that systemd-detect-virt knows.
"""

import re

from steelyard.host.system import System

_MAKERS = {
    0x41: "Arm",
    0x46: "Fujitsu",
    0x48: "HiSilicon",
    0x4E: "NVIDIA",
    0x51: "Qualcomm",
    0x61: "Apple",
    0xC0: "Ampere",
}
_PARTS = {
    (0x41, 0xD08): "Cortex-A72",
    (0x41, 0xD0B): "Cortex-A76",
    (0x41, 0xD0C): "Neoverse-N1",
    (0x41, 0xD40): "Neoverse-V1",
    (0x41, 0xD49): "Neoverse-N2",
    (0x41, 0xD4F): "Neoverse-V2",
    (0xC0, 0xAC3): "Ampere-1",
    (0xC0, 0xAC4): "Ampere-1A",
}
_GUESTS = (
    *("QEMU", "KVM", "Amazon EC2", "Google", "Microsoft Corporation"),
    *("VMware", "Apple", "OpenStack", "Parallels", "Xen"),
)


def processor(system: System) -> str | None:
    """Every kind of core that /proc/cpuinfo names, with its numbers, so that two processors never have one name."""
    text = system.text("proc/cpuinfo") or ""
    kinds: dict[str, None] = {}
    for block in text.split("\n\n"):
        fields = dict(re.findall(r"^CPU (implementer|part|variant)\s*:\s*(\S+)$", block, re.MULTILINE))
        try:
            maker, part = int(fields["implementer"], 0), int(fields["part"], 0)
        except (KeyError, ValueError):
            continue
        name = _PARTS.get((maker, part), "core")
        numbers = f"{maker:#04x}:{part:#05x}:{fields.get('variant', '?')}"
        kinds[f"{_MAKERS.get(maker, 'unknown maker')} {name} ({numbers})"] = None
    return ", ".join(kinds) or None


def hypervisor(system: System) -> str | None:
    """The hypervisor under an arm64 guest: its processors have no flag that says so. None on bare metal."""
    if compatible := system.text("proc/device-tree/hypervisor/compatible"):
        return compatible.replace("\0", " ")
    maker = system.text("sys/class/dmi/id/sys_vendor") or ""
    product = system.text("sys/class/dmi/id/product_name") or ""
    # Rented machines without a hypervisor, and Apple's own laptops, have the same maker.
    is_metal = product.endswith(".metal") or (maker.startswith("Apple") and "Virtual" not in product)
    if is_metal or not maker.startswith(_GUESTS):
        return None
    return " ".join(word for word in (maker, product) if word)
