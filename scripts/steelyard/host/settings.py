# SPDX-License-Identifier: Apache-2.0
"""The doctor's look at settings of CPUs, memory and kernel: from files alone. What a session can set is in `states`."""

import os

from steelyard.host import facts
from steelyard.host.cpus import parse_cpu_list, read_layout
from steelyard.host.finding import Finding, finding, untold
from steelyard.host.limits import read_limits
from steelyard.host.states import STATES
from steelyard.host.system import System
from steelyard.units import format_size

ONE_CPU = 0.9
"""Share of the interrupts on one CPU from which on they are called bound to it."""
FEW_INTERRUPTS = 10_000
_CPU = "sys/devices/system/cpu"
_PRECISE_CLOCKS = ("tsc", "kvm-clock", "timebase", "arch_sys_counter", "hyperv_clocksource_tsc_page", "xen")


def smt(system: System, machine: str) -> Finding:
    """Threads per core, and how to set them."""
    online = parse_cpu_list(system.text(f"{_CPU}/online") or "")
    if not online:
        return untold("smt")
    layout = read_layout(system.root, allowed=online)
    control = system.text(f"{_CPU}/smt/control")
    state = f"{layout.threads_per_core} on each of {len(layout.cores)} cores" + (
        f" ({control})" if control else ""
    )
    if {len(core.cpus) for core in layout.cores} != {layout.threads_per_core}:
        return finding("smt", f"up to {state}, not the same on all", "warn", _smt_command(machine, "on"))
    if layout.threads_per_core == 1:
        return finding("smt", state)
    return finding("smt", state, "info", _smt_command(machine, "off"))


def _smt_command(machine: str, to: str) -> str:
    if machine.startswith("ppc"):
        return f"sudo ppc64_cpu --smt={to}   (or a number of threads)"
    return f"echo {to} | sudo tee /sys/devices/system/cpu/smt/control"


def governor(system: System) -> Finding:
    """Frequency governor."""
    chosen = facts.governor(system)
    if chosen is None:
        return finding("governor", "no frequency control here (left to hypervisor or firmware)", "info")
    if chosen == "performance":
        return finding("governor", chosen)
    return finding("governor", chosen, "warn", "sudo cpupower frequency-set -g performance")


def turbo(system: System) -> Finding:
    """Turbo or boost."""
    state = facts.turbo(system)
    if state is None:
        return untold("turbo")
    if state == "off":
        return finding("turbo", state)
    intel = system.number(f"{_CPU}/intel_pstate/no_turbo") is not None
    name, value = ("intel_pstate/no_turbo", 1) if intel else ("cpufreq/boost", 0)
    return finding("turbo", state, "info", f"echo {value} | sudo tee /{_CPU}/{name}")


def numa(system: System) -> Finding:
    """NUMA nodes and automatic balancing."""
    online = parse_cpu_list(system.text(f"{_CPU}/online") or "")
    if not online:
        return untold("numa")
    nodes = read_layout(system.root, allowed=online).nodes
    if nodes == 1:
        return finding("numa", "1 node")
    if system.number("proc/sys/kernel/numa_balancing"):
        return finding(
            "numa",
            f"{nodes} nodes, automatic balancing on",
            "warn",
            "sudo sysctl kernel.numa_balancing=0",
        )
    return finding(
        "numa", f"{nodes} nodes", "info", "bind each server to the cores of one node (the plan does)"
    )


def irq_affinity(system: System) -> Finding:
    """Whether one CPU served nearly all device interrupts since boot."""
    text = system.text("proc/interrupts")
    if not text:
        return untold("irq-affinity")
    cpus = [int(name.removeprefix("CPU")) for name in text.splitlines()[0].split()]
    counts = [0] * len(cpus)
    for line in text.splitlines()[1:]:
        name, *fields = line.split()
        if name.rstrip(":").isdigit():  # devices; the named lines are each CPU's own timer and the like
            for i, field in enumerate(fields[: len(cpus)]):
                counts[i] += int(field) if field.isdigit() else 0
    total = sum(counts)
    if len(cpus) == 1 or total < FEW_INTERRUPTS:
        return finding("irq-affinity", f"{total:,} device interrupts since boot")
    busiest = max(range(len(cpus)), key=lambda i: counts[i])
    share = counts[busiest] / total
    state = f"CPU {cpus[busiest]} served {share:.0%} of {total:,} device interrupts since boot"
    if share < ONE_CPU:
        return finding("irq-affinity", state)
    return finding("irq-affinity", state, "warn", "sudo systemctl start irqbalance")


