# SPDX-License-Identifier: Apache-2.0
"""The doctor's look at settings of CPUs, memory and kernel: from files alone. What a session can set is in `states`."""

import os
from pathlib import Path

from steelyard.host import facts
from steelyard.host.core_kinds import core_kinds, describe_kinds, isolated_cpus
from steelyard.host.cpus import cpu_list
from steelyard.host.smt import layout_of
from steelyard.host.system import UNTOLD, Seen, System
from steelyard.sampling.cgroup import cpu_quota, memory_high, memory_limit
from steelyard.units import format_size

ONE_CPU = 0.9
"""Share of the interrupts on one CPU from which on they are called bound to it."""
FEW_INTERRUPTS = 10_000
LITTLE_MEMORY = 2 * 1024**3
_PRECISE_CLOCKS = ("tsc", "kvm-clock", "timebase", "arch_sys_counter", "hyperv_clocksource_tsc_page", "xen")


def cores(system: System) -> Seen:
    """If cores differ in speed or in their number of hardware threads, results depend on which core a server got."""
    if (layout := layout_of(system)) is None:
        return UNTOLD
    counts = sorted({len(core.cpus) for core in layout.cores})
    state = f"{len(layout.cores)} with {' or '.join(map(str, counts))} hardware threads each"
    if kinds := core_kinds(system, layout.cpus):
        first = [cpu for cpu in kinds if kinds[cpu] == next(iter(kinds.values()))]
        own = core_kinds(system, os.sched_getaffinity(0)) if system.root == Path("/") else kinds
        return Seen(
            f"{state}, of {len(set(kinds.values()))} kinds ({describe_kinds(kinds)})",
            "warn" if own else "info",
            f"taskset -c {cpu_list(first)} ./steelyard ...   (cores of one kind)" if own else None,
        )
    return (
        Seen(state)
        if len(counts) == 1
        else Seen(state, "warn", "bring all threads online, or one of each core")
    )


def isolated_cores(system: System) -> Seen:
    """The kernel spreads no threads over isolated CPUs: all threads of a server that is bound to several run on one."""
    cpus = isolated_cpus(system)
    if not cpus:
        return Seen("none")
    return Seen(
        f"CPU {cpu_list(cpus)}",
        "info",
        "boot without isolcpus; a session leaves them out unless it is bound to them",
    )


def numa(system: System) -> Seen:
    """Memory of another node is slower to reach."""
    if (layout := layout_of(system)) is None:
        return UNTOLD
    if layout.nodes == 1:
        return Seen("1 node")
    return Seen(f"{layout.nodes} nodes", "info", "bind each server to the cores of one node (the plan does)")


def interrupts(system: System) -> Seen:
    """A CPU that serves the interrupts has less time for the server that is bound to it."""
    text = system.text("proc/interrupts")
    if not text:
        return UNTOLD
    head, *lines = (line.split() for line in text.splitlines())
    cpus = [int(name.removeprefix("CPU")) for name in head]
    # Devices have numbers; the named lines are each CPU's own timer and the like.
    devices = [fields[1 : len(cpus) + 1] for fields in lines if fields[0].rstrip(":").isdigit()]
    counts = [
        sum(int(line[i]) for line in devices if line[i:] and line[i].isdigit()) for i in range(len(cpus))
    ]
    total, most = sum(counts), max(counts)
    if len(cpus) == 1 or total < FEW_INTERRUPTS:
        return Seen(f"{total:,} device interrupts since boot")
    busiest = cpus[counts.index(most)]
    state = f"CPU {busiest} served {most / total:.0%} of {total:,} device interrupts since boot"
    return (
        Seen(state)
        if most < ONE_CPU * total
        else Seen(state, "warn", "sudo ./steelyard host set irq_affinity=all")
    )


def cgroup(system: System) -> Seen:
    """A CPU or memory limit on this session throttles servers and injectors, whatever the host could do."""
    version = facts.cgroup_version(system)
    if version is None:
        return Seen("none")
    root = str(system.root).rstrip("/")
    try:
        cpus = cpu_quota(os.getpid(), root)
        memory, high = memory_limit(os.getpid(), root), memory_high(os.getpid(), root)
    except ValueError as error:
        return Seen(f"version {version}, {error}", "warn")
    limits = [f"{cpus:g} CPUs"] if cpus is not None else []
    limits += [format_size(memory)] if memory is not None else []
    limits += (
        [f"{format_size(high)}, above which it is slowed down (memory.high)"] if high is not None else []
    )
    if not limits:
        return Seen(f"version {version}, no limits on this session")
    return Seen(
        f"version {version}, this session is limited to {' and '.join(limits)}",
        "warn",
        "start it without --cpus and --memory (containers), or outside the limited slice (systemd)",
    )


def aslr(system: System) -> Seen:
    """Random addresses are part of why two starts of one JVM differ; fresh starts average it, a fixed layout would hide
    it."""
    value = system.number("proc/sys/kernel/randomize_va_space")
    if value is None:
        return UNTOLD
    return Seen("on") if value else Seen("off", "info", "sudo sysctl kernel.randomize_va_space=2")


def swap(system: System) -> Seen:
    """A page of a JVM that was swapped out comes back from disk in the middle of a request or a collection."""
    total, free = system.memory("SwapTotal"), system.memory("SwapFree")
    if total is None or free is None:
        return UNTOLD
    if total == 0:
        return Seen("none")
    if free == total:
        return Seen(f"{format_size(total)}, unused", "info", "sudo swapoff -a")
    return Seen(f"{format_size(total - free)} of {format_size(total)} used", "warn", "sudo swapoff -a")


def memory(system: System) -> Seen:
    """When memory runs short the kernel reclaims pages or kills a server in the middle of a trial."""
    available = system.memory("MemAvailable")
    if available is None:
        return UNTOLD
    if available >= LITTLE_MEMORY:
        return Seen(f"{format_size(available)} free")
    return Seen(f"only {format_size(available)} free", "warn", "stop what is not needed")


def clock(system: System) -> Seen:
    """Servers and injectors read the clock for every request, and a slow source costs microseconds each time."""
    folder = "sys/devices/system/clocksource/clocksource0"
    source = system.text(f"{folder}/current_clocksource")
    if source is None:
        return UNTOLD
    if source in _PRECISE_CLOCKS:
        return Seen(source)
    offered = (system.text(f"{folder}/available_clocksource") or "").split()
    better = next((name for name in _PRECISE_CLOCKS if name in offered), None)
    return Seen(source, "warn", f"echo {better} | sudo tee /{folder}/current_clocksource" if better else None)


def virtualization(system: System) -> Seen:
    """In a guest, CPUs and memory are shared with neighbours that cannot be seen from inside."""
    hypervisor = facts.virtualization(system)
    if hypervisor is None:
        return Seen("none seen")
    name = "a hypervisor" if hypervisor == "hypervisor" else hypervisor
    return Seen(f"a guest of {name}", "info", "measure on dedicated or bare-metal hosts")


def container(system: System) -> Seen:
    """In a container, limits and settings come from outside, and some cannot be read or changed."""
    runtime = facts.container(system)
    if runtime is None:
        return Seen("no")
    if hidden := facts.lxcfs_files(system):
        return Seen(
            f"{runtime}, in which lxcfs shows another {', '.join(hidden)} than the host's",
            "warn",
            "run the session on the host, or in a container without lxcfs: other load of the host is not seen here",
        )
    return Seen(runtime, "info", "look at the host too: run `steelyard doctor` there")
