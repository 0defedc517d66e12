# SPDX-License-Identifier: Apache-2.0
"""What a trial left behind, cut to the window in which it counts; and what is read from it: figures of each component
and of the trial as a whole.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from steelyard.jvm.rows import Facts
from steelyard.measure.compile_log import CompileLog
from steelyard.measure.gc_log import GcLog
from steelyard.measure.health import Health, per_second
from steelyard.measure.histograms import Recorded
from steelyard.measure.jit_log import JitLog
from steelyard.measure.nmt import NativeMemory
from steelyard.measure.perf_stat import PerfStat
from steelyard.measure.samples import Samples
from steelyard.results.measurement import ComponentResult, Number
from steelyard.results.spec import MEASURED_ROLES, Component, Spec


class InjectorData(Protocol):
    """What the injectors left, and say of themselves."""

    @property
    def folders(self) -> Mapping[str, Path]:
        """Where each wrote, by name."""

    # The injector's own JSON, each key read where it is measured.
    def summaries(self) -> Iterable[Mapping[str, Any]]:
        """What each wrote at its end."""

    def messages(self) -> list[str]:
        """What failed requests were said to have failed for, the most frequent first."""


class Observations(Protocol):
    """What the harness itself saw of a trial (`session.trial_run`)."""

    spec: Spec
    window: tuple[float, float]
    ramp_end: float
    throttled: float | None
    steady: bool | None
    steady_detail: str
    survived: bool | None
    thrashing: list[str]
    unwatched: list[str]
    killed: dict[str, float]
    network_path: str

    @property
    def injectors(self) -> InjectorData:
        """Of the trial."""

    def sentences_of(self, cause: str) -> list[str]:
        """What went wrong of one cause, the name of the check that it fails; one sentence each."""

    def clock_step(self) -> float | None:
        """How far the wall clock moved against the monotonic one, seconds."""


class RunningProcess(Protocol):
    """A process that was started."""

    @property
    def started(self) -> float:
        """Epoch seconds."""

    @property
    def creation(self) -> float | None:
        """Epoch seconds at which its engine began to make its container; None: it has none, or that is not told."""


class Started(Protocol):
    """A component that has answered (`session.deploying`)."""

    start_seconds: float | None
    cpu_seconds: float | None
    rss: int | None
    ready_message_seconds: float | None
    info: Mapping[str, Any]  # any JSON, as each server has its own keys

    @property
    def component(self) -> Component:
        """What it is."""

    @property
    def running(self) -> RunningProcess:
        """Its process."""


@dataclass
class Window:
    """What a trial left behind, and the window in which it counts."""

    run: Observations
    started: Mapping[str, Started]
    samples: Samples
    gc_logs: Mapping[str, GcLog]
    """By component; without those that have none."""
    recorded: Recorded
    """What the injectors recorded in the window."""
    total: Recorded
    """And in all."""
    health: Health
    jit_logs: Mapping[str, JitLog] = field(default_factory=dict)
    """By server; of those alone that compile in a JITServer."""
    compile_logs: Mapping[str, CompileLog] = field(default_factory=dict)
    """By server; of those alone whose JIT writes a log of what it compiles (`jit_log`)."""
    native_memory: Mapping[str, NativeMemory] = field(default_factory=dict)
    """By server; of those alone whose JVM keeps account of it."""
    counters: Mapping[str, str] = field(default_factory=dict)
    """Events of perf that the session counts, by counter (`measure.counted`)."""
    counted: Mapping[str, PerfStat] = field(default_factory=dict)
    """What perf counted, by component."""
    facts: Callable[[str], Sequence[Facts]] = lambda _name: ()
    """What each source tells of the settings of a component."""
    components: Sequence[ComponentResult] = ()
    """What each component did, once that was read."""

    def __post_init__(self) -> None:
        self.spec = self.run.spec
        self.start, self.end = self.run.window
        """Epoch seconds."""
        self.seconds = self.end - self.start

    @property
    def in_containers(self) -> bool:
        """Whether components run in containers; the self-check's engine simulates processes."""
        return self.spec.engine not in ("process", "synthetic")

    def of(self, *roles: str) -> list[ComponentResult]:
        """What components of these roles did."""
        return [component for component in self.components if component.role in roles]

    @property
    def measured_components(self) -> list[ComponentResult]:
        """What servers and compilers did."""
        return self.of(*MEASURED_ROLES)

    def cpus(self, names: Collection[str]) -> set[int]:
        """CPUs that some components may use, all together."""
        return {
            cpu for component in self.spec.components if component.name in names for cpu in component.cpus
        }

    def growth(self, name: str, *columns: str) -> float | None:
        """Growth in the window of some columns of processes.csv together, of a component."""
        return self.samples.growth(name, columns, self.start, self.end)

    def rates(self, begin: float, end: float) -> list[tuple[float, float]]:
        """As `rates`."""
        return rates(self.run, self.samples, begin, end)


def rates(run: Observations, samples: Samples, begin: float, end: float) -> list[tuple[float, float]]:
    """(end of the second since `begin`, requests/s) by the servers' counters, else by the injectors."""
    if run.spec.servers_tell_rates:
        return samples.request_rate(begin, end)
    requests = per_second(run.injectors.folders.values(), begin, end)
    return [(float(second + 1), rate) for second, rate in enumerate(requests)]


@dataclass(frozen=True)
class Unknown:
    """Stands for a figure that there should be and is not."""

    reason: str
    """A sentence without its end."""


UNCOVERED = Unknown("its samples do not cover the window")
OfComponent = Callable[[Window, Component], Number | Unknown | None]
"""What reads a figure of a component; None: there is nothing of the kind."""
OfTrial = Callable[[Window], Number | list[str] | Unknown | None]
"""The same of the trial as a whole."""


V = TypeVar("V", int, float)


def known_or(value: V | None, reason: Unknown) -> V | Unknown:
    """A figure, or why there is none."""
    return reason if value is None else value


@dataclass(frozen=True, kw_only=True)
class ComponentFigure:
    """A figure of each component."""

    name: str
    unit: str
    says: str
    read: OfComponent
    in_group: bool = False
    """Whether it is of the component's container (`cgroup`)."""


@dataclass(frozen=True, kw_only=True)
class TrialFigure:
    """A figure of the trial as a whole, or a list of sentences on what is wrong with it."""

    name: str
    unit: str
    says: str
    read: OfTrial
    """Once the figures of the components are known."""
    undisturbed: Number | None = None
    """What it is in a trial that nothing disturbed, as the self-check simulates one; sentences are none."""


SENTENCES = "sentences"
"""Stands for the unit of a list of them."""


def component_figure(unit: str) -> Callable[[OfComponent], ComponentFigure]:
    """A figure by the name of the function that reads it; its docstring says what it is."""
    return lambda read: ComponentFigure(name=read.__name__, unit=unit, says=_summary(read), read=read)


def trial_figure(unit: str, undisturbed: Number | None = None) -> Callable[[OfTrial], TrialFigure]:
    """The same of the trial as a whole."""
    return lambda read: TrialFigure(
        name=read.__name__, unit=unit, says=_summary(read), read=read, undisturbed=undisturbed
    )


def _summary(function: Callable[..., object]) -> str:
    """The first paragraph of a docstring."""
    return " ".join((function.__doc__ or "").partition("\n\n")[0].split())
