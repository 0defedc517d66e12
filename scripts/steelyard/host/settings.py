# SPDX-License-Identifier: Apache-2.0
"""The doctor's look at settings of CPUs, memory and kernel: from files alone. What a session can set is in `states`."""

from steelyard.host import facts
from steelyard.host.cpus import CpuLayout, parse_cpu_list, read_layout
from steelyard.host.system import UNTOLD, Seen, System
from steelyard.sampling.cgroup import read_limits
from steelyard.units import format_size

ONE_CPU = 0.9
"""Share of the interrupts on one CPU from which on they are called bound to it."""
FEW_INTERRUPTS = 10_000
LITTLE_MEMORY = 2 * 1024**3
_CPU = "sys/devices/system/cpu"
_PRECISE_CLOCKS = ("tsc", "kvm-clock", "timebase", "arch_sys_counter", "hyperv_clocksource_tsc_page", "xen")


def _layout(system: System) -> CpuLayout | None:
    online = parse_cpu_list(system.text(f"{_CPU}/online") or "")
    return read_layout(system.root, allowed=online) if online else None


def smt(system: System) -> Seen:
    """Threads of one core share its units, so what a CPU is worth depends on whether its siblings are busy."""
    if (layout := _layout(system)) is None:
        return UNTOLD
    control = system.text(f"{_CPU}/smt/control")
    state = f"{layout.threads_per_core} on each of {len(layout.cores)} cores" + (
        f" ({control})" if control else ""
    )
    even = {len(core.cpus) for core in layout.cores} == {layout.threads_per_core}
    if even and layout.threads_per_core == 1:
        return Seen(state)
    to = "off" if even else "on"
    change = f"echo {to} | sudo tee /{_CPU}/smt/control"
    if system.machine.startswith("ppc"):
        change = f"sudo ppc64_cpu --smt={to}   (or a number of threads)"
    return (
        Seen(state, "info", change) if even else Seen(f"up to {state}, not the same on all", "warn", change)
    )


def governor(system: System) -> Seen:
    """A governor that saves power changes the clock with the load, so arms are measured at other speeds."""
    chosen = facts.governor(system)
    if chosen is None:
        return Seen("no frequency control here (left to hypervisor or firmware)", "info")
    if chosen == "performance":
        return Seen(chosen)
    return Seen(chosen, "warn", "sudo cpupower frequency-set -g performance")


def turbo(system: System) -> Seen:
    """Turbo raises the clock as far as temperature and idle cores allow, which drifts over a session."""
    state = facts.turbo(system)
    if state is None:
        return UNTOLD
    if state == "off":
        return Seen(state)
    intel = system.number(f"{_CPU}/intel_pstate/no_turbo") is not None
    name, value = ("intel_pstate/no_turbo", 1) if intel else ("cpufreq/boost", 0)
    return Seen(state, "info", f"echo {value} | sudo tee /{_CPU}/{name}")


def numa(system: System) -> Seen:
    """Memory of another node is slower to reach, and the kernel may move pages in the middle of a
    measurement."""
    if (layout := _layout(system)) is None:
        return UNTOLD
    if layout.nodes == 1:
        return Seen("1 node")
    state = f"{layout.nodes} nodes"
    if system.number("proc/sys/kernel/numa_balancing"):
        return Seen(f"{state}, automatic balancing on", "warn", "sudo sysctl kernel.numa_balancing=0")
    return Seen(state, "info", "bind each server to the cores of one node (the plan does)")


def irq_affinity(system: System) -> Seen:
    """A CPU that serves the interrupts has less time for the server that is bound to it."""
    text = system.text("proc/interrupts")
    if not text:
        return UNTOLD
    head, *lines = (line.split() for line in text.splitlines())
    cpus = [int(name.removeprefix("CPU")) for name in head]
    # Devices have numbers; the named lines are each CPU's own timer and the like.
    devices = [fields[1 : len(cpus) + 1] for fields in lines if fields[0].rstrip(":").isdigit()]
    counts = [sum(int(one[i]) for one in devices if one[i:] and one[i].isdigit()) for i in range(len(cpus))]
    total, most = sum(counts), max(counts)
    if len(cpus) == 1 or total < FEW_INTERRUPTS:
        return Seen(f"{total:,} device interrupts since boot")
    busiest = cpus[counts.index(most)]
    state = f"CPU {busiest} served {most / total:.0%} of {total:,} device interrupts since boot"
    return Seen(state) if most < ONE_CPU * total else Seen(state, "warn", "sudo systemctl start irqbalance")


def cgroup(system: System) -> Seen:
    """A CPU or memory limit on this session throttles servers and injectors, whatever the host could do."""
    version = facts.cgroup_version(system)
    if version is None:
        return Seen("none")
    cpus, memory = read_limits(str(system.root).rstrip("/"))
    found = ([f"{cpus:g} CPUs"] if cpus is not None else []) + (
        [format_size(memory)] if memory is not None else []
    )
    if not found:
        return Seen(f"version {version}, no limits on this session")
    return Seen(
        f"version {version}, this session is limited to {' and '.join(found)}",
        "warn",
        "start it without --cpus and --memory (containers), or outside the limited slice (systemd)",
    )


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
    return Seen(runtime, "info", "look at the host too: run `steelyard doctor` there")


def aslr(system: System) -> Seen:
    """Random addresses are part of why two starts of one JVM differ; fresh starts average it, a fixed layout
    would hide it."""
    value = system.number("proc/sys/kernel/randomize_va_space")
    if value is None:
        return UNTOLD
    return Seen("on") if value else Seen("off", "info", "sudo sysctl kernel.randomize_va_space=2")


def dscr(system: System) -> Seen:
    """POWER's data-stream register sets how far the hardware prefetches, for all that runs on the host."""
    value = system.text(f"{_CPU}/dscr_default")
    if value is None:
        return UNTOLD
    if int(value, 16) == 0:
        return Seen("0 (the hardware's default)")
    return Seen(value, "info", "sudo ppc64_cpu --dscr=0")
