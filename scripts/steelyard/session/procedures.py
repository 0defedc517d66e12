# SPDX-License-Identifier: Apache-2.0
"""What a trial does with what it deployed: one function for each procedure, from the first component to the last.

- steady:   start, load data, injectors go | ramp | warm up until steady | measure | stop | judge the window as well
- ramp-up:  prepare (start, load data, stop the servers), injectors wait | start | injectors go: the curve | stop
- start-up: prepare, the injector waits | start: it asks for each operation until all are answered | stop
- survive:  start, load data, injectors go | a fixed time under load, whatever dies ends it | stop | judge the memory

In the measurement of `steady` and `ramp-up` a component may be killed on purpose (`Component.killed_after`).
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from steelyard.analysis.warmup import (
    COMPILED_CPU,
    COMPILED_OVER,
    WINDOW,
    Steadiness,
    has_compiled,
    has_warmed_up,
    interim_seconds,
    judge_steady,
)
from steelyard.errors import ServerFailed
from steelyard.experiment.schema import ProcedureName
from steelyard.measure.samples import Samples
from steelyard.measure.window import rates
from steelyard.results.spec import MEASURED_ROLES, Role
from steelyard.session.flight import Flight, TrialFailedError
from steelyard.session.thrashing import thrashing, unwatched
from steelyard.spec.injectors import PROBE_LIMIT
from steelyard.spec.plan import without_caches

SAMPLES_LATE = 2.0
"""Seconds after which the samples of a second are there to be looked at, wherever they come from."""
SAMPLES_SOON = 0.3
"""Seconds after which they are usually there; who looks so early has to see until when they reach."""
START_END = 30.0
"""Seconds of a failed start, its last, that say whether it was memory that it wanted."""
_RESTARTED: tuple[Role, ...] = ("compiler", "server", "proxy")
"""What a measured start starts; databases and services stand beside it."""


def steady(flight: Flight, fill_caches: Callable[[], None]) -> None:
    """Throughput, CPU, memory and latency of warm servers."""
    load = flight.spec.load
    with flight.phase("start"):
        _bring_up(flight, fill_caches)
        gone = flight.injectors.go()
    with flight.phase("ramp", load.ramp):
        flight.injectors.wait_for_load()
        flight.watch(load.ramp - (flight.clock.time() - gone))
    flight.ramp_end = flight.clock.time()
    with flight.phase("warmup", load.warmup.at_least):
        _warm_up(flight)
        start = _whole_second(flight)
    with flight.phase("measure", load.measure):
        _measure(flight, start)
    with flight.phase("stop"):
        flight.stop_in_order()
    for part in flight.parts:
        _judge_window(part)


def ramp_up(flight: Flight, fill_caches: Callable[[], None]) -> None:
    """The whole curve from the first second of load on fresh servers."""
    with flight.phase("prepare"):
        _prepare(flight)
        # Its JVM starts now, so that it takes no CPU from the servers' start.
        flight.start_injectors()
    with flight.phase("start"):
        fill_caches()
        flight.deployed.bring_up(_restarted(flight))
        flight.start_sampler()
    with flight.phase("measure", flight.spec.load.measure):
        _whole_second(flight)
        # Load begins in this second, on other machines in one that they were told before.
        _measure(flight, float(math.floor(flight.injectors.go())))
    with flight.phase("stop"):
        # Not before: to be asked is work, and a fresh server is being measured.
        flight.deployed.describe()
        flight.stop_in_order()


def start_up(flight: Flight, fill_caches: Callable[[], None]) -> None:
    """A fresh start to the first successful answer of each operation, with no load before."""
    with flight.phase("prepare"):
        _prepare(flight)
        flight.start_injectors()
        # The window begins with the start: what disturbs it has to be seen from then on.
        flight.start_sampler()
    with _throttling(flight):
        with flight.phase("start"):
            fill_caches()
            flight.injectors.go()
            begun = flight.clock.time()
            flight.deployed.bring_up(_restarted(flight), flight.start_sampler)
        with flight.phase("measure"):
            flight.start_sampler()
            flight.injectors.wait_until_through(PROBE_LIMIT)
            flight.window = (begun, flight.clock.time())
    with flight.phase("stop"):
        # Not before: to be asked is work, and a fresh server is being measured.
        flight.deployed.describe()
        flight.stop_in_order()


def survive(flight: Flight, fill_caches: Callable[[], None]) -> None:
    """A fixed time under load and a memory limit: did everything live, and do more than thrash?"""
    try:
        with flight.phase("start"):
            _bring_up(flight, fill_caches, flight.start_sampler)
            _whole_second(flight)
            flight.ramp_end = flight.injectors.go()
            start = float(math.floor(flight.ramp_end))
    except (ServerFailed, TrialFailedError) as failure:
        # Too little memory to start with is an answer; any other failure to start is a fault.
        if flight.deployment.out_of_memory():
            flight.survived = False
            raise
        flight.take_streams()
        now = flight.clock.time()
        _judge_memory(flight, now - START_END, now)
        if not flight.thrashing:
            raise
        raise ServerFailed("; ".join([str(failure), *flight.thrashing])) from failure
    with flight.phase("measure", flight.spec.load.measure), _throttling(flight):
        flight.survived = True
        flight.watch(flight.spec.load.measure, survive=True)
        flight.window = (start, max(start + 1.0, float(math.floor(flight.clock.time()))))
    with flight.phase("stop"):
        flight.stop_in_order()
    _judge_memory(flight, *flight.window)


PROCEDURES: Mapping[ProcedureName, Callable[[Flight, Callable[[], None]], None]] = {
    "steady": steady,
    "ramp-up": ramp_up,
    "start-up": start_up,
    "survive": survive,
}


def _bring_up(
    flight: Flight, fill_caches: Callable[[], None], on_start: Callable[[], None] = lambda: None
) -> None:
    """Everything up, loaded with data and sampled; the injectors wait for their start. `on_start` as of
    `Deployed.bring_up`.

    Their processes begin beside the servers, which saves seconds of every trial. Procedures whose question is the
    start have them ready before.
    """
    fill_caches()
    flight.deployment.start(flight.spec.injectors)
    flight.deployed.bring_up(on_start=on_start)
    flight.start_sampler()
    flight.deployed.load_data()
    flight.deployed.describe()
    flight.injectors.wait_until_ready()
    flight.start_sampler()


def _restarted(flight: Flight) -> tuple[Role, ...]:
    """What this measured start starts: compilers that are kept stay."""
    kept = flight.spec.keeps_compilers
    return tuple(role for role in _RESTARTED if not (kept and role == "compiler"))


def _prepare(flight: Flight) -> None:
    """Bring up what stands beside the measured start, and load the data through servers that are stopped again."""
    flight.deployed.bring_up(("database", "service"))
    if not flight.spec.needs_preparation:
        return
    plain = without_caches(flight.spec)
    flight.deployed.spec = plain
    try:
        flight.deployed.bring_up(_RESTARTED)
        flight.deployed.load_data()
        flight.deployed.take_down(_restarted(flight))
    finally:
        flight.deployed.spec = flight.spec


def _whole_second(flight: Flight) -> float:
    """Wait for the next one: samples and the injectors' intervals end there, so a window does as well."""
    start = float(math.ceil(flight.clock.time()))
    flight.watch(start - flight.clock.time())
    return start


