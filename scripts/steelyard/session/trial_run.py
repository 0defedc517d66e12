# SPDX-License-Identifier: Apache-2.0
"""A trial that runs: what it has started so far, its phases, and whether everything still lives."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steelyard.clock import wait_until
from steelyard.engines.base import Deployment, Engine
from steelyard.errors import NoSpace
from steelyard.host.network import PODS, network_path
from steelyard.measure import nmt
from steelyard.measure.samples import Samples, SamplesReader
from steelyard.paths import PYTHON_PATH
from steelyard.processes import Child, child_environment
from steelyard.results.failure import Failure
from steelyard.results.schema import Phase
from steelyard.results.spec import MEASURED_ROLES, Component, Role, Spec
from steelyard.results.store import SessionDirectory, report_no_space, write_atomic
from steelyard.sampling.output import STREAM
from steelyard.sampling.streams import StreamLost, Streams
from steelyard.session.context import LiveRate, RunContext
from steelyard.session.counting import Counting
from steelyard.session.deploying import Deployed
from steelyard.session.injectors import Injectors
from steelyard.session.readback import ask_native_memory
from steelyard.spec.injectors import drain_limit

MIN_FREE_BYTES = 32 * 1024 * 1024
"""A session stops, resumable, when the results' file system has less: a full disk would lose samples."""
GRACE = 20.0
"""Seconds that components have to end once they are asked to; then they are killed."""
CACHE_GRACE = 120.0
"""The same where they write a class cache at their end."""
_WATCH_INTERVAL = 0.2
_FIRST, _FIRST_POLL = 30.0, 0.05
"""Seconds that the first sample may take to come where it is waited for, and between two looks."""
_LAST = 30.0
"""Seconds that the last samples of observers may take to come."""
_SAMPLED_AS: dict[Role, str] = {"server": "server", "compiler": "server", "injector": "injector"}
"""Roles whose threads are sampled by group; all else is read as a whole."""


