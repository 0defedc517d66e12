# SPDX-License-Identifier: Apache-2.0
"""What every engine offers to the trial: it starts, watches and ends the components that a spec names.

Engines decide nothing: which components there are, in which order they start (`results.spec.ORDER`), when they are
ready, what data is loaded and what is read from them is the session's work, by the spec, the same for all engines.
"""

import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import psutil

from steelyard.clock import wait_until
from steelyard.engines import readiness
from steelyard.errors import ServerFailed
from steelyard.jvm.rows import Facts
from steelyard.processes import process_tree
from steelyard.processes.listening import Listener
from steelyard.processes.restored import find_restored
from steelyard.results.failure import NOT_STOPPED, Failure
from steelyard.results.spec import ORDER, Component, Spec
from steelyard.sampling.streams import Observer

_KERNEL_NAME = 15


@dataclass(frozen=True)
class Running:
    """A component that was started."""

    component: Component
    pids: Sequence[int]
    """Its processes on this host, the main one first; none of one that runs elsewhere."""
    started: float
    """Epoch seconds at which its process began."""
    contained: bool = False
    """Whether it has a control group of its own, whose figures are worth reading."""
    mark: str = ""
    """An entry of the environment that its processes alone have (see `process_tree`); empty: they have none."""
    creation: float | None = None
    """Epoch seconds at which its engine began to make its container; None: it has none, or that is not told."""

    @property
    def name(self) -> str:
        """As in the spec."""
        return self.component.name


def log_folder(component: Component) -> str:
    """Folder of a component's own logs, below the trial's directory."""
    return f"load/{component.name}" if component.role == "injector" else f"servers/{component.name}/logs"


