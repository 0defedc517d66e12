# SPDX-License-Identifier: Apache-2.0
"""What would disturb a measurement on this host, why it matters, and how to change it (docs/doctor.md)."""

import os
import resource
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from steelyard.errors import MissingRequirement
from steelyard.host import settings
from steelyard.host.states import STATES
from steelyard.host.switching import recorded
from steelyard.host.system import UNTOLD, Level, Seen, System
from steelyard.units import format_size

STEAL_LIMIT = 0.01
"""Share of CPU time, as in the validity ledger."""
LOAD_LIMIT = 0.02
"""Share of CPU time of all other processes together, as in the validity ledger."""
LITTLE_DISK = 1024**3


class Finding(NamedTuple):
    """What was seen of a topic, and why that matters."""

    topic: str
    why: str
    state: str
    level: Level
    change: str | None


class Busy(NamedTuple):
    """A process that uses CPU."""

    pid: int
    command: str
    share: float
    """Of the CPU time of the whole host."""


class Activity(NamedTuple):
    """CPU use of the host over a short while; shares of the CPU time of the whole host."""

    busy: float
    """Used by anyone, this process left out."""
    steal: float
    """Taken by the hypervisor."""
    processes: tuple[Busy, ...]
    """Other processes that used CPU, busiest first."""


class Host(System):
    """What the doctor looks at."""

    def __init__(self, root: Path, machine: str, results: Path, activity: Activity) -> None:
        super().__init__(root, machine)
        self.results = results
        self.activity = activity


def examine(
    results: Path, root: Path = Path("/"), seconds: float = 1.0, machine: str = os.uname().machine
) -> list[Finding]:
    """Look at this host, in the order of `TOPICS`; needs no privileges.

    Args:
        results: where results will be written; it need not be there yet.
        root: another than `/` for recorded trees.
        seconds: how long to watch for other load.
        machine: architecture of the recorded tree; `dscr` is told on POWER only.
    """
    host = Host(root, machine, results, watch(seconds))
    looks: dict[str, tuple[str, Callable[[Host], Seen]]] = {
        state.topic: (state.why, state.judge) for state in STATES.values()
    }
    looks |= {topic: (why, _LOOKS[topic]) for topic, why in _WHY.items()}
    return [
        Finding(topic, why, *look(host))
        for topic, (why, look) in looks.items()
        if topic != "dscr" or machine.startswith("ppc")
    ]


def watch(seconds: float) -> Activity:
    """Watch the host for a while."""
    processes = list(psutil.process_iter())
    _busy(processes)
    psutil.cpu_times_percent()
    time.sleep(seconds)
    whole, found = psutil.cpu_times_percent(), _busy(processes)
    own = sum(one.share for one in found if one.pid == os.getpid())
    busy = 1 - (whole.idle + whole.iowait + whole.steal) / 100 - own
    others = [one for one in found if one.share > 0 and one.pid != os.getpid()]
    return Activity(max(0.0, busy), whole.steal / 100, tuple(sorted(others, key=lambda one: -one.share)))


def _busy(processes: list[psutil.Process]) -> list[Busy]:
    """What the processes used since this was asked before."""
    found = []
    for process in processes:
        with suppress(psutil.Error):
            share = process.cpu_percent() / 100 / (os.cpu_count() or 1)
            found.append(Busy(process.pid, process.name(), share))
    return found


def left_over(system: System) -> Seen:
    """Host states that a session has set and not put back."""
    try:
        found = recorded(system)
    except MissingRequirement as error:
        return Seen(str(error), "warn")
    if found is None:
        return Seen("none set by a session")
    before = ", ".join(f"{name} {value}" for name, value in found.original.items())
    if found.alive():
        return Seen(f"set by {found.session}, which is running (before: {before})", "info")
    by_hand = [STATES[name].command(value) for name, value in found.original.items() if name in STATES]
    return Seen(
        f"left as {found.session} had set them when it was killed (before: {before})",
        "warn",
        f"the next session puts them back first; by hand: {'; '.join(by_hand)}",
    )