def _measure(flight: Flight, start: float) -> None:
    with _throttling(flight):
        for one in sorted(flight.spec.deployed, key=lambda one: one.killed_after or 0.0):
            if one.killed_after is not None:
                flight.watch(one.killed_after - (flight.clock.time() - start))
                flight.kill(one)
        flight.watch(flight.spec.load.measure - (flight.clock.time() - start))
        flight.window = (start, start + flight.spec.load.measure)


@contextmanager
def _throttling(flight: Flight) -> Iterator[None]:
    """How long our own control group was throttled inside; what is dear to sample is read at both ends."""
    before = flight.context.read_throttling()
    flight.start_sampler()
    yield
    flight.start_sampler()
    now = flight.context.read_throttling()
    flight.throttled = now - before if now is not None and before is not None else None


def _warm_up(flight: Flight) -> None:
    """Wait until the trial is steady, at least and at most as long as the experiment says."""
    warmup, begin = flight.spec.load.warmup, flight.clock.monotonic()
    if warmup.until != "steady":
        flight.watch(warmup.at_least)
        while warmup.until == "compiled" and flight.clock.monotonic() < begin + warmup.at_most:
            flight.watch(math.ceil(flight.clock.time()) + SAMPLES_SOON - flight.clock.time())
            if _compiled(flight, flight.clock.monotonic() - begin):
                break
        return
    for second in interim_seconds(warmup.at_least, warmup.at_most):
        flight.watch(begin + second + SAMPLES_LATE - flight.clock.monotonic())
        samples, now = Samples.load(flight.folder / "samples"), flight.ramp_end + second
        followed = [rate for _, rate in rates(flight, samples, flight.ramp_end, now)]
        found = has_warmed_up(followed, _jit_share(flight, samples, now - WINDOW, now))
        if found.steady:
            break
    _note(flight, "Warm-up", found)


