# SPDX-License-Identifier: Apache-2.0
"""Host states set by one command and put back by another, outside of any session; large pages: what JVMs need for them.

`prepare` sets host states outside of any session and leaves them so; what was there before the first of several
preparations is recorded in `/run/steelyard/prepared.json`, before anything is changed, until `restore` has put it back.
Sessions take a prepared host as they find it. Before its first trial a session sees that its JVMs can have the large
pages that they are asked to use (`require_large_pages`): HotSpot would silently take small ones, OpenJ9 not start.

How much a JVM takes was measured with HotSpot 17 and 25 (heap of 1 GiB: 136 to 141 pages of 2 MiB beside it) and
OpenJ9 21. Who may take them as shared memory: the kernel's fs/hugetlbfs/inode.c (`can_do_hugetlb_shm`) and shmget(2).
"""

import os
import resource
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from steelyard.errors import BadInput, Busy, MissingRequirement
from steelyard.host import huge_pages
from steelyard.host.states import STATES, find_state
from steelyard.host.switching import (
    HostRecord,
    put_back,
    read_record,
    record_lock,
    write_back,
    write_record,
)
from steelyard.host.system import System
from steelyard.results.spec import Component, Spec
from steelyard.sampling.procfs import boot_id
from steelyard.units import MIB, format_size

RECORD = "run/steelyard/prepared.json"
COMMAND = "sudo ./steelyard host prepare large-pages"
CODE = 256 * MIB
"""Code cache of a JVM: 240 MiB of HotSpot, 256 MiB of OpenJ9."""
TABLES = 16
"""The collector's tables are at most this part of the heap."""
_IPC_LOCK = 14
"""Bit of the capability (linux/capability.h)."""


class PageNeed(NamedTuple):
    """What JVMs need of a host to have all of their memory on large pages."""

    pages: int
    size: int
    """Bytes of a page."""
    largest: int
    """Bytes of the largest heap: of one piece of shared memory."""


def need_of(heaps: Iterable[int], system: System) -> PageNeed:
    """What JVMs with these heaps (bytes) need.

    Raises:
        MissingRequirement: the host has no huge pages.
    """
    size, heaps = huge_pages.page_size(system), list(heaps)
    if size is None or not huge_pages.pools_of(system):
        raise MissingRequirement(
            "this host has no huge pages: its kernel was built without them, or this is a container that does not"
            " see them"
        )
    return PageNeed(sum(pages_of(heap, size) for heap in heaps), size, max(heaps, default=0))


