# SPDX-License-Identifier: Apache-2.0
"""How fast CPUs run, how far they fetch ahead: host states `governor`, `turbo` and `prefetch`.

Sources: the kernel's Documentation/admin-guide/pm/cpufreq.rst and intel_pstate.rst; for DSCR
sysfs-devices-system-cpu and the Power ISA, book II (bits of the default prefetch depth: 0 the hardware's, 1 none, up to
7 deepest).
"""

import re

from steelyard.host.state import HostState, in_files
from steelyard.host.system import Seen, System
from steelyard.units import quote_value
from steelyard.yamlfile import Scalar

_CPU = "sys/devices/system/cpu"
_NO_CONTROL = "no frequency control here (left to hypervisor or firmware)"
_DSCR = f"{_CPU}/dscr_default"
_SET = "sudo ./steelyard host set"


def _each(system: System, folder: str, pattern: str, file: str) -> dict[str, str]:
    """Such a file of each CPU, or of each group of CPUs that share a clock, by its name.

    Groups without a CPU that is online are left out: their files stay, and the kernel answers EBUSY to who reads or
    writes them.
    """
    files = {path.name: f"{folder}/{path.name}/{file}" for path in system.glob(folder, pattern)}
    named = sorted(files.items(), key=lambda item: int(re.sub(r"\D", "", item[0]) or -1))
    return {name: file for name, file in named if system.path(file).exists() and _is_online(system, file)}


def _is_online(system: System, file: str) -> bool:
    """Whether a CPU of the group is online; of one that does not list its CPUs, taken as given."""
    cpus = f"{file.rpartition('/')[0]}/affected_cpus"
    return bool(system.text(cpus)) or not system.path(cpus).exists()


def _policies(system: System, file: str) -> dict[str, str]:
    return _each(system, f"{_CPU}/cpufreq", "policy[0-9]*", file) or _each(
        system, _CPU, "cpu[0-9]*", f"cpufreq/{file}"
    )


# --- governor


def _governors(system: System) -> dict[str, str]:
    return _policies(system, "scaling_governor")


def _parse_governor(system: System, wanted: object) -> str:
    offered = {
        name
        for file in _policies(system, "scaling_available_governors").values()
        for name in (system.text(file) or "").split()
    }
    if not re.fullmatch(r"[a-z_]+", str(wanted)) or (offered and str(wanted) not in offered):
        there = f": there are {', '.join(sorted(offered))}" if offered else ""
        raise ValueError(f"{quote_value(wanted)} is no governor of this host{there}")
    return str(wanted)


def governor_names(system: System) -> str | None:
    """The governors of all CPUs that are online, each once; None without frequency control."""
    names = {name for file in _governors(system).values() if (name := system.text(file))}
    return ", ".join(sorted(names)) or None


def _judge_governor(system: System) -> Seen:
    names = governor_names(system) or ""
    if names == "performance":
        return Seen(names)
    return Seen(names, "warn", "sudo cpupower frequency-set -g performance")


def _governor_levels(system: System) -> list[Scalar]:
    """The first two that every driver has something like: as fast as it can, and as the load asks for."""
    offered = {
        name
        for file in _policies(system, "scaling_available_governors").values()
        for name in (system.text(file) or "").split()
    }
    following = [name for name in ("schedutil", "ondemand", "powersave") if name in offered]
    return [*(name for name in ("performance",) if name in offered), *following[:1]]


GOVERNOR = HostState(
    name="governor",
    allowed="the name of a governor, as performance or powersave",
    why="A governor that saves power changes the clock with the load, so arms are measured at other speeds.",
    where=f"/{_CPU}/cpufreq/policyN/scaling_governor",
    **in_files(_governors),
    parse=_parse_governor,
    command=lambda value: (
        f"{_SET} 'governor={value}'" if "=" in value else f"sudo cpupower frequency-set -g {value}"
    ),
    judge=_judge_governor,
    missing=lambda _system: _NO_CONTROL,
    better=lambda system: "performance" if _judge_governor(system).level == "warn" else None,
    levels=_governor_levels,
    said="run the CPUs in performance mode",
    experiment="governor",
)