def _compiled(flight: Flight, loaded: float) -> bool:
    """Whether the JIT of servers and compilers is quiet, over as many of the `loaded` seconds as it takes to tell."""
    samples = Samples.load(flight.folder / "samples")
    newest = min(samples.threads_read(one.name) for one in flight.spec.of(*MEASURED_ROLES))
    kinds = (one.artifact.jvm.kind for one in flight.spec.servers if one.artifact.jvm is not None)
    least, over = sum(COMPILED_CPU.get(kind, 0.0) for kind in kinds), COMPILED_OVER
    while (used := _cpu(flight, samples, newest - over, newest)) is not None:
        if used[1] >= least or over >= loaded:
            return has_compiled(*used, least)
        over += 1.0
    return False


def _judge_window(flight: Flight) -> None:
    """The measurement is judged by the rule of the warm-up, over the whole window; what was before it tells dips."""
    samples, (start, end) = Samples.load(flight.folder / "samples"), flight.window
    for name, at in flight.killed.items():
        samples = samples.ended(name, at, end + 1.0)
    begin = start - math.floor(start - flight.ramp_end)
    followed = [rate for _, rate in rates(flight, samples, begin, end)]
    if flight.spec.load.warmup.until == "compiled":
        jit, own = _cpu(flight, samples, start, end) or (0.0, 0.0)
        found = judge_steady(followed, jit / own if own else None, round(end - start), compiled=True)
    else:
        found = judge_steady(followed, _jit_share(flight, samples, start, end), round(end - start))
    _note(flight, "Measurement", found)


def _judge_memory(flight: Flight, start: float, end: float) -> None:
    """A server that thrashed has not survived: it has too little memory, and the kernel will never say so."""
    samples = Samples.load(flight.folder / "samples")
    flight.thrashing = thrashing(flight.spec.deployed, samples, start, end)
    if flight.survived is True:
        flight.unwatched = unwatched(flight.spec.of(*MEASURED_ROLES), samples, start, end)
    if flight.thrashing:
        flight.survived = False


def _note(flight: Flight, what: str, found: Steadiness) -> None:
    """A trial is steady where its warm-up, if it was one until steady, and its measurement are; each has a sentence."""
    told = f"{what}: {found.detail[0].lower()}{found.detail[1:]}"
    flight.steady = found.steady and flight.steady is not False
    flight.steady_detail = f"{flight.steady_detail} {told}".strip()


def _jit_share(flight: Flight, samples: Samples, start: float, end: float) -> float | None:
    """CPU of JIT threads / CPU time of the logical CPUs of servers and compilers; None: it cannot be told."""
    used = _cpu(flight, samples, start, end)
    return used[0] / (len(flight.spec.weighed_cpus) * (end - start)) if used is not None else None


def _cpu(flight: Flight, samples: Samples, start: float, end: float) -> tuple[float, float] | None:
    """CPU seconds of JIT threads and of all threads, of servers and of the compilers that work for them: where a
    JITServer compiles, the servers' own JIT threads are quiet from the first second. None where they are not known."""
    groups = [samples.cpu_by_group(one.name, start, end) for one in flight.spec.of(*MEASURED_ROLES)]
    if not all(groups):
        return None
    return sum(one.get("jit", 0.0) for one in groups), sum(sum(one.values()) for one in groups)
