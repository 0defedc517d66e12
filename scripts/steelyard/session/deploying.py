# SPDX-License-Identifier: Apache-2.0
"""Brings a spec's components up: started role by role, each waited for until it answers, data loaded, facts read.

The same for every engine: an engine starts and ends components, and this says which, when, and whether they serve.
"""

import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Any

from steelyard.clock import SYSTEM, Clock, wait_until
from steelyard.engines.base import Deployment, Running
from steelyard.engines.readiness import POLL_INTERVAL, answers_at, read_info, ready_message_after
from steelyard.errors import PortInUse, ServerFailed
from steelyard.jvm.rows import Facts, Source
from steelyard.processes import process_tree
from steelyard.processes.listening import Listener
from steelyard.results.failure import Failure
from steelyard.results.spec import ORDER, Component, Role, Spec
from steelyard.sampling.process import read_usage
from steelyard.session.readback import MAPPED, ReadBack, map_facts, observe
from steelyard.workload.schema import Consistency

INFO_TRIES = 6
"""Of 10 s each at most: a component that has answered before does so again once a machine that stood still goes on."""
LISTENER_INTERVAL = 1.0
"""Seconds between two checks of where a component listens."""
LISTENER_CHECKS = 3
"""How often in a row it has to be seen elsewhere, and nowhere else meanwhile, after the first time."""
LOAD_TIMEOUT = 300.0
"""Seconds for one loader; 100,000 customers take a fraction of it (apps/README.md)."""


@dataclass
class StartedComponent:
    """A component that has answered."""

    running: Running
    answered: float
    """When it first answered, epoch seconds."""
    start_seconds: float | None
    """Process start to first successful response; None: it is not known when its process began."""
    cpu_seconds: float | None
    """CPU that its processes had used by then; of a compiler what it used while the servers started."""
    rss: int | None
    """Resident memory of its processes at that moment, bytes; of a compiler when the servers had answered."""
    ready_message_seconds: float | None = None
    info: Mapping[str, Any] = field(default_factory=dict)  # any JSON, as each server has its own keys
    """What it says of itself."""
    facts: Mapping[Source, Facts] = field(default_factory=dict)
    """What each source says of its settings; of servers alone."""

    @property
    def component(self) -> Component:
        """What it is."""
        return self.running.component


