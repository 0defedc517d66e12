# SPDX-License-Identifier: Apache-2.0
"""Facts about the host that belong beside every figure."""

import os
import re
from pathlib import Path

from steelyard.host import arm
from steelyard.host.core_kinds import core_kinds, describe_kinds
from steelyard.host.cpus import read_cpus, read_layout
from steelyard.host.huge_pages import reserved_pages
from steelyard.host.power import governor_names
from steelyard.host.scheduler import scheduler
from steelyard.host.states import STATES, read_states
from steelyard.host.system import System
from steelyard.results.schema import HostFacts

_SAME_HOST = ("hostname", "cpu_model", "cpus")
_SAME_MEMORY = 0.01
"""Relative difference of the memory that a start of the same kernel may make."""
_CPU = "sys/devices/system/cpu"
_SHOWN = {"thp": "sys/kernel/mm"}
"""Folders in which the kernel shows whether there is a state; `_CPU` for the others."""
# Options of the kernel's command line that change what is measured; the rest of it is nobody's business.
_OPTIONS = re.compile(
    r"isolcpus|nohz_full|rcu_nocbs|irqaffinity|mitigations|nosmt|smt-enabled|maxcpus|(intel|amd)_pstate"
    r"|(intel_idle|processor)\.max_cstate|idle|transparent_hugepage|(default_)?hugepagesz?"
    r"|numa_balancing|clocksource|tsc|preempt"
)


def read_facts(root: Path = Path("/"), architecture: str = os.uname().machine) -> HostFacts:
    """Ask the host; works without privileges, and what cannot be told is None (counts: as far as seen)."""
    system = System(root, architecture)
    online = read_cpus(system, f"{_CPU}/online") or sorted(os.sched_getaffinity(0))
    layout = read_layout(root, allowed=online)
    states = read_states(system)
    options = (system.text("proc/cmdline") or "").split()
    others = {
        "clock_source": system.text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "container": container(system),
        "core_kinds": describe_kinds(core_kinds(system, online)) or None,
        "isolated_cpus": system.text(f"{_CPU}/isolated") or None,
        "kernel_options": " ".join(
            option for option in options if _OPTIONS.fullmatch(option.partition("=")[0])
        )
        or None,
        "scheduler": scheduler(system),
        **{name: value for name, value in states.items() if name not in HostFacts.model_fields},
    }
    return HostFacts(
        hostname=system.text("proc/sys/kernel/hostname") or "unknown",
        architecture=system.machine,
        cpu_model=cpu_model(system),
        sockets=layout.packages,
        cores=len(layout.cores),
        cpus=len(layout.cpus),
        threads_per_core=layout.threads_per_core,
        smt=_state(system, "smt", states.get("smt") or system.text(f"{_CPU}/smt/control")),
        numa_nodes=layout.nodes,
        memory_bytes=system.memory("MemTotal") or 0,
        swap_bytes=system.memory("SwapTotal") or 0,
        kernel=system.text("proc/sys/kernel/osrelease") or "unknown",
        os=system.fields("etc/os-release", "=").get("PRETTY_NAME", "unknown").strip('"'),
        page_size=os.sysconf("SC_PAGE_SIZE"),
        governor=_state(system, "governor", governor_names(system)),
        turbo=_state(system, "turbo", states.get("turbo")),
        thp=_state(system, "thp", states.get("thp")),
        huge_pages=reserved_pages(system),
        cgroup_version=cgroup_version(system),
        virtualization=virtualization(system),
        extra={name: value for name, value in others.items() if value is not None},
    )


def is_same_host(first: HostFacts, second: HostFacts) -> bool:
    """Whether these may be facts of one host, as far as a start of a kernel leaves its memory the same."""
    alike = all(getattr(first, name) == getattr(second, name) for name in _SAME_HOST)
    return alike and is_same_memory(first.memory_bytes, second.memory_bytes)


def is_same_memory(first: int, second: int) -> bool:
    """Whether two hosts may be one by their memory, in bytes."""
    return abs(first - second) <= _SAME_MEMORY * first


def _state(system: System, name: str, value: str | None) -> str | None:
    """The value of a host state; `none` where the kernel shows that this host has no such thing; None: not told."""
    if value is not None:
        return value
    shown = system.path(_SHOWN.get(name, _CPU)).is_dir()
    return "none" if shown and not STATES[name].files(system) else None


def cpu_model(system: System) -> str:
    """The processor's name, from /proc/cpuinfo, whose fields differ by architecture."""
    if system.machine == "aarch64":
        return arm.processor(system) or system.machine
    fields = system.fields("proc/cpuinfo")
    power = system.machine.startswith("ppc")
    names = (
        [fields.get("cpu"), fields.get("model")]
        if power
        else [fields.get("model name") or fields.get("Model")]
    )
    return ", ".join(name for name in names if name) or system.machine


def cgroup_version(system: System) -> int | None:
    """2 for the unified hierarchy, 1 for the old one (or both at once); None without cgroups."""
    if system.path("sys/fs/cgroup/cgroup.controllers").exists():
        return 2
    return 1 if any(system.path(f"sys/fs/cgroup/{name}").is_dir() for name in ("cpu", "memory")) else None


def virtualization(system: System) -> str | None:
    """Name of the hypervisor under this host, `hypervisor` when it has none; None on bare metal."""
    if hypervisor := system.text("sys/hypervisor/type"):
        return hypervisor
    if system.machine == "aarch64":
        return arm.hypervisor(system)
    fields = system.fields("proc/cpuinfo")
    if "pSeries" in fields.get("platform", ""):
        return "qemu" if "qemu" in fields.get("model", "") else "PowerVM"
    if "hypervisor" not in fields.get("flags", "").split():
        return None
    maker = system.text("sys/class/dmi/id/sys_vendor") or ""
    product = system.text("sys/class/dmi/id/product_name") or ""
    return " ".join(word for word in (maker, product) if word) or "hypervisor"


def lxcfs_files(system: System) -> list[str]:
    """Files of /proc in the place of which lxcfs shows a container what is its own."""
    lines = (system.text("proc/self/mountinfo") or "").splitlines()
    parts = [line.partition(" - ") for line in lines]
    return [
        left.split()[4]
        for left, _, right in parts
        if right.startswith("fuse.lxcfs ") and len(left.split()) > 4 and left.split()[4].startswith("/proc/")
    ]


def container(system: System) -> str | None:
    """The container runtime around this process; None outside of containers."""
    if lxcfs_files(system) or (system.text("run/systemd/container") or "").startswith("lxc"):
        return "lxc"
    if system.path("run/.containerenv").exists():
        return "podman"
    if system.path(".dockerenv").exists():
        return "docker"
    if system.path("var/run/secrets/kubernetes.io").exists():
        return "kubernetes"
    return None
