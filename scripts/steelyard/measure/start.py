# SPDX-License-Identifier: Apache-2.0
"""How a component started: time, CPU and memory until it answered."""

from steelyard.measure.formulas import COMPILERS, EVERY, SERVERS, Metric, combine_known, slowest, sum_of
from steelyard.measure.memory import resident_or_unknown
from steelyard.measure.window import Unknown, Window, component_figure
from steelyard.results.schema import Trial
from steelyard.results.spec import MEASURED_ROLES, Component, Spec


@component_figure("s")
def start_seconds(window: Window, component: Component) -> float | None:
    """Process start to first successful response."""
    started = window.started.get(component.name)
    return started.start_seconds if started is not None else None


@component_figure("s")
def container_start_seconds(window: Window, component: Component) -> float | None:
    """From when its engine began to make its container to first successful response."""
    started = window.started.get(component.name)
    if started is None or started.start_seconds is None or started.running.creation is None:
        return None
    return started.running.started + started.start_seconds - started.running.creation


@component_figure("s")
def ready_message_seconds(window: Window, component: Component) -> float | None:
    """Process start to the server's own ready message."""
    started = window.started.get(component.name)
    return started.ready_message_seconds if started is not None else None


@component_figure("CPU s")
def start_cpu_seconds(window: Window, component: Component) -> float | None:
    """CPU that it had used when it had answered."""
    started = window.started.get(component.name)
    return started.cpu_seconds if started is not None else None


@component_figure("bytes")
def start_rss(window: Window, component: Component) -> int | Unknown | None:
    """Its resident memory at that moment."""
    started = window.started.get(component.name)
    if started is None or started.rss is None:
        return None
    return resident_or_unknown(window, component.name, started.rss)


def first_answers(window: Window) -> dict[str, float]:
    """Seconds from the start of the servers to the first successful answer of each operation."""
    starts = [
        started.running.started for started in window.started.values() if started.component.role == "server"
    ]
    first: dict[str, float] = {}
    for summary in window.run.injectors.summaries() if starts else ():
        for operation, millis in summary.get("firstAnswers", {}).items():
            seconds = float(millis) / 1000 - min(starts)
            first[operation] = min(first.get(operation, seconds), seconds)
    return first


def _every_first_answer(trial: Trial, spec: Spec) -> float | None:
    """Seconds until every operation of the mix had been answered; None unless every one was."""
    return combine_known((trial.first_answers.get(name) for name in spec.mix or trial.first_answers), max)


_START_CPU = Metric(
    name="start_cpu",
    label="start-up CPU of the servers",
    unit="CPU s",
    digits=2,
    source="CPU seconds that the servers had used when each had answered for the first time, and what compilers used"
    " for them until then.",
    pitfalls="Background work that goes on after the first answer (compilation, class loading) is not in it.",
    compute=sum_of("start_cpu_seconds"),
    procedures=EVERY,
    roles=MEASURED_ROLES,
)

_START_RSS = Metric(
    name="start_rss",
    label="memory (RSS) of the servers after the start",
    unit="bytes",
    source="Resident set size of servers and compilers, pages of the large-page pool included, when each server had"
    " answered for the first time, summed.",
    pitfalls="The heap has hardly been used yet: memory under load is another figure. Missing where memory_rss is.",
    compute=sum_of("start_rss"),
    procedures=EVERY,
    roles=MEASURED_ROLES,
)

METRICS = (
    Metric(
        name="start_time",
        label="start-up",
        unit="s",
        digits=2,
        source="Process start to first successful response, of the slowest server JVM.",
        pitfalls="JVMs that start together compete for CPUs, in `steady` and `survive` with injectors that start"
        " beside them as well: starts are compared by `start-up`.",
        compute=slowest("start_seconds"),
        procedures=EVERY,
    ),
    Metric(
        name="container_start_time",
        label="start-up with the start of the container",
        unit="s",
        digits=2,
        source="From when the engine began to make the container (`Created` of docker inspect) to first successful"
        " response, of the slowest server.",
        pitfalls="The engine makes the containers of one trial together, and copies what their image has in a volume."
        " Known with engine compose alone: Kubernetes tells whole seconds.",
        compute=slowest("container_start_seconds"),
        procedures=EVERY,
    ),
    Metric(
        name="ready_message_time",
        label="time to the ready message",
        unit="s",
        digits=2,
        source="Process start to the server's own ready message, of the slowest server JVM.",
        pitfalls="Said before the first request was answered: what is loaded on first use is not in it.",
        compute=slowest("ready_message_seconds"),
        procedures=EVERY,
    ),
    Metric(
        name="first_answers_time",
        label="time to the first answer of every operation",
        unit="s",
        digits=2,
        source="Start of the first server to the moment at which each operation had been answered successfully once.",
        pitfalls="Operations are asked one after another: an early one warms up what a later one needs.",
        compute=_every_first_answer,
        procedures=("start-up",),
    ),
    _START_CPU,
    _START_CPU.part(
        SERVERS,
        sum_of("start_cpu_seconds", SERVERS),
        source="CPU seconds that the server JVMs had used when each had answered for the first time.",
    ),
    _START_CPU.part(
        COMPILERS,
        sum_of("start_cpu_seconds", COMPILERS),
        source="CPU seconds that the compilers used from when they were ready to when each server had answered.",
        but="the compilers' own start is not, as they serve many starts",
    ),
    _START_RSS,
    _START_RSS.part(
        SERVERS,
        sum_of("start_rss", SERVERS),
        source="Resident set size of the server JVMs when each had answered for the first time, summed.",
    ),
    _START_RSS.part(
        COMPILERS,
        sum_of("start_rss", COMPILERS),
        source="Resident set size of the compilers when each server had answered for the first time, summed.",
        but="one JITServer may serve many starts",
    ),
)