def pages_of(heap: int, size: int) -> int:
    """Pages of a size (bytes) that a JVM with such a heap (bytes) takes for heap, code and the collector's tables."""
    return -(-(heap + heap // TABLES + CODE) // size)


def wanted_states(need: PageNeed, system: System, node: int | None, group: int | None) -> dict[str, str]:
    """The host states that give JVMs what they need, beside what others use now.

    Args:
        need: of all JVMs together.
        system: the host.
        node: NUMA node whose memory is to be taken; None: what is missing is spread over all that have any.
        group: who runs the JVMs, where that is not root.

    Raises:
        BadInput: there is no such node, or the host has less memory.
    """
    name = f"node{node}"
    now = huge_pages.counts_of(STATES["huge_pages"].read(system) or "0")
    if node is not None and name not in now:
        there = ", ".join(node.removeprefix("node") for node in now if node) or "one alone: leave --node out"
        raise BadInput(f"this host has no NUMA node {node} with huge pages of its own: it has {there}")
    if node is not None:
        used = now[name] - huge_pages.free_pages(system, name)
        target = now | {name: max(now[name], used + need.pages)}
    else:
        # What a node has stays there: programs may use it.
        more = huge_pages.spread(system, max(0, need.pages - huge_pages.free_pages(system)))
        target = {name: now.get(name, 0) + pages for name, pages in more.items()}
    wanted = {"huge_pages": STATES["huge_pages"].value(system, huge_pages.value_of(target))}
    if group is not None:
        wanted["shm_group"] = str(group)
    if int(STATES["shmmax"].read(system) or need.largest) < need.largest:
        wanted["shmmax"] = str(need.largest)
    return wanted


def prepare(system: System, wanted: Mapping[str, str], need: PageNeed | None = None) -> None:
    """Set host states until `restore`, and see that JVMs will have the large pages they need; what this leaves when it
    fails or is interrupted is as it was before it.

    Raises:
        MissingRequirement: this user may not, the host could not provide the pages, or somebody else took them.
        Busy: a session has set the states of this host.
    """
    _refuse_session(system)
    put_back(system)
    before = {name: STATES[name].read(system) or "" for name in wanted}
    for name, value in wanted.items():
        if before[name] != value:
            STATES[name].require(system)
    with record_lock(system):
        earlier = read_record(system, RECORD)
        original = {**before, **(earlier.original if earlier is not None else {})}
        write_record(
            system,
            HostRecord(
                "`host set`" if need is None else "`host prepare`", os.getpid(), 0, boot_id(), original
            ),
            RECORD,
        )
        try:
            for name, value in wanted.items():
                find_state(name).set(system, value)
            if need is not None:
                _require_free(need, system)
        except BaseException:
            write_back(system, before, RECORD)
            if earlier is not None:
                write_record(system, earlier, RECORD)
            raise


def restore(system: System) -> dict[str, str]:
    """Put back what was there before this host was prepared; empty when it is not prepared.

    Returns:
        The states that were changed back, with their values.

    Raises:
        MissingRequirement: it cannot be done, or not by this user; the record stays.
        Busy: a session has set the states of this host.
    """
    _refuse_session(system)
    if (record := read_record(system, RECORD)) is None:
        return {}
    with record_lock(system):
        changed = {
            name: value
            for name, value in record.original.items()
            if name not in STATES or STATES[name].read(system) != value
        }
        write_back(system, record.original, RECORD)
    return changed


def _require_free(need: PageNeed, system: System) -> None:
    if (free := huge_pages.free_pages(system)) < need.pages:
        raise MissingRequirement(
            f"{free} of the {need.pages} huge pages of {format_size(need.size)} that are needed are free, for another"
            " program took some just now: stop it, or prepare again"
        )


def _refuse_session(system: System) -> None:
    record = read_record(system)
    if record is not None and record.alive():
        raise Busy(f"{record.session} runs and has set the states of this host: wait until it has ended")


def require_large_pages(specs: Iterable[Spec], system: System) -> None:
    """See that the JVMs of every arm on this host can have the large pages that they are asked to use.

    Raises:
        MissingRequirement: too few are free, or OpenJ9 may not take them; with the command that helps.
    """
    for spec in specs:
        large = [component for component in spec.components if component.large_heap is not None]
        if not large or spec.remote:
            continue
        need = need_of((component.large_heap or 0 for component in large), system)
        help_ = f"`{COMMAND} --heap {need.largest // MIB}m --jvms {len(large)}`"
        free = huge_pages.free_pages(system)
        if "huge_pages" in spec.host_states:
            state = STATES["huge_pages"]
            now, then = (
                sum(huge_pages.counts_of(value).values())
                for value in (state.read(system) or "0", state.value(system, spec.host_states["huge_pages"]))
            )
            free += then - now
        if free < need.pages:
            raise MissingRequirement(
                f"arm {spec.arm} needs {need.pages} large pages of {format_size(need.size)} for its JVMs (heap, code,"
                f" the collector's tables), and {max(0, free)} are free: reserve them with {help_}, or in the"
                f" experiment with huge_pages: {need.pages}"
            )
        if spec.engine == "process" and any(map(_shares, large)):
            _require_shared(spec.arm, need, help_, system)


def _shares(component: Component) -> bool:
    return component.artifact.jvm is not None and component.artifact.jvm.kind == "openj9"


def _require_shared(arm: str, need: PageNeed, help_: str, system: System) -> None:
    """OpenJ9 takes large pages as shared memory: it has to fit, and this user has to have the right."""
    limit = int(STATES["shmmax"].read(system) or need.largest)
    if limit < need.largest:
        raise MissingRequirement(
            f"arm {arm}: a heap of {format_size(need.largest)} on large pages is one piece of shared memory, of which"
            f" this host allows {format_size(limit)}: {help_}, or `sudo sysctl kernel.shmmax={need.largest}`"
        )
    group = STATES["shm_group"].read(system)
    if _may_lock(system) or group in [str(own) for own in (os.getegid(), *os.getgroups())]:
        return
    # The servers inherit what this user may have at most.
    _, most = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if most != resource.RLIM_INFINITY and most < need.pages * need.size:
        raise MissingRequirement(
            f"arm {arm}: OpenJ9 takes large pages as shared memory, which this user may not: it is not in group"
            f" {group} and may lock {format_size(most)} of {format_size(need.pages * need.size)} (memlock): {help_},"
            " or raise `ulimit -l`"
        )
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (most, most))


def _may_lock(system: System) -> bool:
    """Whether this process may lock any memory (CAP_IPC_LOCK)."""
    text = system.fields("proc/self/status").get("CapEff", "0")
    return bool(int(text, 16) >> _IPC_LOCK & 1)