class Handle(Protocol):
    """What a component of this host runs as: a child process, a container."""

    name: str
    started: float
    creation: float | None
    stop_requested: bool

    @property
    def mark(self) -> str:
        """An entry of the environment that its processes alone have; empty: they have none."""

    @property
    def pid(self) -> int | None:
        """Of its main process; None: it is not on this host."""

    def exit_code(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""

    def describe_end(self) -> str:
        """One sentence for one that has ended."""


AnyHandle = TypeVar("AnyHandle", bound=Handle)


class HttpAccess:
    """How components are asked; here those of this host."""

    def ask(
        self, component: Component, path: str, timeout: float, on_line: Callable[[str], None] | None = None
    ) -> tuple[int, bytes] | None:
        """One GET: status and body, or None when there is no answer (see `readiness.ask`)."""
        return readiness.get(component.port, path, timeout, on_line) if component.port is not None else None

    def serves(self, component: Component) -> bool:
        """Whether it serves, by its own readiness check; one that is not reached from here counts as serving."""
        return readiness.answers(component)

    def listens_elsewhere(self, component: Component) -> list[Listener]:  # noqa: ARG002 - for those that can look
        """Where a component listens while nobody listens where it is asked; empty when it may still be on its way, and
        where this host cannot see it."""
        return []

    def expected_address(self, component: Component) -> tuple[int, str]:
        """The port at which a component has to listen, as it sees it, and where that is with what to do, for people."""
        return component.port or 0, (
            f"127.0.0.1:{component.port}, where it is asked: give its command that address and `${{port}}`"
        )

    def began(self, name: str) -> float | None:  # noqa: ARG002 - for those that can look
        """Epoch seconds at which the process of a remote component began, to a few hundredths; None: not known."""
        return None

    def engine_facts(self, name: str) -> Facts:  # noqa: ARG002 - for those that know
        """What the engine tells of a component's settings; nothing where its processes can be looked at."""
        return {}

    def memory_map(self, name: str) -> str:  # noqa: ARG002 - for those that know
        """The kernel's map (smaps) of a component's largest process, of one whose processes are not on this host; empty
        where it cannot be had."""
        return ""


class Deployment(HttpAccess, ABC, Generic[AnyHandle]):
    """What one trial runs. Every method may be called at any time; `stop` also twice and after an error."""

    runner = "this host"
    """What runs components, for people."""
    contained = False
    asked_before_start = True
    """Whether injectors may ask for a component before it is started, and have its first answer when it comes."""
    remote = False
    """Whether components run where this host sees neither their processes nor their files: then `observers` and `fetch`
    stand for those."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory.resolve()
        self._components: dict[str, Component] = {}
        """As they were last started."""
        self._handles: dict[str, AnyHandle] = {}
        """What was started, in order; a component that is started again moves to the end."""

    @abstractmethod
    def start(self, components: Sequence[Component]) -> None:
        """Start components, all at once, and wait for none of them. One that was stopped may be started again.

        Raises:
            ServerFailed: one cannot be started.
            PortInUse: a port was taken meanwhile.
            NoSpace: no room for its files.
        """

    def take_checkpoint(self, component: Component) -> None:
        """Take the checkpoint from which a component, which does not run, will start.

        Raises:
            ServerFailed: it cannot be taken.
        """
        raise ServerFailed(f"{component.name}: {self.runner} takes no checkpoints", component.name)

    def started_components(self) -> list[Running]:
        """What was started and not stopped, in order of start, with the processes that it has now."""
        return [
            Running(
                self._components[name],
                process_tree(handle.pid, handle.mark),
                handle.started,
                self.contained,
                handle.mark,
                handle.creation,
            )
            for name, handle in self._handles.items()
            if not handle.stop_requested and handle.pid is not None
        ]

    def observers(self) -> Mapping[str, Observer]:
        """What samples the components of a remote deployment, by their names: of those whose observer runs by now."""
        return {}

    def fetch(self, name: str) -> None:
        """Bring the files of a remote component into `logs(name)`, but for `health.jsonl` (its stream brings that).

        Raises:
            ServerFailed: they cannot be had.
        """

    def overhead(self) -> list[int]:
        """Processes by which the engine itself runs the components, on this host: what they use is the trial's."""
        return []

    def failure(self, name: str) -> str | None:
        """One sentence when the component ended by itself (how, and its last words), was restarted or OOM-killed.

        Cheap enough to be asked several times a second. An injector that was told to end has not failed.

        Raises:
            PortInUse: it says that its port is taken.
            ServerFailed: it says that another port is taken, which it opens as well.
        """
        unit = self._handles.get(name)
        if unit is None or unit.stop_requested or unit.exit_code() is None:
            return None
        if unit.exit_code() == 0 and (self.logs(name) / "stop").exists():
            return None
        return unit.describe_end()

    def out_of_memory(self) -> bool:
        """Whether a component is known to have ended by itself for want of memory, its container's limit."""
        return False

    def require_programs(self) -> None:
        """See that what the components run is still there (raises ProgramGone): one that lives without an answer may
        have lost its files."""

    def exit_code(self, name: str) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        unit = self._handles.get(name)
        return None if unit is None else unit.exit_code()

    def kill(self, name: str) -> None:
        """Kill a component on purpose, as a crash would end it (SIGKILL to all its processes): that is no failure."""
        unit = self._handles[name]
        unit.stop_requested = True
        for pid in process_tree(unit.pid, unit.mark) if unit.pid is not None else ():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def stop(self, names: Iterable[str] | None = None, grace: float = 20.0) -> list[Failure]:
        """End components (None: all), injectors and servers before what they need: SIGTERM, SIGKILL after `grace`
        seconds.

        Returns:
            Each component that did not end by itself.
        """
        chosen = self._handles if names is None else set(names)
        ending = [handle for name, handle in self._handles.items() if name in chosen]
        alive = [handle for handle in ending if handle.exit_code() is None]
        for handle in ending:
            handle.stop_requested = True
        problems = []
        try:
            # A server that loses its database while it stops would say so in its log.
            for role in reversed(ORDER):
                units = [handle for handle in ending if self._components[handle.name].role == role]
                self._end_before_criu(units, grace)
                self._end(units, grace)
        except ServerFailed as error:
            listed = ", ".join(handle.name for handle in alive)
            sentence = f"{self.runner} did not answer while {listed} were stopped ({error})"
            problems.append(Failure(component=None, cause=NOT_STOPPED, detail=sentence))
        return problems + [
            Failure(
                component=handle.name, cause=NOT_STOPPED, detail=f"{handle.name} did not stop and was killed"
            )
            for handle in alive
            if handle.exit_code() == -9
        ]

    @abstractmethod
    def close(self) -> None:
        """Stop everything and remove what is only of use while it runs (work areas, containers, networks). Logs
        stay."""

    def logs(self, name: str) -> Path:
        """Folder with the component's own logs (GC logs, messages.log), `console.log` among them."""
        return self._directory / log_folder(self._components[name])

    def cache(self, component_kind: str) -> Path:
        """Folder that stands for `${cache}` of the components of a kind, on this host; made by `start` when it is
        not there."""
        return self._directory / "cache" / component_kind

    def _end_before_criu(self, units: Sequence[AnyHandle], grace: float) -> None:
        """End those that were restored: `criu restore`, or the script that waits for it, would end before the server,
        which would be killed then."""
        restored = [
            unit
            for unit in units
            if self._components[unit.name].checkpoint != "none" and unit.exit_code() is None
        ]
        trees = (process_tree(unit.pid, unit.mark) for unit in restored if unit.pid is not None)
        for pid in find_restored(pid for tree in trees for pid in tree):
            with suppress(ProcessLookupError, PermissionError):  # whom an image runs as may not be us
                os.kill(pid, signal.SIGTERM)
        wait_until(
            lambda: all(unit.exit_code() is not None for unit in restored), grace, readiness.POLL_INTERVAL
        )

    @abstractmethod
    def _end(self, units: Sequence[AnyHandle], grace: float) -> None:
        """End some, those that have ended by themselves among them (raises ServerFailed: nobody answers)."""


def find_processes(names: Collection[str]) -> list[int]:
    """Process ids of this host by the names of their programs. The kernel keeps 15 characters of a name (TASK_COMM_LEN
    is 16 with its end), and psutil completes some: both are compared as far as that."""
    short = {name[:_KERNEL_NAME] for name in names}
    return [
        process.pid
        for process in psutil.process_iter(["name"])
        if (process.info["name"] or "")[:_KERNEL_NAME] in short
    ]


class Engine(Protocol):
    """Realises specs on this host or cluster."""

    def check(self, specs: Sequence[Spec]) -> None:
        """Refuse what cannot work here before the first trial starts, and remove what a crash left.

        Raises:
            PortInUse, MissingRequirement: ports, programs, images.
        """

    def daemons(self) -> list[int]:
        """Processes of this host by which the engine is there at all. In a session they run beside trials of its other
        engines as well, and are no disturbance there either: they meet every arm."""

    def open(self, spec: Spec, directory: Path) -> Deployment[Any]:
        """Make ready to run a spec: write `replay/` in the trial's directory, with which a person repeats the trial
        by hand (deployment, data, load), and start nothing.

        Args:
            spec: what to deploy; its injectors' settings are complete but for `output`.
            directory: the trial's directory; components get folders in `servers/`, `load/`, `logs/` and `cache/`.

        Raises:
            NoSpace: it cannot be written.
        """
