# SPDX-License-Identifier: Apache-2.0
"""Hardware threads: how many of each core are online (`smt`), and which CPUs are (`cpus_online`).

POWER: 1, 2, 4 or 8 threads of each core. Its firmware tells in the device tree how many there are, and numbers them
core by core, which is what `ppc64_cpu` builds on too; they are switched by `smt/control` where the kernel has that for
POWER (6.6 and later), else one by one. Other machines: `smt/control`, `on` or `off`.

A plan is made before the host is switched, so the cores of an arm are worked out from the threads that the kernel tells
of now (`planned_cores`); what comes online is then seen to be usable (`cpusets`).
"""

import os
from collections.abc import Collection, Mapping

from steelyard.errors import BadInput, MissingRequirement
from steelyard.host import cpusets
from steelyard.host.cpus import CpuLayout, cpu_list, parse_cpu_list, read_cpus, read_layout
from steelyard.host.state import HostState
from steelyard.host.system import Seen, System
from steelyard.units import quote_value
from steelyard.yamlfile import Scalar

_CPU = "sys/devices/system/cpu"
_CONTROL = f"{_CPU}/smt/control"
_MODES = (1, 2, 4, 8)
_THERE_ARE = {
    "notsupported": "its CPUs have one thread a core",
    "notimplemented": "its kernel cannot switch threads",
}


def _cpus(system: System, which: str) -> list[int]:
    return read_cpus(system, f"{_CPU}/{which}")


def _file(cpu: int) -> str:
    return f"{_CPU}/cpu{cpu}/online"


def layout_of(system: System) -> CpuLayout | None:
    """The cores that are online, whoever may use them; None where the kernel does not tell."""
    online = _cpus(system, "online")
    return read_layout(system.root, allowed=online) if online else None


def _switch(system: System, wanted: set[int]) -> None:
    """Bring CPUs online and take the others offline, one by one."""
    online = set(_cpus(system, "online"))
    cpusets.save_sets(system, online - wanted)
    for cpu in sorted(wanted - online):
        system.write(_file(cpu), "1")
    for cpu in sorted(online - wanted, reverse=True):
        system.write(_file(cpu), "0")
    cpusets.restore_sets(system)


# --- threads of each core


def _power(system: System) -> bool:
    return system.machine.startswith("ppc")


