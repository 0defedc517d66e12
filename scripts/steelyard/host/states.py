# SPDX-License-Identifier: Apache-2.0
"""The table of host states: settings of the whole host that a session can set and put back.

One declaration each, and nothing else knows where a state lives: experiments are checked against it, trials are read
back through it, `doctor`, `tune`, the host's facts and the table of docs/host-states.md follow from it. To add a state
is to add a file `state_NAME.py` beside this one with a `HostState`; where a user may not write its files, these have to
stand in `scripts/host_set.py` as well, which trusts nobody.

`python -m steelyard.host.states ../docs/host-states.md` writes the table of that page.
"""

import pkgutil
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from steelyard import host
from steelyard.documented import fill_table
from steelyard.errors import BadInput
from steelyard.host import huge_pages
from steelyard.host.cards import IRQ_AFFINITY
from steelyard.host.power import GOVERNOR, PREFETCH, TURBO
from steelyard.host.smt import CPUS_ONLINE, SMT
from steelyard.host.state import HostState, sysctl
from steelyard.host.system import UNTOLD, Seen, System
from steelyard.units import format_size, quote_value

# --- transparent huge pages

_THP = "sys/kernel/mm/transparent_hugepage/enabled"
_THP_VALUES = ("always", "madvise", "never")


def _parse_thp(_system: System, wanted: object) -> str:
    if wanted not in _THP_VALUES:
        raise ValueError(f"{quote_value(wanted)} is no mode of transparent huge pages")
    return str(wanted)


def _thp_command(value: str) -> str:
    return f"echo {value} | sudo tee /{_THP}"


def _judge_thp(system: System) -> Seen:
    chosen = system.choice(_THP)
    if chosen is None:
        return UNTOLD
    return Seen(chosen, "info", _thp_command("madvise")) if chosen == "always" else Seen(chosen)


# --- numbers of sysctl

_UNLIMITED = 2**62
_BALANCING = "kernel.numa_balancing"


def _balanced_needlessly(system: System) -> bool:
    several = len(system.glob("sys/devices/system/node", "node[0-9]*")) > 1
    return several and bool(system.number(f"proc/sys/{_BALANCING.replace('.', '/')}"))


def _judge_balancing(system: System) -> Seen:
    state = "on" if system.number(f"proc/sys/{_BALANCING.replace('.', '/')}") else "off"
    if not _balanced_needlessly(system):
        return Seen(state)
    return Seen(state, "warn", f"sudo sysctl {_BALANCING}=0")


def _shm_group(system: System) -> Seen:
    return Seen(f"group {system.text('proc/sys/vm/hugetlb_shm_group')}")


def _shmmax(system: System) -> Seen:
    size = system.number("proc/sys/kernel/shmmax") or 0
    return Seen("no limit" if size >= _UNLIMITED else format_size(size))


def _states_of_files() -> list[HostState]:
    """Those of files that declare nothing else, in the order of their names."""
    names = sorted(module.name for module in pkgutil.iter_modules(host.__path__))
    modules = [import_module(f"{host.__name__}.{name}") for name in names if name.startswith("state_")]
    values = (value for module in modules for value in vars(module).values())
    return [value for value in values if isinstance(value, HostState)]


STATES: Mapping[str, HostState] = {
    state.name: state
    for state in (
        HostState(
            name="thp",
            allowed="always, madvise or never",
            why="Transparent huge pages change memory and speed of a JVM, and when the kernel makes them is up to"
            " chance.",
            where=f"/{_THP}",
            files=lambda system: [_THP] if system.path(_THP).exists() else [],
            read=lambda system: system.choice(_THP),
            parse=_parse_thp,
            write=lambda system, value: system.write(_THP, value),
            command=_thp_command,
            judge=_judge_thp,
            missing=lambda _system: (
                "its kernel was built without transparent huge pages, or they are not seen here"
            ),
            levels=lambda _system: [*_THP_VALUES],
            better=lambda system: "madvise" if system.choice(_THP) == "always" else None,
            said="set transparent huge pages to madvise, not to always",
            experiment="page-faults",
        ),
        HostState(
            name="huge_pages",
            allowed="a number of pages of the host's default size (2 MiB on x86-64), a size like 1g, or both by NUMA"
            " node (node1=1g)",
            why="`pages: large` needs huge pages that are reserved before; without them a JVM refuses to start"
            " or silently uses small ones.",
            where=f"/{huge_pages.POOLS}/",
            files=huge_pages.files,
            read=huge_pages.read,
            parse=huge_pages.parse,
            write=huge_pages.write,
            command=huge_pages.command,
            judge=huge_pages.judge,
            missing=lambda _system: "its kernel was built without huge pages, or they are not seen here",
        ),
        sysctl(
            name="shm_group",
            key="vm.hugetlb_shm_group",
            allowed="the number of a group",
            why="OpenJ9 takes large pages as shared memory, which the kernel gives to root, to this group and to users"
            " whose limit on locked memory is as large.",
            judge=_shm_group,
        ),
        sysctl(
            name="shmmax",
            key="kernel.shmmax",
            allowed="a number of bytes",
            why="The largest piece of shared memory: the heap of an OpenJ9 JVM on large pages has to fit.",
            judge=_shmmax,
        ),
        SMT,
        CPUS_ONLINE,
        GOVERNOR,
        TURBO,
        PREFETCH,
        IRQ_AFFINITY,
        sysctl(
            name="numa_balancing",
            key=_BALANCING,
            allowed="0 (off) or 1 (on)",
            why="With several NUMA nodes the kernel may move pages and threads in the middle of a measurement.",
            most=1,
            judge=_judge_balancing,
            better=lambda system: "0" if _balanced_needlessly(system) else None,
        ),
        *_states_of_files(),
    )
}
"""The host states by name, in the order in which they are set; they are put back in reverse."""


def find_state(name: str) -> HostState:
    """A host state by its name (raises BadInput)."""
    if name not in STATES:
        raise BadInput(f"there is no host state {name!r}: known are {', '.join(STATES)}")
    return STATES[name]


def read_states(system: System) -> dict[str, str]:
    """Every host state that this host has and tells, by name."""
    values = {name: state.read(system) for name, state in STATES.items()}
    return {name: value for name, value in values.items() if value is not None}


def fill_page(page: str) -> str:
    """The page with the table of host states; the text about it is kept (raises ValueError: no such table)."""
    rows = ((f"`{state.name}`", state.allowed, f"`{state.where}`") for state in STATES.values())
    return fill_table(page, ("state", "values", "where it lives"), rows)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(fill_page(path.read_text(encoding="utf-8")), encoding="utf-8")
