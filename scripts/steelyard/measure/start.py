# SPDX-License-Identifier: Apache-2.0
"""How a component started: time, CPU and memory until it answered."""

from collections.abc import Callable

from steelyard.measure.formulas import COMPILERS, EVERY, PART, SERVERS, Metric, combine_known, slowest, sum_of
from steelyard.measure.window import ComponentFigure, OfComponent, Started, Window
from steelyard.results.measurement import Number
from steelyard.results.schema import Trial
from steelyard.results.spec import MEASURED_ROLES, Component, Spec


def _of_start(read: Callable[[Started], Number | None]) -> OfComponent:
    def of_component(window: Window, component: Component) -> Number | None:
        started = window.started.get(component.name)
        return None if started is None else read(started)

    return of_component


def first_answers(window: Window) -> dict[str, float]:
    """Seconds from the start of the servers to the first successful answer of each operation."""
    starts = [one.running.started for one in window.started.values() if one.component.role == "server"]
    first: dict[str, float] = {}
    for summary in window.flight.injectors.summaries() if starts else ():
        for operation, millis in summary.get("firstAnswers", {}).items():
            seconds = float(millis) / 1000 - min(starts)
            first[operation] = min(first.get(operation, seconds), seconds)
    return first


def _every_first_answer(trial: Trial, spec: Spec) -> float | None:
    """Seconds until every operation of the mix had been answered; None unless every one was."""
    return combine_known((trial.first_answers.get(name) for name in spec.mix or trial.first_answers), max)


COMPONENT_FIGURES = (
    ComponentFigure(
        name="start_seconds",
        unit="s",
        says="process start to first successful response",
        read=_of_start(lambda started: started.start_seconds),
    ),
    ComponentFigure(
        name="ready_message_seconds",
        unit="s",
        says="process start to the server's own ready message",
        read=_of_start(lambda started: started.ready_message_seconds),
    ),
    ComponentFigure(
        name="start_cpu_seconds",
        unit="CPU s",
        says="CPU that it had used when it had answered",
        read=_of_start(lambda started: started.cpu_seconds),
    ),
    ComponentFigure(
        name="start_rss",
        unit="bytes",
        says="its resident memory at that moment",
        read=_of_start(lambda started: started.rss),
    ),
)

METRICS = (
    Metric(
        name="start_time",
        label="start-up",
        unit="s",
        digits=2,
        source="Process start to first successful response, of the slowest server JVM.",
        pitfalls=(
            "JVMs that start together compete for CPUs, in `steady` and `survive` with injectors that start beside them"
            " as well: starts are compared by `start-up`."
        ),
        compute=slowest("start_seconds"),
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
        source="Start of the servers to the moment at which each operation had been answered successfully once.",
        pitfalls="Operations are asked one after another: an early one warms up what a later one needs.",
        compute=_every_first_answer,
        procedures=("start-up",),
    ),
    Metric(
        name="start_cpu",
        label="start-up CPU of the servers",
        unit="CPU s",
        digits=2,
        source=(
            "CPU seconds that the servers had used when each had answered for the first time, and what compilers used"
            " for them until then."
        ),
        pitfalls="Background work that goes on after the first answer (compilation, class loading) is not in it.",
        compute=sum_of("start_cpu_seconds"),
        procedures=EVERY,
        roles=MEASURED_ROLES,
    ),
    Metric(
        name="start_cpu_servers",
        label="start-up CPU of the servers alone",
        unit="CPU s",
        digits=2,
        source="CPU seconds that the server JVMs had used when each had answered for the first time.",
        pitfalls=f"It is in start_cpu already. {PART}",
        compute=sum_of("start_cpu_seconds", SERVERS),
        procedures=EVERY,
        roles=SERVERS,
        part_of="start_cpu",
        only_with_compilers=True,
    ),
    Metric(
        name="start_cpu_compiler",
        label="start-up CPU of the JITServer",
        unit="CPU s",
        digits=2,
        source="CPU seconds that the compilers used from when they were ready to when each server had answered.",
        pitfalls="It is in start_cpu already; the compilers' own start is not, as they serve many starts.",
        compute=sum_of("start_cpu_seconds", COMPILERS),
        procedures=EVERY,
        roles=COMPILERS,
        part_of="start_cpu",
    ),
    Metric(
        name="start_rss",
        label="memory (RSS) of the servers after the start",
        unit="bytes",
        digits=0,
        source=(
            "Resident set size of servers and compilers, pages of the large-page pool included, when each server had"
            " answered for the first time, summed."
        ),
        pitfalls="The heap has hardly been used yet: memory under load is another figure.",
        compute=sum_of("start_rss"),
        procedures=EVERY,
        roles=MEASURED_ROLES,
    ),
    Metric(
        name="start_rss_servers",
        label="memory (RSS) of the servers alone after the start",
        unit="bytes",
        digits=0,
        source="Resident set size of the server JVMs when each had answered for the first time, summed.",
        pitfalls=f"It is in start_rss already. {PART}",
        compute=sum_of("start_rss", SERVERS),
        procedures=EVERY,
        roles=SERVERS,
        part_of="start_rss",
        only_with_compilers=True,
    ),
    Metric(
        name="start_rss_compiler",
        label="memory (RSS) of the JITServer after the start",
        unit="bytes",
        digits=0,
        source="Resident set size of the compilers when each server had answered for the first time, summed.",
        pitfalls="It is in start_rss already; one JITServer may serve many starts.",
        compute=sum_of("start_rss", COMPILERS),
        procedures=EVERY,
        roles=COMPILERS,
        part_of="start_rss",
    ),
)
