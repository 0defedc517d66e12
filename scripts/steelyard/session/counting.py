# SPDX-License-Identifier: Apache-2.0
"""Counting what the hardware does: which events a session counts, and `perf stat` beside each component of a trial."""

import signal
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.clock import Clock, wait_until
from steelyard.engines.base import Running
from steelyard.errors import BadInput, MissingRequirement
from steelyard.host.core_kinds import core_units
from steelyard.host.perf import event_of
from steelyard.host.system import System
from steelyard.measure.counted import BY_NAME, COUNTERS, CPU_TIME, Counter
from steelyard.measure.perf_stat import HEAD, TAIL
from steelyard.processes import Child, Children
from steelyard.results.spec import MEASURED_ROLES, Spec
from steelyard.results.store import report_no_space

ALL = "all"
INTERVAL = 1000
"""Milliseconds between two readings."""
_GRACE, _POLL = 10.0, 0.05
"""Seconds that perf has to write its last line, and between two looks whether it has."""

_IN_PODS = "perf counts processes of this host, and pods run on nodes of a cluster: choose --engine process or compose"


def choose_counters(
    required: Sequence[str], wanted: Sequence[str], specs: Collection[Spec]
) -> tuple[dict[str, str], list[str]]:
    """Events that a session counts, by counter, and sentences on those that it wants and this host does not have.

    Args:
        required: names from the command line, `all` for all that there are.
        wanted: of the experiment, counted where the host allows.
        specs: of the arms.

    Raises:
        BadInput: a name of no counter, or an engine whose components cannot be counted here.
        MissingRequirement: what is required cannot be counted on this host.
    """
    names = [*dict.fromkeys(required or wanted)]
    if not names:
        return {}, []
    if unknown := set(names) - BY_NAME.keys() - {ALL}:
        raise BadInput(f"counters: {min(unknown)} is none: choose {', '.join(BY_NAME)}, or {ALL}")
    if any(spec.remote for spec in specs):
        if required:
            raise BadInput(f"--counters: {_IN_PODS}")
        return {}, [f"Nothing was counted of the hardware: {_IN_PODS}."]
    chosen = COUNTERS if ALL in names else (CPU_TIME, *(BY_NAME[name] for name in names))
    cpus = {cpu for spec in specs for component in spec.of(*MEASURED_ROLES) for cpu in component.cpus}
    units = core_units(System(), cpus)
    try:
        events = {counter.name: event_of(counter, units) for counter in chosen}
    except MissingRequirement as error:
        if required:
            raise MissingRequirement(f"--counters: {error}") from error
        return {}, [f"Nothing was counted of the hardware: {error}."]
    return _those_there(chosen, events, required)


def _those_there(
    chosen: Iterable[Counter], events: Mapping[str, str | None], required: Sequence[str]
) -> tuple[dict[str, str], list[str]]:
    there = {name: event for name, event in events.items() if event is not None}
    missing = [counter.label for counter in chosen if counter.name not in there]
    asked = set(required) - {ALL}
    if CPU_TIME.name not in there or asked - there.keys():
        sentence = (
            f"perf cannot count {', '.join(missing)} here, the kernel's part included (`./steelyard doctor`)"
        )
        if required:
            raise MissingRequirement(f"--counters: {sentence}")
        return {}, [f"Nothing was counted of the hardware: {sentence}."]
    if not missing:
        return there, []
    return there, [f"Not counted, for this host does not have it: {', '.join(missing)}."]


@dataclass
class Counting:
    """perf beside the components of a trial; without events it does nothing."""

    events: Mapping[str, str]
    """By counter."""
    folder: Path
    """Of the trial."""
    children: Children
    clock: Clock
    _running: dict[str, Child] = field(default_factory=dict)

    def start(self, components: Iterable[Running]) -> None:
        """Count what has come since; of each component all processes that it has now, and what they start."""
        for component in components if self.events else ():
            if (
                component.name in self._running
                or component.component.role == "injector"
                or not component.pids
            ):
                continue
            path = counts_path(self.folder, component.name)
            with report_no_space(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"{HEAD}{self.clock.time():.3f}\n", encoding="utf-8")
            command = ["perf", "stat", "-x,", "-I", str(INTERVAL), "--append", "--output", str(path)]
            command += ["--event", ",".join(dict.fromkeys(self.events.values()))]
            self._running[component.name] = self.children.spawn(
                f"perf of {component.name}",
                [*command, "--pid", ",".join(map(str, component.pids))],
                console=self.folder / "logs" / f"{path.stem}.log",
                cwd=self.folder,
            )

    def stop(self) -> None:
        """End perf: interrupted, it writes what it has counted since its last whole second."""
        running = [child for child in self._running.values() if child.exit_code() is None]
        for child in running:
            child.signal(signal.SIGINT)
        wait_until(lambda: all(child.exit_code() is not None for child in running), _GRACE, _POLL)
        self.children.stop(list(self._running.values()), grace=_GRACE)
        ended = [counts_path(self.folder, name) for name in self._running]
        self._running.clear()
        for path in ended:
            with report_no_space(path), path.open("a", encoding="utf-8") as file:
                file.write(f"{TAIL}{path.stat().st_mtime:.3f}\n")


def counts_path(folder: Path, name: str) -> Path:
    """Where the counts of a component lie in the folder of a trial."""
    return folder / "samples" / f"perf-{name.replace('/', '-')}.csv"
