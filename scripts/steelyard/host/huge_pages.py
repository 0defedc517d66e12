# SPDX-License-Identifier: Apache-2.0
"""Huge pages that the kernel keeps in pools: how many there are, and how many can be had.

The value of the host state `huge_pages` is the number of pages of the default size, as text; on a host with several
NUMA nodes the number of each (`node0=512 node1=0`).
"""

import re
from collections.abc import Mapping

from steelyard.clock import wait_until
from steelyard.errors import MissingRequirement
from steelyard.host.cpus import read_cpus
from steelyard.host.system import UNTOLD, Seen, System
from steelyard.units import format_size, parse_size, quote_value

POOLS = "sys/kernel/mm/hugepages"
_NODES = "sys/devices/system/node"
IN_USE = 10.0
"""Seconds that pages in use are waited for: those of a JVM that is being killed come back one by one."""


def reserved_pages(system: System) -> dict[str, int]:
    """Pages reserved by size in kB, of every size that the host has."""
    names = (folder.name for folder in system.glob(POOLS, "hugepages-*kB"))
    sizes = [name.removeprefix("hugepages-").removesuffix("kB") for name in names]
    counts = {size: system.number(f"{POOLS}/hugepages-{size}kB/nr_hugepages") for size in sizes}
    return {size: reserved for size, reserved in counts.items() if reserved is not None}


def page_size(system: System) -> int | None:
    """Bytes of the huge pages that programs get unless they ask for others: 2 MiB on x86-64 and POWER's radix MMU."""
    return system.memory("Hugepagesize")


def pools_of(system: System) -> dict[str, str]:
    """Folders of the default size's pools: one, named by nothing, or that of each NUMA node where there are several.

    Pages are given back by node, as the kernel would spread a number in a way of its own.
    """
    size = page_size(system)
    if size is None:
        return {}
    name = _pool_name(size)
    nodes = [path.relative_to(system.root) for path in system.glob(_NODES, f"node*/hugepages/{name}")]
    if len(nodes) > 1:
        return {path.parts[-3]: str(path) for path in nodes}
    return {"": f"{POOLS}/{name}"} if system.path(f"{POOLS}/{name}").exists() else {}


def _pool_name(size: int) -> str:
    return f"hugepages-{size // 1024}kB"


def counts_of(value: str) -> dict[str, int]:
    """Pages by pool, of a value of the state."""
    parts = (part.rpartition("=") for part in value.split())
    return {node: int(count) for node, _, count in parts}


def value_of(counts: Mapping[str, int]) -> str:
    """The state's value of so many pages in each pool."""
    return " ".join(f"{node}={count}" if node else str(count) for node, count in counts.items())


def free_pages(system: System, node: str | None = None) -> int:
    """Pages that nobody has or was promised: of one pool (as `pools_of` names it), or None of all.

    Promises are told of the whole host alone, and any pool may have to keep them: they count against each.
    """
    pools = pools_of(system)
    chosen = pools.values() if node is None else [pools[node]]
    free = sum(system.number(f"{folder}/free_hugepages") or 0 for folder in chosen)
    size = page_size(system) or 0
    return free - (system.number(f"{POOLS}/{_pool_name(size)}/resv_hugepages") or 0)


def files(system: System) -> list[str]:
    """The files that hold the numbers."""
    return [f"{folder}/nr_hugepages" for folder in pools_of(system).values()]


def read(system: System) -> str | None:
    """The state now; None where the host does not have it or does not tell."""
    counts = {}
    for node, folder in pools_of(system).items():
        count = system.number(f"{folder}/nr_hugepages")
        if count is None:
            return None
        counts[node] = count
    return value_of(counts) if counts else None


