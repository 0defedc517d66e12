# SPDX-License-Identifier: Apache-2.0
"""The metrics of starts, of ramp-ups and of survival (part of the registry in `analysis.metrics`)."""

import math
from collections.abc import Iterable

from steelyard.analysis.curves import SHARES, requests_lost, steady_level, time_to
from steelyard.analysis.formulas import EVERY, Compute, Metric, define, measured, most, slowest, sum_of
from steelyard.experiment.schema import ProcedureName
from steelyard.results.schema import Trial
from steelyard.results.spec import Spec

RAMP: tuple[ProcedureName, ...] = ("ramp-up",)


def _first_answers(trial: Trial, spec: Spec) -> float | None:
    """None unless every operation of the mix was answered."""
    return most(trial.first_answers.get(name) for name in spec.mix or trial.first_answers)


def _curve(trial: Trial) -> list[float]:
    return trial.curves.get("throughput", [])


def _time_to(share: int) -> Compute:
    def compute(trial: Trial, _spec: Spec) -> float | None:
        level = steady_level(_curve(trial))
        return time_to(_curve(trial), share / 100 * level) if level else None

    return compute


def _lost(trial: Trial, _spec: Spec) -> float | None:
    level = steady_level(_curve(trial))
    return requests_lost(_curve(trial), level) if level else None


def _curve_cpu(name: str) -> Compute:
    """CPU seconds: cores used, second by second."""
    return lambda trial, _spec: math.fsum(trial.curves[name]) if trial.curves.get(name) else None


def _ramp() -> Iterable[Metric]:
    """What the curve of a ramp-up trial comes to."""
    yield define(
        "steady_level",
        "throughput at the end of the ramp-up",
        "req/s",
        "higher",
        lambda trial, _spec: steady_level(_curve(trial)),
        procedures=RAMP,
    )(
        "Median of per-second throughput over the last quarter of the load.",
        "Too low where throughput still rises at the end; the notes of the analysis say where it does.",
    )
    for share in SHARES:
        yield define(
            f"time_to_{share}",
            f"time to {share} % of its own level",
            "s",
            "lower",
            _time_to(share),
            digits=2,
            procedures=RAMP,
        )(
            f"Start of the load to the moment at which the running median (5 s) of throughput comes up to {share} % of"
            " steady_level.",
            "An arm with a low level of its own reaches it sooner; the start of the servers is not in it.",
        )
    for share in SHARES:
        yield define(
            f"time_to_{share}_of_best",
            f"time to {share} % of the best arm's level",
            "s",
            "lower",
            None,
            digits=2,
            procedures=RAMP,
        )(
            f"As time_to_{share}, against the steady_level, in the same block, of the arm whose mean level is highest.",
            "Told of an arm only if every valid trial of it came up to that level: leaving out those that did not"
            " would keep the fast ones.",
        )
    yield define(
        "requests_lost", "requests lost to the ramp-up", "requests", "lower", _lost, procedures=RAMP
    )(
        "steady_level x seconds of load, less the requests that were served.",
        "Grows with the level: an arm that ends higher loses more on the same curve. About zero"
        " where there is no ramp.",
    )
    yield define(
        "requests_lost_to_best",
        "requests lost against the best arm's level",
        "requests",
        "lower",
        None,
        procedures=RAMP,
    )(
        "As requests_lost, against the steady_level, in the same block, of the arm whose mean level is highest.",
        "Grows with the length of the load where an arm never comes up to that level.",
    )
    threads = {name: f"{name} threads" for name in ("request", "network", "other")}
    for group, who in {**threads, "jit": "JIT threads", "gc": "GC threads", "compiler": "compilers"}.items():
        yield define(
            f"cpu_{group}",
            f"CPU of the ramp-up, {who}",
            "CPU s",
            "lower",
            _curve_cpu(f"cpu_{group}"),
            digits=1,
            procedures=RAMP,
        )(
            f"CPU seconds of the {who}, from the first second of the load to its end.",
            "A sum over a fixed time, not over a fixed amount of work: read it with steady_level.",
        )


PROCEDURE_METRICS: tuple[Metric, ...] = (
    define(
        "start_time",
        "start-up",
        "s",
        "lower",
        slowest(lambda one: one.start_seconds),
        digits=2,
        procedures=EVERY,
    )(
        "Process start to first successful response, of the slowest server JVM.",
        "JVMs that start together compete for CPUs: it is the time to have all of them.",
    ),
    define(
        "ready_message_time",
        "time to the ready message",
        "s",
        "lower",
        slowest(lambda one: one.ready_message_seconds),
        digits=2,
        procedures=EVERY,
    )(
        "Process start to the server's own ready message, of the slowest server JVM.",
        "Said before the first request was answered: what is loaded on first use is not in it.",
    ),
    define(
        "first_answers_time",
        "time to the first answer of every operation",
        "s",
        "lower",
        _first_answers,
        digits=2,
        procedures=("start-up",),
    )(
        "Start of the servers to the moment at which each operation had been answered successfully once.",
        "Operations are asked one after another: an early one warms up what a later one needs.",
    ),
    define(
        "start_cpu",
        "CPU of the start",
        "CPU s",
        "lower",
        sum_of(lambda one: one.start_cpu_seconds),
        digits=2,
        procedures=EVERY,
    )(
        "CPU seconds that the servers had used when each had answered for the first time.",
        "Background work that goes on after the first answer (compilation, class loading) is not in it.",
    ),
    define(
        "start_rss",
        "memory (RSS) after the start",
        "bytes",
        "lower",
        sum_of(lambda one: one.start_rss),
        procedures=EVERY,
    )(
        "Resident set size of the servers when each had answered for the first time, summed.",
        "The heap has hardly been used yet: memory under load is another figure.",
    ),
    *_ramp(),
    define(
        "survived",
        "trials survived",
        "share",
        "higher",
        lambda trial, _spec: None if trial.survived is None else float(trial.survived),
        digits=2,
        procedures=("survive",),
    )(
        "1 if everything lived and answered to the end of the load, else 0; the mean is the share of trials.",
        "A few trials that all survived leave much room: read the interval that the answer gives.",
    ),
    define(
        "restarts",
        "components that died",
        "count",
        "lower",
        measured(lambda m: float(len(m.restarts))),
        procedures=("survive",),
    )(
        "Components that died, were restarted or were killed for want of memory while the load ran.",
        "One that dies again after its restart counts again.",
    ),
)