@dataclass
class Deployed:
    """The components of one trial as they come up."""

    spec: Spec
    deployment: Deployment[Any]
    progress: Callable[[str], None] = lambda _text: None
    """Takes what is being loaded, and each line of a loader while it loads."""
    clock: Clock = SYSTEM
    read_back: ReadBack = observe
    """Asks a server what it really has."""
    started: dict[str, StartedComponent] = field(default_factory=dict)

    def start(self, roles: Sequence[Role] = ORDER[:-1], on_start: Callable[[], None] = lambda: None) -> None:
        """Start components role by role in `ORDER` and wait until each serves.

        Args:
            roles: which; all but the injectors when not given.
            on_start: called when the components of a role have been started and do not serve yet.

        Raises:
            ServerFailed: one died or did not answer in time.
            PortInUse: a port was taken, or somebody else answers there.
        """
        for role in ORDER:
            if role in roles and (components := self.spec.of(role)):
                before = self._compilers() if role == "server" else {}
                self.deployment.start(components)
                on_start()
                self._wait(components)
                for name, (used, _) in before.items():
                    now, self.started[name].rss = self._compilers()[name]
                    self.started[name].cpu_seconds = (
                        now - used if now is not None and used is not None else None
                    )

    def _compilers(self) -> dict[str, tuple[float | None, int | None]]:
        """CPU and memory of the compilers that run, by name."""
        names = (compiler.name for compiler in self.spec.of("compiler"))
        return {name: _usage(self.started[name].running) for name in names if name in self.started}

    def stop(self, roles: Iterable[Role], grace: float = 20.0) -> list[Failure]:
        """Stop the components of some roles; returns what did not end by itself."""
        names = [component.name for component in self.spec.of(*roles)]
        problems = self.deployment.stop(names, grace)
        for name in names:
            self.started.pop(name, None)
        return problems

    def load_data(self) -> None:
        """Send every loader's request, in order.

        Raises:
            ServerFailed: a loader did not answer, or refused; the error has its own first line.
        """
        for step in self.spec.data:
            component = self.spec.component(step.component)
            self.progress(f"{step.component} loads its data")
            answer = self.deployment.ask(component, step.path, LOAD_TIMEOUT, self.progress)
            if answer is None or answer[0] != 200:
                reason = f", it said: {_first_line(answer[1])}" if answer else ""
                raise ServerFailed(
                    f"{step.component} could not load its data ({step.path}): {_status(answer)}{reason}",
                    step.component,
                )
            text = answer[1].decode("utf-8", errors="replace")
            if step.contains is not None and step.contains not in text:
                last = text.strip().rpartition("\n")[2][:200]
                raise ServerFailed(
                    f"{step.component} did not load all of its data ({step.path}): at last it said: {last}",
                    step.component,
                )

    def describe(self) -> None:
        """Read what the components say of themselves (which data they have, they know only once it is loaded), and what
        servers really have."""
        for started in self.started.values():
            if self.deployment.remote:
                self._date(started)
            started.info = self._info(started.component)
            started.running = replace(started.running, pids=_tree(started.running))
            if started.component.role == "server":
                granted = self.deployment.engine_facts(started.component.name)
                started.facts = self.read_back(started.running, started.info, granted)
                settings = started.component.jvm_settings
                is_z = settings is not None and settings.gc == "z"
                if self.deployment.remote and (is_z or MAPPED.intersection(started.component.read_back)):
                    smaps = self.deployment.memory_map(started.component.name)
                    started.facts = {**started.facts, **map_facts(started.component, started.facts, smaps)}

    def _date(self, started: StartedComponent) -> None:
        """When a component elsewhere began; to ask is work, and no part of its start."""
        began = self.deployment.began(started.component.name)
        started.start_seconds = started.answered - began if began is not None else None
        if began is not None:
            started.running = replace(started.running, started=began)

    def failures(self) -> list[Failure]:
        """What ended by itself, injectors left out."""
        return [
            Failure(component=name, cause="restarts", detail=sentence)
            for name in self.started
            if (sentence := self.deployment.failure(name)) is not None
        ]

    def inconsistencies(self) -> list[Failure]:
        """What the application's data shows after the load and should not."""
        return [
            Failure(component=check.component, cause="consistency", detail=f"{check.about}: {finding}")
            for check in self.spec.consistency
            if (finding := self._inconsistency(check)) is not None
        ]

    def _inconsistency(self, check: Consistency) -> str | None:
        component = self.spec.component(check.component)
        answer = self.deployment.ask(component, check.path, 30.0)
        if answer is None or answer[0] != 200:
            return f"{check.component} gave {_status(answer)} to {check.path}"
        text = answer[1].decode("utf-8", errors="replace").strip()
        if check.equals is not None and text != check.equals.strip():
            return f"it is {_first_line(answer[1])}, expected {check.equals}"
        if check.matches is not None and re.fullmatch(check.matches, text, re.DOTALL) is None:
            return f"{_first_line(answer[1])!r} does not match {check.matches}"
        return None

    def _info(self, component: Component) -> Mapping[str, Any]:
        """What a component says of itself; nothing once it has ended, which refuses every try at once."""
        if not component.info:
            return {}
        tries = (self.deployment.ask(component, component.info, 10.0) for _ in range(INFO_TRIES))
        return read_info(next(filter(None, tries), None))

    def _wait(self, components: Sequence[Component]) -> None:
        """Each is asked by a thread of its own: one that is slow to answer must not delay what is noted of the
        others. None is asked on when one has failed, or when the session is interrupted: it would hold up the end."""
        running = {process.name: process for process in self.deployment.started_components()}
        over = threading.Event()

        def wait_for(component: Component) -> StartedComponent | None:
            return self._wait_for(running[component.name], len(components), over)

        with ThreadPoolExecutor(max_workers=len(components)) as pool:
            waits = [pool.submit(wait_for, component) for component in components]
            try:
                # Not one after the other: the first of them may never answer while another has failed.
                wait(waits, return_when=FIRST_EXCEPTION)
            finally:
                over.set()
        for started in filter(None, [each.result() for each in waits]):
            self._refuse_stranger(started)
            started.ready_message_seconds = ready_message_after(
                started.running.started, self.deployment.logs(started.component.name) / "messages.log"
            )
            self.started[started.component.name] = started

    def _wait_for(self, running: Running, others: int, over: threading.Event) -> StartedComponent | None:
        """Waits until one serves; None when it is `over` before."""
        component = running.component
        watch = _ListenerWatch(self.deployment, component, self.clock)

        def is_settled() -> bool:
            if self.deployment.serves(component):
                return True
            failure = self.deployment.failure(component.name)
            if failure is not None:
                raise ServerFailed(failure, component.name)
            if sentence := watch.check():
                raise ServerFailed(f"{sentence}: see {self.deployment.logs(component.name)}", component.name)
            return over.is_set()

        # Many polls a second beside a starting JVM would be part of its start.
        interval = POLL_INTERVAL * max(1.0, others / 4)
        if not wait_until(is_settled, component.ready.within, interval, self.clock):
            self.deployment.require_programs()
            raise ServerFailed(
                f"{component.name} did not answer within {component.ready.within:.0f} s{watch.describe()}:"
                f" see {self.deployment.logs(component.name)}",
                component.name,
            )
        if over.is_set():
            return None
        answered = self.clock.time()
        # Only now: what a start script needed for a moment has gone.
        component_tree = replace(running, pids=_tree(running))
        return StartedComponent(component_tree, answered, answered - running.started, *_usage(running))

    def _refuse_stranger(self, started: StartedComponent) -> None:
        """Nobody else's server may be loaded with data, or measured."""
        component = started.component
        if component.info is None or started.running.contained:
            return
        # Workers come and go: it may be one that came since, or has gone.
        before = _tree(started.running)
        pid = self._info(component).get("pid", before[0])
        if pid not in before and pid not in _tree(started.running):
            raise PortInUse(
                f"port {component.port} is answered by process {pid}, not by {component.name}: stop that process, or"
                " choose other ports with --port"
            )