def _groups(system: System) -> list[list[int]]:
    """The threads of each core of a POWER host, offline ones too; empty where the firmware does not tell."""
    firmware = system.glob("proc/device-tree/cpus", "*/ibm,ppc-interrupt-server#s")
    try:
        each = len(firmware[0].read_bytes()) // 4
    except (IndexError, OSError):
        return []
    cores: dict[int, list[int]] = {}
    for cpu in _cpus(system, "present") if each else []:
        cores.setdefault(cpu // each, []).append(cpu)
    return list(cores.values())


def _cores_in_use(system: System) -> list[tuple[list[int], list[int]]]:
    """Threads of each core that is in use, and which of them are online."""
    online = set(_cpus(system, "online"))
    pairs = ((group, [cpu for cpu in group if cpu in online]) for group in _groups(system))
    return [(group, here) for group, here in pairs if here]


def _has_control(system: System) -> bool:
    """Whether the kernel itself switches the threads."""
    control = system.text(_CONTROL) or ""
    return control in ("on", "off") or control.isdigit()


def _files(system: System) -> list[str]:
    if _has_control(system):
        return [_CONTROL]
    return [_file(cpu) for group, _ in _cores_in_use(system) for cpu in group] if _power(system) else []


def _read(system: System) -> str | None:
    if not _power(system):
        control = system.text(_CONTROL)
        return control if control in ("on", "off") else None
    used = _cores_in_use(system)
    counts = {len(here) for group, here in used if here == group[: len(here)]}
    even = len(counts) == 1 and all(here == group[: len(here)] for group, here in used)
    return str(counts.pop()) if even and max(len(group) for group, _ in used) > 1 else None


def _why_missing(system: System) -> str:
    if not _power(system):
        control = system.text(_CONTROL) or ""
        return _THERE_ARE.get(
            control, "its threads are off for good" if control else "its kernel tells of no threads"
        )
    used = _cores_in_use(system)
    if not used:
        return "its firmware does not tell the threads of a core"
    if max(len(group) for group, _ in used) == 1:
        return "its cores have one thread each"
    return "its cores do not have the same threads online: set cpus_online, or ppc64_cpu --smt, first"


def _parse(system: System, wanted: object) -> str:
    named = {"on": True, "off": False}
    wanted = named.get(str(wanted), wanted)
    if not _power(system):
        wanted = {1: False, 2: True}.get(int(str(wanted)), wanted) if str(wanted) in ("1", "2") else wanted
        if isinstance(wanted, bool):
            return "on" if wanted else "off"
        raise ValueError(f"{quote_value(wanted)} is no mode of this machine's threads")
    most = max((len(group) for group in _groups(system)), default=_MODES[-1])
    if isinstance(wanted, bool):
        return str(most) if wanted else "1"
    if str(wanted) not in map(str, _MODES):
        raise ValueError(f"{quote_value(wanted)} is no number of threads")
    if int(str(wanted)) > most:
        raise ValueError(f"{wanted} is more than the {most} threads of a core here")
    return str(wanted)


def _write(system: System, value: str) -> None:
    if not _has_control(system):
        used = _cores_in_use(system)
        _switch(system, {cpu for group, _ in used for cpu in group[: int(value)]})
        return
    before = set(_cpus(system, "online"))
    mode, wanted = value, before
    if _power(system):
        groups = [group for group, _ in _cores_in_use(system)]
        wanted = {cpu for group in groups for cpu in group[: int(value)]}
        mode = {1: "off", max(map(len, groups)): "on"}.get(int(value), value)
    elif value == "off":
        layout = layout_of(system)
        wanted = {core.cpus[0] for core in layout.cores} if layout is not None else before
    cpusets.save_sets(system, before - wanted)
    system.write(_CONTROL, mode)
    cpusets.restore_sets(system)


def _levels(system: System) -> list[Scalar]:
    if not _power(system):
        return ["off", "on"]
    most = max((len(group) for group in _groups(system)), default=1)
    return [mode for mode in _MODES if mode <= most]


def _command(value: str) -> str:
    return f"sudo ppc64_cpu --smt={value}" if value.isdigit() else f"echo {value} | sudo tee /{_CONTROL}"


def _judge(system: System) -> Seen:
    now, modes = _read(system) or "", [str(mode) for mode in _levels(system)]
    if not _power(system):
        return Seen(now, "info", _command(next(mode for mode in modes if mode != now)))
    command = f"sudo ppc64_cpu --smt=N   (N of {', '.join(modes)})"
    return Seen(f"{now} of {modes[-1]} threads of each core", "info", command)


SMT = HostState(
    name="smt",
    allowed="1, 2, 4 or 8 threads a core on POWER, on or off elsewhere",
    why="Threads of one core share its units, so what a CPU is worth depends on whether its siblings are busy.",
    where=f"/{_CONTROL}` or `/{_CPU}/cpuN/online",
    files=_files,
    read=_read,
    parse=_parse,
    write=_write,
    command=_command,
    judge=_judge,
    missing=_why_missing,
    levels=_levels,
    said="SMT8 against SMT4: throughput of a Jakarta EE application +35 %, SPECjbb2015 max-jOPS +24.5 %",
    experiment="smt",
    facts=("smt", "cpus", "threads_per_core", "cpus_online", "governor"),
)


# --- which CPUs are online


def _read_online(system: System) -> str | None:
    present, online = _cpus(system, "present"), _cpus(system, "online")
    switched = [cpu for cpu in present if system.path(_file(cpu)).exists()]
    return cpu_list(online) if switched and online and len(present) > 1 else None


def _parse_online(system: System, wanted: object) -> str:
    present = _cpus(system, "present")
    text = str(wanted).replace(" ", "")
    try:
        # A plain number is how many; 0 can only be meant as the first one.
        cpus = set(present[: int(text)] if text.isdigit() and text != "0" else parse_cpu_list(text))
    except ValueError:
        raise ValueError(
            f"{quote_value(wanted)} is no list of CPUs, as 0-3,8, and no number of them"
        ) from None
    if not cpus or (text.isdigit() and len(cpus) < int(text)) or not cpus <= set(present):
        raise ValueError(f"{text} is not among the CPUs of this host ({cpu_list(present) or 'not told'})")
    fixed = [cpu for cpu in present if not system.path(_file(cpu)).exists()]
    if not set(fixed) <= cpus:
        raise ValueError(f"CPU {cpu_list(fixed)} cannot go offline here, and {text} is without it")
    return cpu_list(cpus)


def _judge_online(system: System) -> Seen:
    off = set(_cpus(system, "present")) - set(_cpus(system, "online"))
    if not off or _power(system):  # there SMT below the most is what leaves CPUs offline
        return Seen(_read_online(system) or "")
    present = cpu_list(_cpus(system, "present"))
    return Seen(f"{_read_online(system)}, offline: {cpu_list(off)}", "info", _command_online(present))


def _command_online(value: str) -> str:
    return f"sudo ./steelyard host set cpus_online={value}"


CPUS_ONLINE = HostState(
    name="cpus_online",
    allowed="a list of CPUs as 0-3,8, or a number of them",
    why="Servers can only use CPUs that are online, and the kernel sizes much by their number.",
    where=f"/{_CPU}/cpuN/online",
    files=lambda system: [_file(cpu) for cpu in _cpus(system, "present") if system.path(_file(cpu)).exists()],
    read=_read_online,
    parse=_parse_online,
    write=lambda system, value: _switch(system, set(parse_cpu_list(value))),
    command=_command_online,
    judge=_judge_online,
    missing=lambda system: (
        "its kernel cannot switch CPUs off, or this guest may not"
        if len(_cpus(system, "present")) > 1
        else "it has one CPU"
    ),
    facts=("cpus", "cores", "sockets", "numa_nodes", "threads_per_core", "smt", *SMT.facts[3:]),
)


# --- the cores of an arm


def planned_cores(
    wanted: Mapping[str, Scalar], system: System | None = None, allowed: Collection[int] | None = None
) -> CpuLayout:
    """The cores that this process may use once the host states of an arm are set; BadInput for what is no value.

    Args:
        wanted: host states of the arm.
        system: another than this host, for trees of files.
        allowed: logical CPUs that may be used now; None: those of this process, of a tree all that are online.

    Raises:
        BadInput: of a core only threads that go offline may be used.
        MissingRequirement: the threads that are to come online are not told of while they are off.
    """
    host = system or System()
    online = set(_cpus(host, "online"))
    if allowed is None:
        allowed = os.sched_getaffinity(0) if host.is_here else online
    now, stay = read_layout(host.root, allowed=allowed), set(_cpus(host, "present")) | online
    if "cpus_online" in wanted:
        stay = set(parse_cpu_list(CPUS_ONLINE.value(host, wanted["cpus_online"])))
        if coming := stay - online:
            raise _untold(f"CPU {cpu_list(coming)}", _command_online(cpu_list(stay)))
        now = _with(now, {core.cpus: tuple(cpu for cpu in core.cpus if cpu in stay) for core in now.cores})
    if "smt" not in wanted or (value := SMT.value(host, wanted["smt"])) == _read(host):
        return now
    if value == "on":
        raise _untold("the second thread of each core", _command("on"))
    cores = {cpu: core.cpus for core in (layout_of(host) or now).cores for cpu in core.cpus}
    if _power(host):
        cores |= {cpu: tuple(group) for group in _groups(host) for cpu in group}
    first = {core.cpus: cores[core.cpus[0]][: 1 if value == "off" else int(value)] for core in now.cores}
    unusable = online - set(allowed)
    if not all(set(cpus) - unusable for cpus in first.values()):
        siblings = cpu_list({cpu for core in now.cores for cpu in cores[core.cpus[0]] if cpu in online})
        raise BadInput(
            f"smt {value} leaves the first threads of each core online, and this process may use others alone"
            f" (CPU {cpu_list(now.cpus)}): give it whole cores, as in `taskset -c {siblings} ./steelyard ...`"
        )
    # Whether a thread that is offline now may be used is seen when it comes.
    return _with(now, {core: tuple(cpu for cpu in first[core] if cpu in stay - unusable) for core in first})


def _with(layout: CpuLayout, cpus: Mapping[tuple[int, ...], tuple[int, ...]]) -> CpuLayout:
    cores = [core._replace(cpus=cpus[core.cpus]) for core in layout.cores]
    return CpuLayout(tuple(core for core in cores if core.cpus))


def _untold(cpus: str, command: str) -> MissingRequirement:
    return MissingRequirement(
        f"{cpus} is offline now, and the kernel does not tell to which core it belongs: bring it online before the"
        f" session is planned ({command}); the session sets the host itself then"
    )