def steal(host: Host) -> Seen:
    """CPU time that the hypervisor took."""
    share = host.activity.steal
    if share <= STEAL_LIMIT:
        return Seen(f"{share:.1%}")
    return Seen(f"{share:.1%}", "warn", "use a dedicated host, or one whose CPUs are not shared")


def load(host: Host) -> Seen:
    """CPU time that other processes used."""
    busy, _, processes = host.activity
    busiest = [f"{one.command} ({one.pid}) {one.share:.1%}" for one in processes[:3] if one.share >= 0.001]
    state = f"{busy:.1%} of the CPU time" + (f": {', '.join(busiest)}" if busiest else "")
    if busy <= LOAD_LIMIT:
        return Seen(state)
    return Seen(state, "warn", "stop what is not needed, or wait until it has ended")


def disk(host: Host) -> Seen:
    """Space on the disk that will hold the results."""
    results = host.results.absolute()
    folder = next(path for path in (results, *results.parents) if path.is_dir())
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return UNTOLD
    if not os.access(folder, os.W_OK):
        return Seen(f"{folder} cannot be written by this user", "warn", "choose another folder with --out")
    if free >= LITTLE_DISK:
        return Seen(f"{format_size(free)} free in {folder}")
    return Seen(f"only {format_size(free)} free in {folder}", "warn", "free some, or choose another --out")


def memlock(_host: Host) -> Seen:
    """Limit on locked memory of this user."""
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if soft == resource.RLIM_INFINITY:
        return Seen("unlimited")
    return Seen(format_size(soft), "info", "ulimit -l unlimited   (only for `pages: large`)")


_LOOKS: dict[str, Callable[[Host], Seen]] = {
    "host-states": left_over,
    "smt": settings.smt,
    "governor": settings.governor,
    "turbo": settings.turbo,
    "numa": settings.numa,
    "irq-affinity": settings.irq_affinity,
    "cgroup": settings.cgroup,
    "steal": steal,
    "load": load,
    "swap": settings.swap,
    "memory": settings.memory,
    "disk": disk,
    "memlock": memlock,
    "clock": settings.clock,
    "virtualization": settings.virtualization,
    "container": settings.container,
    "aslr": settings.aslr,
    "dscr": settings.dscr,
}
"""How each topic beside the host states is looked at."""

_WHY = {
    "host-states": "What a session that was killed had set and nobody put back changes every later figure.",
    "smt": "Threads of one core share its units, so what a CPU is worth depends on whether its siblings are busy.",
    "governor": "A governor that saves power changes the clock with the load, so arms are measured at other speeds.",
    "turbo": "Turbo raises the clock as far as temperature and idle cores allow, which drifts over a session.",
    "numa": "Memory of another node is slower to reach, and the kernel may move pages in the middle of a measurement.",
    "irq-affinity": "A CPU that serves the interrupts has less time for the server that is bound to it.",
    "cgroup": "A CPU or memory limit on this session throttles servers and injectors, whatever the host could do.",
    "steal": "Time that the hypervisor takes away is missing in some trials more than in others.",
    "load": "Other processes take CPU, caches and memory bandwidth from the servers, not evenly over the arms.",
    "swap": "A page of a JVM that was swapped out comes back from disk in the middle of a request or a collection.",
    "memory": "When memory runs short the kernel reclaims pages or kills a server in the middle of a trial.",
    "disk": "A full disk ends the session: each trial keeps its samples, logs and histograms (some MiB).",
    "memlock": "Large pages need a limit on locked memory above the heap's size, or the JVM falls back to small ones.",
    "clock": "Servers and injectors read the clock for every request, and a slow source costs microseconds each time.",
    "virtualization": "In a guest, CPUs and memory are shared with neighbours that cannot be seen from inside.",
    "container": "In a container, limits and settings come from outside, and some cannot be read or changed.",
    "aslr": "Random addresses are part of why two starts of one JVM differ; fresh starts average it, a fixed layout"
    " would hide it.",
    "dscr": "POWER's data-stream register sets how far the hardware prefetches, for all that runs on the host.",
}
"""Why each of them matters, in the order of the output."""

TOPICS = {state.topic: state.why for state in STATES.values()} | _WHY
"""Topics, in the order of the output, each with why it matters: first what a session can set itself."""
