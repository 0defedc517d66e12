# SPDX-License-Identifier: Apache-2.0
"""What would disturb a measurement on this host, why it matters, and how to change it (docs/doctor.md)."""

import os
import resource
import shutil
from pathlib import Path

from steelyard.errors import MissingRequirement
from steelyard.host.activity import Activity, watch
from steelyard.host.finding import WHY, Finding, finding, untold
from steelyard.host.settings import settings
from steelyard.host.states import STATES
from steelyard.host.switching import recorded
from steelyard.host.system import System
from steelyard.units import format_size

TOPICS = {**{state.topic: state.why for state in STATES.values()}, **WHY}
"""Topics, in the order of the output, each with why it matters: first what a session can set itself."""
STEAL_LIMIT = 0.01
"""Share of CPU time, as in the validity ledger."""
LOAD_LIMIT = 0.02
"""Share of CPU time of all other processes together, as in the validity ledger."""
LITTLE_MEMORY = 2 * 1024**3
LITTLE_DISK = 1024**3

__all__ = ["TOPICS", "Finding", "examine"]


def examine(
    results: Path, root: Path = Path("/"), seconds: float = 1.0, machine: str = os.uname().machine
) -> list[Finding]:
    """Look at this host, in the order of `TOPICS`; needs no privileges.

    Args:
        results: where results will be written; it need not be there yet.
        root: another than `/` for recorded trees.
        seconds: how long to watch for other load.
        machine: architecture of the recorded tree.
    """
    system = System(root)
    found = settings(system, machine)
    for one in (*activity(watch(seconds)), left_over(system), memory(system), disk(results), memlock()):
        found[one.topic] = one
    return [found[topic] for topic in TOPICS if topic in found]


def left_over(system: System) -> Finding:
    """Host states that a session has set and not put back."""
    try:
        found = recorded(system)
    except MissingRequirement as error:
        return finding("host-states", str(error), "warn")
    if found is None:
        return finding("host-states", "none set by a session")
    before = ", ".join(f"{name} {value}" for name, value in found.original.items())
    if found.alive():
        return finding("host-states", f"set by {found.session}, which is running (before: {before})", "info")
    by_hand = [STATES[name].command(value) for name, value in found.original.items() if name in STATES]
    return finding(
        "host-states",
        f"left as {found.session} had set them when it was killed (before: {before})",
        "warn",
        f"the next session puts them back first; by hand: {'; '.join(by_hand)}",
    )


def activity(seen: Activity) -> tuple[Finding, Finding]:
    """Findings on stolen time and other load."""
    stolen = finding("steal", f"{seen.steal:.1%}")
    if seen.steal > STEAL_LIMIT:
        stolen = finding(
            "steal", f"{seen.steal:.1%}", "warn", "use a dedicated host, or one whose CPUs are not shared"
        )
    busiest = [
        f"{one.command} ({one.pid}) {one.share:.1%}" for one in seen.processes[:3] if one.share >= 0.001
    ]
    state = f"{seen.busy:.1%} of the CPU time" + (f": {', '.join(busiest)}" if busiest else "")
    if seen.busy <= LOAD_LIMIT:
        return stolen, finding("load", state)
    return stolen, finding("load", state, "warn", "stop what is not needed, or wait until it has ended")


def memory(system: System) -> Finding:
    """Memory that can be had without swapping."""
    available = system.memory("MemAvailable")
    if available is None:
        return untold("memory")
    if available >= LITTLE_MEMORY:
        return finding("memory", f"{format_size(available)} free")
    return finding("memory", f"only {format_size(available)} free", "warn", "stop what is not needed")


def disk(results: Path) -> Finding:
    """Space on the disk that will hold the results."""
    folder = next(path for path in (results.absolute(), *results.absolute().parents) if path.is_dir())
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return untold("disk")
    if not os.access(folder, os.W_OK):
        return finding(
            "disk", f"{folder} cannot be written by this user", "warn", "choose another folder with --out"
        )
    if free >= LITTLE_DISK:
        return finding("disk", f"{format_size(free)} free in {folder}")
    return finding(
        "disk", f"only {format_size(free)} free in {folder}", "warn", "free some, or choose another --out"
    )


def memlock() -> Finding:
    """Limit on locked memory of this user."""
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if soft == resource.RLIM_INFINITY:
        return finding("memlock", "unlimited")
    return finding("memlock", format_size(soft), "info", "ulimit -l unlimited   (only for `pages: large`)")