def parse(system: System, wanted: object) -> str:
    """A whole number is pages of the default size; a size is as many as hold it. Of several NUMA nodes each
    that has memory gets its part, or what is said of it (`node1=3g`) and the others none."""
    size = page_size(system)
    if size is None:
        raise ValueError("this host has no huge pages")
    if isinstance(wanted, bool) or not isinstance(wanted, str | int):
        raise ValueError(f"{quote_value(wanted)} is no number of pages")  # noqa: TRY004 - its callers expect a ValueError
    text, nodes = str(wanted).strip(), [*pools_of(system)]
    if "=" in text:
        amounts = dict(part.split("=", 1) for part in text.split() if "=" in part)
        if len(amounts) != len(text.split()) or not amounts.keys() <= {*nodes}:
            raise ValueError(f"{text!r} names what is no NUMA node of this host ({', '.join(nodes)})")
        counts = {node: _pages(amounts.get(node, "0"), size) for node in nodes}
    else:
        counts = spread(system, _pages(text, size))
    memory, pages = system.memory("MemTotal"), sum(counts.values())
    if memory is not None and pages * size > memory:
        raise ValueError(
            f"{format_size(pages * size)} are more than this host's {format_size(memory)} of memory"
        )
    return value_of(counts)


def spread(system: System, pages: int) -> dict[str, int]:
    """So many pages by pool, evenly over the NUMA nodes that have memory."""
    pools = [*pools_of(system)] or [""]
    having = {f"node{number}" for number in read_cpus(system, f"{_NODES}/has_memory")}
    holders = [pool for pool in pools if pool in having] or pools
    each, more = divmod(pages, len(holders))
    return dict.fromkeys(pools, 0) | {pool: each + (at < more) for at, pool in enumerate(holders)}


def _pages(text: str, size: int) -> int:
    return int(text) if re.fullmatch(r"\d+", text) else -(-parse_size(text) // size)


def write(system: System, value: str) -> None:
    """Reserve or give back pages; a host that has too little free memory in one piece is told so.

    More than can be had without swapping is refused before the kernel tries: it would swap other programs out.
    """
    size, pools, wanted = page_size(system) or 0, pools_of(system), counts_of(value)
    more = {node: wanted[node] - (system.number(f"{pools[node]}/nr_hugepages") or 0) for node in wanted}
    available, missing = system.memory("MemAvailable"), sum(more.values()) * size
    if available is not None and missing > available:
        raise MissingRequirement(
            f"{sum(wanted.values())} huge pages of {format_size(size)} need {format_size(missing)} more,"
            f" and only {format_size(available)} of memory are free: stop what is not needed, or ask for fewer"
        )
    # What is given back first leaves room for what is asked for.
    for node in sorted(more, key=more.__getitem__):
        which = format_size(size) + (f" on {node}" if node else "")
        _fill(system, f"{pools[node]}/nr_hugepages", wanted[node], which)


def _fill(system: System, name: str, wanted: int, which: str) -> None:
    """Give one pool so many pages. Where the kernel provides fewer, memory is compacted and it is asked once more."""
    system.write(name, str(wanted))
    if (system.number(name) or 0) < wanted:
        system.write("proc/sys/vm/compact_memory", "1")
        system.write(name, str(wanted))
    wait_until(lambda: (system.number(name) or 0) <= wanted, IN_USE, 0.05)
    now = system.number(name) or 0
    if now < wanted:
        raise MissingRequirement(
            f"this host provided {now} of {wanted} huge pages of {which}, for its free memory is in pieces"
            " (fragmented): reserve them soon after a restart of the host, or ask for fewer"
        )
    if now > wanted:
        raise MissingRequirement(
            f"{now} huge pages of {which} are left where {wanted} were asked for, for some are in use:"
            " stop the program that uses them (grep -l 'Private_Hugetlb: *[1-9]' /proc/*/smaps_rollup names it)"
        )


def command(value: str) -> str:
    """What a person types to set it."""
    if "=" not in value:
        return f"sudo sysctl vm.nr_hugepages={value}"
    return f"sudo ./steelyard host set 'huge_pages={value}'"


def judge(system: System) -> Seen:
    """What the doctor says of it."""
    reserved = reserved_pages(system)
    if not reserved:
        return UNTOLD
    sizes = sorted(reserved.items(), key=lambda item: int(item[0]))
    state = ", ".join(f"{count} of {format_size(int(size) * 1024)}" for size, count in sizes)
    if any(reserved.values()):
        return Seen(state, "info", f"{command('0')}   (gives their memory back)")
    return Seen(state, change=f"{command('N')}   (only for `pages: large`)")
