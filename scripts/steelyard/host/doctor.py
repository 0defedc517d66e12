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
from steelyard.host import perf, settings
from steelyard.host.checkpoints import checkpoints
from steelyard.host.preparing import RECORD as PREPARED
from steelyard.host.states import STATES
from steelyard.host.switching import read_record
from steelyard.host.system import UNTOLD, Level, Seen, System
from steelyard.paths import is_folder
from steelyard.units import format_size

STEAL_LIMIT = 0.01
"""Share of CPU time, as in the validity ledger."""
LOAD_LIMIT = 0.02
"""Share of CPU time of all other processes together, as in the validity ledger."""
LITTLE_DISK = 1024**3


class DoctorFinding(NamedTuple):
    """What was seen of a topic, and why that matters."""

    topic: str
    why: str
    state: str
    level: Level
    change: str | None


class BusyProcess(NamedTuple):
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
    processes: tuple[BusyProcess, ...]
    """Other processes that used CPU, busiest first."""


class Host(System):
    """What the doctor looks at."""

    def __init__(self, root: Path, machine: str, results: Path, activity: Activity) -> None:
        super().__init__(root, machine)
        self.results = results
        self.activity = activity


def examine(
    results: Path, root: Path = Path("/"), seconds: float = 1.0, machine: str = os.uname().machine
) -> list[DoctorFinding]:
    """Look at this host, in the order of `TOPICS`; needs no privileges.

    Args:
        results: where results will be written; it need not be there yet.
        root: another than `/` for recorded trees.
        seconds: how long to watch for other load.
        machine: architecture of the recorded tree; `prefetch` is told on POWER only.
    """
    host = Host(root, machine, results, watch(seconds))
    observers: list[tuple[str, str, Callable[[Host], Seen]]]
    observers = [(state.topic, state.why, state.observation) for state in STATES.values()]
    observers += [(topic, TOPICS[topic], observe) for topic, observe in _OBSERVERS.items()]
    return [
        DoctorFinding(topic, why, *observe(host))
        for topic, why, observe in observers
        if topic != "prefetch" or machine.startswith("ppc")
    ]


def watch(seconds: float) -> Activity:
    """Watch the host for a while."""
    processes = list(psutil.process_iter())
    _busy(processes)
    psutil.cpu_times_percent()
    time.sleep(seconds)
    times, busy_processes = psutil.cpu_times_percent(), _busy(processes)
    own = sum(process.share for process in busy_processes if process.pid == os.getpid())
    busy = 1 - (times.idle + times.iowait + times.steal) / 100 - own
    others = [process for process in busy_processes if process.share > 0 and process.pid != os.getpid()]
    return Activity(
        max(0.0, busy), times.steal / 100, tuple(sorted(others, key=lambda process: -process.share))
    )


def _busy(processes: list[psutil.Process]) -> list[BusyProcess]:
    """What the processes used since this was asked before."""
    busy = []
    for process in processes:
        with suppress(psutil.Error):
            share = process.cpu_percent() / 100 / (os.cpu_count() or 1)
            busy.append(BusyProcess(process.pid, process.name(), share))
    return busy


def host_states(system: System) -> Seen:
    """What a session that was killed had set and nobody put back changes every later figure."""
    try:
        record, prepared = read_record(system), read_record(system, PREPARED)
    except MissingRequirement as error:
        return Seen(str(error), "warn")
    if record is None and prepared is not None:
        before = ", ".join(f"{name} {value}" for name, value in prepared.original.items())
        return Seen(
            f"prepared by {prepared.session} (before: {before})", "info", "sudo ./steelyard host restore"
        )
    if record is None:
        return Seen("none set by a session")
    before = ", ".join(f"{name} {value}" for name, value in record.original.items())
    if record.alive():
        return Seen(f"set by {record.session}, which is running (before: {before})", "info")
    by_hand = [STATES[name].command(value) for name, value in record.original.items() if name in STATES]
    return Seen(
        f"left as {record.session} had set them when it was killed (before: {before})",
        "warn",
        f"sudo ./steelyard host restore, or the next session, puts them back; by hand: {'; '.join(by_hand)}",
    )


def steal(host: Host) -> Seen:
    """Time that the hypervisor takes away is missing in some trials more than in others."""
    share = host.activity.steal
    if share <= STEAL_LIMIT:
        return Seen(f"{share:.1%}")
    return Seen(f"{share:.1%}", "warn", "use a dedicated host, or one whose CPUs are not shared")


def load(host: Host) -> Seen:
    """Other processes take CPU, caches and memory bandwidth from the servers, not evenly over the arms."""
    busy, _, processes = host.activity
    busiest = [
        f"{process.command} ({process.pid}) {process.share:.1%}"
        for process in processes[:3]
        if process.share >= 0.001
    ]
    state = f"{busy:.1%} of the CPU time" + (f": {', '.join(busiest)}" if busiest else "")
    if busy <= LOAD_LIMIT:
        return Seen(state)
    return Seen(state, "warn", "stop what is not needed, or wait until it has ended")


def disk(host: Host) -> Seen:
    """A full disk ends the session: each trial keeps its samples, logs and histograms (some MiB)."""
    results = host.results.absolute()
    folder = next(path for path in (results, *results.parents) if is_folder(path))
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
    """OpenJ9 takes large pages as locked memory: a user who is neither root nor in the group needs a limit above
    the heap's size."""
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if soft == resource.RLIM_INFINITY:
        return Seen("unlimited")
    return Seen(format_size(soft), "info", "ulimit -l unlimited   (only for `pages: large`)")


_OBSERVERS: dict[str, Callable[[Host], Seen]] = {
    observe.__name__.removesuffix("_cores").replace("_", "-"): observe
    for observe in (
        *(host_states, settings.cores, settings.isolated_cores, settings.numa, settings.interrupts),
        *(
            settings.cgroup,
            steal,
            load,
            settings.aslr,
            settings.swap,
            settings.memory,
            disk,
            memlock,
            settings.clock,
        ),
        *(perf.counters, checkpoints, settings.virtualization, settings.container),
    )
}
"""How each topic beside the host states is looked at; the docstring of each says why it matters."""

TOPICS = {state.topic: state.why for state in STATES.values()} | {
    topic: " ".join((observe.__doc__ or "").split()) for topic, observe in _OBSERVERS.items()
}
"""Topics, in the order of the output, each with why it matters: first what a session can set itself."""