def cgroup(system: System) -> Finding:
    """Control group version, and limits on this session."""
    version = facts.cgroup_version(system)
    if version is None:
        return finding("cgroup", "none")
    limits = read_limits(system)
    found = []
    if limits.cpus is not None:
        found.append(f"{limits.cpus:g} CPUs")
    if limits.memory is not None:
        found.append(format_size(limits.memory))
    if not found:
        return finding("cgroup", f"version {version}, no limits on this session")
    return finding(
        "cgroup",
        f"version {version}, this session is limited to {' and '.join(found)}",
        "warn",
        "start it without --cpus and --memory (containers), or outside the limited slice (systemd)",
    )


def swap(system: System) -> Finding:
    """Swap space, and whether it is in use."""
    total, free = system.memory("SwapTotal"), system.memory("SwapFree")
    if total is None or free is None:
        return untold("swap")
    if total == 0:
        return finding("swap", "none")
    used = total - free
    if used == 0:
        return finding("swap", f"{format_size(total)}, unused", "info", "sudo swapoff -a")
    return finding("swap", f"{format_size(used)} of {format_size(total)} used", "warn", "sudo swapoff -a")


def clock(system: System) -> Finding:
    """Clock source of the kernel."""
    folder = "sys/devices/system/clocksource/clocksource0"
    source = system.text(f"{folder}/current_clocksource")
    if source is None:
        return untold("clock")
    if source in _PRECISE_CLOCKS:
        return finding("clock", source)
    offered = (system.text(f"{folder}/available_clocksource") or "").split()
    better = next((name for name in _PRECISE_CLOCKS if name in offered), None)
    change = f"echo {better} | sudo tee /{folder}/current_clocksource" if better else None
    return finding("clock", source, "warn", change)


def virtualization(system: System) -> Finding:
    """Bare metal or guest."""
    hypervisor = facts.virtualization(system)
    if hypervisor is None:
        return finding("virtualization", "none seen")
    name = "a hypervisor" if hypervisor == "hypervisor" else hypervisor
    return finding("virtualization", f"a guest of {name}", "info", "measure on dedicated or bare-metal hosts")


def container(system: System) -> Finding:
    """Inside a container or not."""
    runtime = facts.container(system)
    if runtime is None:
        return finding("container", "no")
    return finding("container", runtime, "info", "look at the host too: run `steelyard doctor` there")


def aslr(system: System) -> Finding:
    """Address space layout randomisation."""
    value = system.number("proc/sys/kernel/randomize_va_space")
    if value is None:
        return untold("aslr")
    if value:
        return finding("aslr", "on")
    return finding("aslr", "off", "info", "sudo sysctl kernel.randomize_va_space=2")


def dscr(system: System) -> Finding:
    """POWER's default data-stream control."""
    value = system.text(f"{_CPU}/dscr_default")
    if value is None:
        return untold("dscr")
    if int(value, 16) == 0:
        return finding("dscr", "0 (the hardware's default)")
    return finding("dscr", value, "info", "sudo ppc64_cpu --dscr=0")


def settings(system: System, machine: str = os.uname().machine) -> dict[str, Finding]:
    """All findings from settings, by topic; `dscr` on POWER only."""
    found = [
        *(state.finding(system) for state in STATES.values()),
        smt(system, machine),
        *(
            look(system)
            for look in (
                governor,
                turbo,
                numa,
                irq_affinity,
                cgroup,
                swap,
                clock,
                virtualization,
                container,
                aslr,
            )
        ),
    ]
    if machine.startswith("ppc"):
        found.append(dscr(system))
    return {one.topic: one for one in found}