class TrialFailedError(Exception):
    """Something of the trial died; the trial is void, the session goes on."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


def _sampler_failure(sentence: str) -> TrialFailedError:
    return TrialFailedError(Failure(component=None, cause="sampler", detail=sentence))


@dataclass
class TrialRun:
    """One trial, from its first component to its last."""

    spec: Spec
    folder: Path
    deployment: Deployment[Any]
    context: RunContext
    log_phase: Callable[[Phase], None]
    """Writes the beginning of a phase to the journal."""
    phases: dict[str, tuple[float, float]] = field(default_factory=dict)
    ramp_end: float = 0.0
    """Where the trace begins, epoch seconds."""
    window: tuple[float, float] = (0.0, 0.0)
    """Measurement, epoch seconds."""
    throttled: float | None = None
    steady: bool | None = None
    steady_detail: str = ""
    failures: list[Failure] = field(default_factory=list)
    """What failed and did not end the trial at once."""
    survived: bool | None = None
    thrashing: list[str] = field(default_factory=list)
    unwatched: list[str] = field(default_factory=list)
    """Of which it cannot be said whether they thrashed, one sentence each."""
    killed: dict[str, float] = field(default_factory=dict)
    """Components that were killed on purpose, and when, epoch seconds."""
    network_path: str = ""
    """Which way requests go to the servers; empty: it cannot be told."""
    sampler: Child | None = None
    daemons: Sequence[int] = ()
    """Processes by which engines of the session are there."""

    def __post_init__(self) -> None:
        context = self.context
        self.clock = context.clock
        self.deployed = Deployed(
            self.spec, self.deployment, context.watcher.progress, context.clock, context.read_back
        )
        names = [injector.name for injector in self.spec.injectors]
        self.streams = (
            Streams(self.folder, self.deployment.logs, context.clock) if self.deployment.remote else None
        )
        write = self._write_file if self.streams is not None else None
        self.injectors = Injectors(
            names,
            self.deployment,
            self.check_alive,
            write,
            self.take_streams,
            context.clock,
            drain_limit(self.spec),
        )
        self.counting = Counting(context.counters, self.folder, context.children, context.clock)
        self.samples = SamplesReader(self.folder / "samples")
        self.wall_ahead = self.clock.time() - self.clock.monotonic()
        self._live = LiveRate(self.folder / "samples" / "counters.csv")

    @contextmanager
    def phase(self, phase: Phase, seconds: float | None = None) -> Iterator[None]:
        """Everything inside is this phase; `seconds` is its expected length."""
        self.context.watcher.phase(phase, seconds)
        self.log_phase(phase)
        start = self.clock.time()
        try:
            yield
        finally:
            self.phases[phase] = (start, self.clock.time())

    def sentences_of(self, cause: str) -> list[str]:
        """What went wrong so far of one cause (`Failure.cause`), one sentence each."""
        return [failure.detail for failure in self.failures if failure.cause == cause]

    def under_load(self) -> AbstractContextManager[None]:
        """Around the time from the first load to the end of the window."""
        return nullcontext()

    @property
    def deployments(self) -> Sequence[tuple[Spec, Deployment[Any]]]:
        """What is deployed, by what."""
        return [(self.spec, self.deployment)]

    @property
    def trials(self) -> Sequence["TrialRun"]:
        """What is judged and recorded by itself once all has stopped."""
        return [self]

    def final_samples(self) -> Samples:
        """All samples, once the sampler has ended; components that were killed on purpose end with their last one."""
        samples = self.samples.read()
        for name, at in self.killed.items():
            samples = samples.end_process(name, at, self.window[1] + 1.0)
        return samples

    def start_injectors(self) -> None:
        """Start the injectors and wait until each waits for its start."""
        self.deployment.start(self.spec.injectors)
        self.injectors.wait_until_ready()

    def _find_network_path(self) -> str:
        if self.deployment.remote:
            return PODS
        running = self.deployment.started_components()
        main = {started.name: started.pids[0] for started in running if started.pids}
        clients = [main[injector.name] for injector in self.spec.injectors if injector.name in main]
        servers = [main[name] for name in self.spec.entry if name in main]
        return network_path(clients, servers) or ""

    def start_sampler(self) -> None:
        """Sample what runs now; called again, the sampler takes up what has come since, and reads what is expensive."""
        self._write_sampler_config()
        # Injectors and servers start in this order or that; once both run, it can be told.
        self.network_path = self.network_path or self._find_network_path()
        if self.sampler is None:
            self.sampler = self.context.children.spawn(
                "sampler",
                [sys.executable, "-m", "steelyard.sampling", str(self.folder / "sampler.json")],
                console=self.folder / "logs" / "sampler.log",
                cwd=PYTHON_PATH,
                env=child_environment(PYTHONPATH=str(PYTHON_PATH)),
            )
            if self.streams is not None:
                self.streams.watch_own(self.sampler)
        self.counting.start(self.deployment.started_components())
        if self.streams is not None:
            with self._require_streams():
                self.streams.watch(self.deployment.observers())
                self.streams.read_everything()

    def wait_for_samples(self) -> None:
        """Wait until the sampler of this host has started and read it once; after `_FIRST` seconds the ledger judges
        what is not known (errors as `check_alive`)."""

        def has_sampled() -> bool:
            self.check_alive()
            return all(clock.t.size for clock in self.samples.read().clocks())

        if self.streams is None:
            wait_until(has_sampled, _FIRST, _FIRST_POLL, self.clock)

    def watch(self, seconds: float, *, survive: bool = False) -> None:
        """Wait; raise as soon as something of the trial has died.

        Args:
            seconds: how long, by the monotonic clock.
            survive: what dies ends the wait, and `survived` says so.
        """
        end = self.clock.monotonic() + seconds
        while (remaining := end - self.clock.monotonic()) > 0:
            self.clock.sleep(min(_WATCH_INTERVAL, remaining))
            if survive and (deaths := self.deployed.failures()):
                self.survived = False
                self.failures += deaths
                return
            self.check_alive()
            rate = self._live.read()
            if rate is not None:
                self.context.watcher.throughput(rate)

    def kill(self, component: Component) -> None:
        """Kill a component on purpose; from now on its processes use nothing."""
        self.deployment.kill(component.name)
        self.killed[component.name] = self.clock.time()

    def clock_step(self) -> float:
        """Seconds by which the wall clock has moved against the monotonic clock since the trial began."""
        return abs(self.clock.time() - self.clock.monotonic() - self.wall_ahead)

    def check_alive(self) -> None:
        """Raise TrialFailedError when something has ended by itself, NoSpace when the disk is nearly full."""
        if problems := self.deployed.failures():
            raise TrialFailedError(problems[0])
        if problems := self.injectors.failures():
            raise TrialFailedError(problems[0])
        free = shutil.disk_usage(self.folder).free
        if free < MIN_FREE_BYTES:
            raise NoSpace(
                f"only {free // 2**20} MiB are left for {self.folder.parent.parent}: free some space, then resume;"
                " what was measured so far is kept"
            )
        if self.sampler is not None and self.sampler.exit_code() is not None:
            raise _sampler_failure(f"the sampler ended: {self.sampler.describe_end()}")
        self.take_streams()

    def stop_in_order(self) -> None:
        """Load first, then the checks of the data, then the sampler (its last sample holds the final counters),
        then all."""
        self.failures += self.injectors.stop()
        # What has died by now died under load.
        if self.survived and (deaths := self.deployed.failures()):
            self.survived = False
            self.failures += deaths
        if self.survived is not False:
            self.failures += self.deployed.inconsistencies()
            self.failures += self.deployed.failures()
        self._stop_sampling()
        self._ask_native_memory()
        # Nothing is measured any more: what has to be killed now did not die under load.
        self.failures += self.deployment.stop(grace=CACHE_GRACE if self.spec.caches("cold") else GRACE)

    def abandon(self) -> None:
        """Stop whatever still runs, and remove what is only of use while it does; after an error or Ctrl-C as well.

        What cannot be stopped keeps nothing else from it.
        """
        with ExitStack() as last_first:
            last_first.callback(self.deployment.close)
            if self.streams is not None:
                last_first.callback(self.streams.close)
            if self.sampler is not None:
                last_first.callback(self.context.children.stop, [self.sampler], grace=5.0)
            self.counting.stop()

    @contextmanager
    def _require_streams(self) -> Iterator[None]:
        """Commands to observers and what they send; one that is lost voids the trial."""
        try:
            yield
        except StreamLost as lost:
            # Where its component has ended, that is why.
            if problems := self.deployed.failures() or self.injectors.failures():
                raise TrialFailedError(problems[0]) from lost
            raise _sampler_failure(str(lost)) from lost

    def take_streams(self) -> None:
        """Follow the observers of what has come, and take what they have sent."""
        if self.streams is not None:
            with self._require_streams():
                self.streams.watch(self.deployment.observers())
                self.streams.poll()

    def _write_file(self, injector: str, file: str, text: str) -> None:
        if self.streams is not None:
            with self._require_streams():
                self.streams.write_file(injector, file, text)

    def _ask_native_memory(self) -> None:
        """After the last sample: whoever asks uses CPU."""
        for running in self.deployment.started_components():
            if (account := ask_native_memory(running)) is not None:
                write_atomic(self.deployment.logs(running.name) / nmt.FILE, account)

    def _stop_sampling(self) -> None:
        """The last samples of all, and then the files of what runs elsewhere."""
        if self.streams is not None:
            with self._require_streams():
                self.streams.last(_LAST)
        self.counting.stop()
        if self.sampler is not None:
            self.context.children.stop([self.sampler], grace=10.0)
        if self.streams is not None:
            self.streams.finish()
            for name in self.deployed.started:
                self.deployment.fetch(name)

    def _write_sampler_config(self) -> None:
        processes: list[dict[str, object]] = []
        for running in self.deployment.started_components():
            component = running.component
            counters, metrics = (
                f"{component.url}{path}" if path and component.port else None
                for path in (component.counters, component.metrics)
            )
            processes += [
                {
                    "name": component.name,
                    "pid": pid,
                    "role": _SAMPLED_AS.get(component.role, "backing"),
                    "counters_url": counters,
                    "metrics_url": metrics,
                    "cgroup": running.contained and component.role in MEASURED_ROLES,
                    "quota": component.cpu_quota is not None,
                    "mark": running.mark,
                }
                for pid in running.pids[:1]
            ]
        overhead = self.deployment.overhead()
        # The harness's own helpers are the clients of a container engine, and count as the engine's.
        role = "engine" if self.deployment.contained else "harness"
        processes.append({"name": "harness", "pid": os.getpid(), "role": role})
        processes += [
            # Below those of a cluster are pods, which their observers watch.
            {
                "name": f"engine:{pid}",
                "pid": pid,
                "role": "engine" if self.streams is None else "backing",
                "alone": True,
            }
            for pid in overhead
        ]
        # Of another engine nothing is below them that is the trial's.
        processes += [
            {"name": f"engine:{pid}", "pid": pid, "role": "backing", "alone": True}
            for pid in self.daemons
            if pid not in overhead
        ]
        config = {
            "output": str((self.folder / "samples").resolve() if self.streams is None else STREAM),
            "interval": 1.0,
            "parent": os.getpid(),
            "processes": processes,
        }
        write_atomic(self.folder / "sampler.json", json.dumps(config, indent=1) + "\n")


@contextmanager
def extra_run(
    directory: SessionDirectory,
    engines: Mapping[str, Engine],
    context: RunContext,
    name: str,
    spec: Spec,
    log_phase: Callable[[Phase], None] = lambda _phase: None,
) -> Iterator[TrialRun]:
    """A run of a session that is no trial, in `trials/NAME/`; at the end all of it is stopped, whatever came."""
    folder = directory.trials_path / name
    shutil.rmtree(folder, ignore_errors=True)
    with report_no_space(folder):
        (folder / "replay").mkdir(parents=True)
    run = TrialRun(spec, folder, engines[spec.engine].open(spec, folder), context, log_phase)
    try:
        yield run
    finally:
        run.abandon()