# --- turbo


def _turbo(system: System) -> tuple[str, dict[str, str]] | None:
    """Its file, and what is written there for on and off; Intel's driver has a file that says no."""
    for name, words in ((f"{_CPU}/intel_pstate/no_turbo", "01"), (f"{_CPU}/cpufreq/boost", "10")):
        if system.number(name) is not None:
            return name, {"on": words[0], "off": words[1]}
    return None


def read_turbo(system: System) -> str | None:
    """Whether CPUs may run faster than their nominal clock."""
    if (switch := _turbo(system)) is None:
        return None
    return next((state for state, text in switch[1].items() if text == system.text(switch[0])), None)


def _write_turbo(system: System, value: str) -> None:
    if (switch := _turbo(system)) is not None:
        system.write(switch[0], switch[1][value])


def _judge_turbo(system: System) -> Seen:
    state = read_turbo(system) or ""
    if state == "off":
        return Seen(state)
    file, words = _turbo(system) or ("", {"off": ""})
    return Seen(state, "info", f"echo {words['off']} | sudo tee /{file}")


def _on_or_off(_system: System, wanted: object) -> str:
    state = {True: "on", False: "off"}.get(wanted, wanted) if isinstance(wanted, bool) else wanted
    if state not in ("on", "off"):
        raise ValueError(f"{quote_value(wanted)} is neither on nor off")
    return str(state)


TURBO = HostState(
    name="turbo",
    allowed="on or off",
    why="Turbo raises the clock as far as temperature and idle cores allow, which drifts over a session.",
    where=f"/{_CPU}/intel_pstate/no_turbo` or `/{_CPU}/cpufreq/boost",
    files=lambda system: [switch[0]] if (switch := _turbo(system)) is not None else [],
    read=read_turbo,
    parse=_on_or_off,
    write=_write_turbo,
    command=lambda value: f"{_SET} turbo={value}",
    judge=_judge_turbo,
    missing=lambda _system: "its kernel tells of no turbo: there is none, or hypervisor or firmware have it",
    levels=lambda _system: ["off", "on"],
)


# --- hardware prefetch


def _read_prefetch(system: System) -> str | None:
    text = (system.text(_DSCR) or "").removeprefix("0x")
    return format(int(text, 16), "x") if re.fullmatch(r"[0-9a-f]+", text) else None


def _parse_prefetch(_system: System, wanted: object) -> str:
    if str(wanted) in ("off", "on", "default", "True", "False"):
        return "1" if str(wanted) in ("off", "False") else "0"
    text = format(wanted, "x") if isinstance(wanted, int) else str(wanted).removeprefix("0x")
    if not re.fullmatch(r"[0-9a-f]{1,8}", text):
        raise ValueError(f"{quote_value(wanted)} is no value of DSCR")
    return format(int(text, 16), "x")


def _judge_prefetch(system: System) -> Seen:
    value = _read_prefetch(system) or ""
    state = {"0": "0 (the hardware's default)", "1": "1 (off)"}.get(value, value)
    return Seen(state) if value == "0" else Seen(state, "info", "sudo ppc64_cpu --dscr=0")


PREFETCH = HostState(
    name="prefetch",
    allowed="on or default (DSCR 0), off (DSCR 1), or a value of DSCR as 0x7",
    why="POWER's data-stream register sets how far the hardware prefetches, for all that runs on the host.",
    where=f"/{_DSCR}",
    files=lambda system: [_DSCR] if system.path(_DSCR).exists() else [],
    read=_read_prefetch,
    parse=_parse_prefetch,
    write=lambda system, value: system.write(_DSCR, value),
    command=lambda value: f"sudo ppc64_cpu --dscr={int(value, 16)}",
    judge=_judge_prefetch,
    missing=lambda system: (
        "its kernel tells of no DSCR"
        if system.machine.startswith("ppc")
        else f"DSCR is POWER's; {system.machine} has no file for its own prefetchers"
    ),
    levels=lambda _system: ["on", "off"],
    said="the services of the study gained 1 to 2 % with hardware prefetch off",
    experiment="prefetch",
)