class _ListenerWatch:
    """Checks, while one is waited for, whether it listens elsewhere than where it is asked: then no waiting helps.

    A server may open other ports before its own (JMX, administration), so what it listens on is no proof. It is one
    that the port is the right one and the address is not, or that its readiness check is met there.
    """

    def __init__(self, deployment: Deployment[Any], component: Component, clock: Clock) -> None:
        self._deployment, self._component, self._clock = deployment, component, clock
        self._next = clock.monotonic() + LISTENER_INTERVAL
        self._before: list[Listener] = []
        self._checks = 0

    def check(self) -> str | None:
        """One sentence as soon as it is sure to listen elsewhere; costs nothing between checks."""
        if self._clock.monotonic() < self._next:
            return None
        self._next = self._clock.monotonic() + LISTENER_INTERVAL
        listeners = self._deployment.listens_elsewhere(self._component)
        wrong = [listener for listener in listeners if self._is_its_own(listener)]
        self._checks = self._checks + 1 if wrong and wrong == self._before else 0
        self._before = wrong
        if self._checks < LISTENER_CHECKS:
            return None
        return f"{self._component.name} {self._sentence(wrong)}"

    def describe(self) -> str:
        """The same of one that did not answer in time, as a part of that sentence; empty when nothing is known."""
        listeners = self._deployment.listens_elsewhere(self._component)
        return f" (it {self._sentence(listeners)})" if listeners else ""

    def _is_its_own(self, listener: Listener) -> bool:
        if listener.port == self._deployment.expected_address(self._component)[0]:
            return True
        # An address inside of a container is another one here.
        if self._deployment.contained or self._component.ready.path is None:
            return False
        return answers_at(listener.address, listener.port, self._component)

    def _sentence(self, listeners: Sequence[Listener]) -> str:
        wanted = self._deployment.expected_address(self._component)[1]
        return f"listens on {', '.join(map(str, listeners))}, and not on {wanted}"


def _tree(running: Running) -> list[int]:
    """All processes of a component, those that it started among them; none of one that runs elsewhere."""
    return process_tree(running.pids[0], running.mark) if running.pids else []


def _status(answer: tuple[int, bytes] | None) -> str:
    return "no answer" if answer is None else f"status {answer[0]}"


def _first_line(body: bytes) -> str:
    return body.decode("utf-8", errors="replace").strip().partition("\n")[0][:200]


def _usage(running: Running) -> tuple[float | None, int | None]:
    """CPU seconds and resident bytes of a component; None where it has ended, or is not here."""
    return read_usage(running.pids[0], running.mark) if running.pids else (None, None)
