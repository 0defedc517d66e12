# SPDX-License-Identifier: Apache-2.0
"""What a trial does with what it deployed: one function for each procedure, from the first component to the last.

- steady:   start, load data, injectors go | ramp | warm up until steady | measure | stop | judge the window as well
- ramp-up:  prepare (start, load data, stop the servers), injectors wait | start | injectors go: the curve | stop
- start-up: prepare, the injector waits | start: it asks for each operation until all are answered | stop
- survive:  start, load data, injectors go | a fixed time under load, whatever dies ends it | stop | judge the memory

In the measurement of `steady` and `ramp-up` a component may be killed on purpose (`Component.killed_after`).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from steelyard.results.spec import MEASURED_ROLES, Component, Role
from steelyard.session.datasets import STOP_GRACE
from steelyard.session.trial_run import TrialFailedError, TrialRun
from steelyard.spec.injectors import PROBE_LIMIT
from steelyard.spec.plan import without_caches
from steelyard.units import MIB

SAMPLES_LATE = 2.0
"""Seconds after which the samples of a second are there to be looked at, wherever they come from."""
SAMPLES_SOON = 0.3
"""Seconds after which they are usually there; who looks so early has to see until when they reach."""
START_END = 30.0
"""Seconds of a failed start, its last, that say whether it was memory that it wanted."""

# A component thrashes that lives at the memory limit of its container, and does little else than read from the disk
# what the kernel took from it a moment ago. A container that may not swap holds its anonymous memory; what goes when
# it is full is page cache: first files that nobody reads again, then the program's own code, which a major fault
# reads back. The kernel sees no want of memory in that, as pages can always be taken, so nothing is killed
# (admin-guide/cgroup-v2, Memory; Weiner: "psi: pressure stall information", 2018, on thrashing). Pressure stall
# information would show it by itself, and version 1 has none.
THRASHING_FAULTS = 50.0
"""Major faults a second. A server in enough memory has none for minutes once its code has been read. On OpenJ9 with
half of what it needed one had 250 to 330, spent 81 to 95 % of its CPU in the kernel, and served 4 to 39 requests/s
where another served 627 (docs/lab-notes/2026-11-23-jitserver.md)."""
AT_LIMIT = 0.99
"""Of the limit, from which on a container has reached it: the kernel takes pages back in batches."""
_RESTART_ROLES: tuple[Role, ...] = ("compiler", "server", "proxy")
"""What a measured start starts; databases and services run already."""


def steady(run: TrialRun, fill_caches: Callable[[], None]) -> None:
    """Throughput, CPU, memory and latency of warm servers."""
    load = run.spec.load
    with run.phase("start"):
        _start_all(run, fill_caches)
        begin = run.injectors.go()
    with run.under_load():
        with run.phase("ramp", load.ramp):
            run.injectors.wait_for_load()
            run.watch(load.ramp - (run.clock.time() - begin))
        run.ramp_end = run.clock.time()
        with run.phase("warmup", load.warmup.at_least):
            _warm_up(run)
            start = _wait_for_second(run)
        with run.phase("measure", load.measure):
            _measure(run, start)
    with run.phase("stop"):
        run.stop_in_order()
    for trial in run.trials:
        _judge_window(trial)


def ramp_up(run: TrialRun, fill_caches: Callable[[], None]) -> None:
    """The whole curve from the first second of load on fresh servers."""
    with run.phase("prepare"):
        _prepare(run)
        # Its JVM starts now, so that it takes no CPU from the servers' start.
        run.start_injectors()
    with run.phase("start"):
        fill_caches()
        run.deployed.start(_restart_roles(run))
        run.start_sampler()
    with run.phase("measure", run.spec.load.measure):
        _wait_for_second(run)
        # Load begins in this second, on other machines in one that their command names.
        _measure(run, ramp_up_start(run.injectors.go()))
    with run.phase("stop"):
        # Not before: to be asked is work, and a fresh server is being measured.
        run.deployed.describe()
        run.stop_in_order()


def start_up(run: TrialRun, fill_caches: Callable[[], None]) -> None:
    """A fresh start to the first successful answer of each operation, with no load before."""
    with run.phase("prepare"):
        _prepare(run)
        run.start_injectors()
        fill_caches()
        # The window begins with the start: what disturbs it has to be seen from then on.
        run.start_sampler()
        run.wait_for_samples()
    is_asked = run.deployment.asked_before_start

    def on_start() -> None:
        nonlocal is_asked
        started = {running.name for running in run.deployment.started_components()}
        if not is_asked and started.issuperset(run.spec.entry):
            run.injectors.go()
            is_asked = True
        run.start_sampler()

    with _note_throttling(run):
        with run.phase("start"):
            if is_asked:
                run.injectors.go()
            begin = run.clock.time()
            run.deployed.start(_restart_roles(run), on_start)
        with run.phase("measure"):
            run.start_sampler()
            run.injectors.wait_until_through(PROBE_LIMIT)
            run.window = (begin, run.clock.time())
    with run.phase("stop"):
        # Not before: to be asked is work, and a fresh server is being measured.
        run.deployed.describe()
        run.stop_in_order()


def survive(run: TrialRun, fill_caches: Callable[[], None]) -> None:
    """A fixed time under load and a memory limit: did everything live, and do more than thrash?"""
    try:
        with run.phase("start"):
            _start_all(run, fill_caches, run.start_sampler)
            _wait_for_second(run)
            run.ramp_end = run.injectors.go()
            start = float(math.floor(run.ramp_end))
    except (ServerFailed, TrialFailedError) as failure:
        # Too little memory to start with is an answer; any other failure to start is a fault.
        if run.deployment.out_of_memory():
            run.survived = False
            raise
        run.take_streams()
        now = run.clock.time()
        _judge_memory(run, now - START_END, now)
        if not run.thrashing:
            raise
        raise ServerFailed("; ".join([str(failure), *run.thrashing])) from failure
    with run.phase("measure", run.spec.load.measure), _note_throttling(run):
        run.survived = True
        run.watch(run.spec.load.measure, survive=True)
        run.window = (start, max(start + 1.0, float(math.floor(run.clock.time()))))
    with run.phase("stop"):
        run.stop_in_order()
    _judge_memory(run, *run.window)


PROCEDURES: Mapping[ProcedureName, Callable[[TrialRun, Callable[[], None]], None]] = {
    "steady": steady,
    "ramp-up": ramp_up,
    "start-up": start_up,
    "survive": survive,
}


def _start_all(
    run: TrialRun, fill_caches: Callable[[], None], on_start: Callable[[], None] = lambda: None
) -> None:
    """Start everything, load the data and sample; the injectors wait for their start. `on_start` as of
    `Deployed.start`.

    Their processes begin beside the servers, which saves seconds of every trial. Procedures whose question is the
    start have them ready before.
    """
    fill_caches()
    run.deployment.start(run.spec.injectors)
    run.deployed.start(on_start=on_start)
    run.start_sampler()
    run.deployed.load_data()
    run.deployed.describe()
    run.injectors.wait_until_ready()
    run.start_sampler()


def _restart_roles(run: TrialRun) -> tuple[Role, ...]:
    """What this measured start starts: compilers that are kept stay."""
    kept = run.spec.keeps_compilers
    return tuple(role for role in _RESTART_ROLES if not (kept and role == "compiler"))


def _prepare(run: TrialRun) -> None:
    """Start what the measured start needs, and load the data through servers that are stopped again."""
    run.deployed.start(("database", "service"))
    if not run.spec.needs_preparation:
        return
    plain = without_caches(run.spec)
    run.deployed.spec = plain
    try:
        run.deployed.start(_RESTART_ROLES)
        run.deployed.load_data()
        # One that was killed leaves work to the start that is measured.
        if problems := run.deployed.stop(_restart_roles(run), STOP_GRACE):
            raise TrialFailedError(problems[0])
    finally:
        run.deployed.spec = run.spec


def _wait_for_second(run: TrialRun) -> float:
    """Wait for the next one: samples and the injectors' intervals end there, so a window does as well."""
    start = steady_start(run.clock.time())
    run.watch(start - run.clock.time())
    return start


def steady_start(now: float) -> float:
    """The first whole second from now on, epoch seconds: a window that begins there holds whole seconds alone."""
    return float(math.ceil(now))


def ramp_up_start(load: float) -> float:
    """The second in which the load begins, epoch seconds: a curve holds all of the load."""
    return float(math.floor(load))


def _measure(run: TrialRun, start: float) -> None:
    with _note_throttling(run):
        for component in sorted(
            run.spec.without_injectors, key=lambda component: component.killed_after or 0.0
        ):
            if component.killed_after is not None:
                run.watch(component.killed_after - (run.clock.time() - start))
                run.kill(component)
        run.watch(run.spec.load.measure - (run.clock.time() - start))
        run.window = (start, start + run.spec.load.measure)


@contextmanager
def _note_throttling(run: TrialRun) -> Iterator[None]:
    """How long our own control group was throttled inside; what is expensive to sample is read at both ends."""
    before = run.context.read_throttling()
    run.start_sampler()
    yield
    run.start_sampler()
    now = run.context.read_throttling()
    run.throttled = now - before if now is not None and before is not None else None


def _warm_up(run: TrialRun) -> None:
    """Wait until the trial is steady, at least and at most as long as the experiment says."""
    warmup, begin = run.spec.load.warmup, run.clock.monotonic()
    if warmup.until != "steady":
        run.watch(warmup.at_least)
        while warmup.until == "compiled" and run.clock.monotonic() < begin + warmup.at_most:
            run.watch(math.ceil(run.clock.time()) + SAMPLES_SOON - run.clock.time())
            if _has_compiled(run, run.clock.monotonic() - begin):
                break
        return
    for second in interim_seconds(warmup.at_least, warmup.at_most):
        run.watch(begin + second + SAMPLES_LATE - run.clock.monotonic())
        samples, now = run.samples.read(), run.ramp_end + second
        series = [rate for _, rate in rates(run, samples, run.ramp_end, now)]
        steadiness = has_warmed_up(series, _jit_share(run, samples, now - WINDOW, now))
        if steadiness.steady:
            break
    _note(run, "Warm-up", steadiness)


def _has_compiled(run: TrialRun, loaded: float) -> bool:
    """Whether the JIT of servers and compilers is quiet (not merely without a CPU), over as many of the `loaded`
    seconds as it takes to tell."""
    samples = run.samples.read()
    newest = min(samples.threads_read(component.name) for component in run.spec.of(*MEASURED_ROLES))
    jvms = (server.artifact.jvm for server in run.spec.servers)
    least, over = sum(COMPILED_CPU.get(jvm.kind, 0.0) for jvm in jvms if jvm is not None), COMPILED_OVER
    while (used := _cpu(run, samples, newest - over, newest)) is not None:
        if used[1] >= least or over >= loaded:
            return has_compiled(*used, _jit_wait(run, samples, newest - over, newest), least)
        over += 1.0
    return False


def _judge_window(run: TrialRun) -> None:
    """The measurement is judged by the rule of the warm-up, over the whole window; what was before it shows dips."""
    samples, (start, end) = run.final_samples(), run.window
    begin = start - math.floor(start - run.ramp_end)
    series = [rate for _, rate in rates(run, samples, begin, end)]
    if run.spec.load.warmup.until == "compiled":
        jit, own = _cpu(run, samples, start, end) or (0.0, 0.0)
        steadiness = judge_steady(series, jit / own if own else None, round(end - start), compiled=True)
    else:
        steadiness = judge_steady(series, _jit_share(run, samples, start, end), round(end - start))
    _note(run, "Measurement", steadiness)


def _judge_memory(run: TrialRun, start: float, end: float) -> None:
    """A server that thrashed has not survived: it has too little memory, and the kernel will never say so."""
    samples = run.samples.read()
    run.thrashing = find_thrashing(run.spec.without_injectors, samples, start, end)
    if run.survived is True:
        run.unwatched = find_unwatched(run.spec.of(*MEASURED_ROLES), samples, start, end)
    if run.thrashing:
        run.survived = False


def _note(run: TrialRun, phase: str, steadiness: Steadiness) -> None:
    """A trial is steady where its warm-up, if it was one until steady, and its measurement are; each has a sentence."""
    sentence = f"{phase}: {steadiness.detail[0].lower()}{steadiness.detail[1:]}"
    run.steady = steadiness.steady and run.steady is not False
    run.steady_detail = f"{run.steady_detail} {sentence}".strip()


def _jit_share(run: TrialRun, samples: Samples, start: float, end: float) -> float | None:
    """CPU of JIT threads / CPU time of the logical CPUs of servers and compilers; None: it is not known."""
    used = _cpu(run, samples, start, end)
    return used[0] / (run.spec.usable_cpus * (end - start)) if used is not None else None


def _cpu(run: TrialRun, samples: Samples, start: float, end: float) -> tuple[float, float] | None:
    """CPU seconds of JIT threads and of all threads, of servers and of the compilers that work for them: where a
    JITServer compiles, the servers' own JIT threads are quiet from the first second. None where they are not known."""
    groups = [samples.cpu_by_group(component.name, start, end) for component in run.spec.of(*MEASURED_ROLES)]
    if not all(groups):
        return None
    return sum(group.get("jit", 0.0) for group in groups), sum(sum(group.values()) for group in groups)


def _jit_wait(run: TrialRun, samples: Samples, start: float, end: float) -> float:
    """Seconds that JIT threads of servers and compilers waited for a CPU; 0 where the kernel does not tell."""
    names = (component.name for component in run.spec.of(*MEASURED_ROLES))
    return sum(samples.wait_by_group(name, start, end).get("jit", 0.0) for name in names)


def find_thrashing(components: Iterable[Component], samples: Samples, start: float, end: float) -> list[str]:
    """One sentence for each component that thrashed from `start` to `end`, epoch seconds.

    Nothing is said here of a component without samples of the time, or of the container: `find_unwatched` does.
    """
    sentences = []
    for component in components:
        limit = component.memory_bytes
        if limit is None or end <= start:
            continue
        faults, memory = _faults_and_memory(component, samples, start, end)
        if faults is None or memory is None:
            continue
        if faults / (end - start) >= THRASHING_FAULTS and memory >= AT_LIMIT * limit:
            sentences.append(
                f"{component.name} thrashed at its limit of {limit / MIB:.0f} MiB: it read its own memory back"
                f" from the disk {faults / (end - start):.0f} times a second"
            )
    return sentences


def find_unwatched(components: Iterable[Component], samples: Samples, start: float, end: float) -> list[str]:
    """One sentence for each component with a memory limit of which nobody can say whether it thrashed."""
    return [
        f"whether {component.name} thrashed at its limit of {component.memory_bytes / MIB:.0f} MiB was not measured"
        for component in components
        if component.memory_bytes is not None and None in _faults_and_memory(component, samples, start, end)
    ]


def _faults_and_memory(
    component: Component, samples: Samples, start: float, end: float
) -> tuple[float | None, float | None]:
    """Major faults over the time, and the most memory that the container had.

    By the kernel's own peak, which cgroup v2 has from Linux 5.19 on, else by the samples of each second: a server that
    thrashes stays at its limit.
    """
    is_covered = samples.group(component.name, "cpu_s").covers(start, end)
    peak = samples.group(component.name, "peak").at(end) if is_covered else None
    if peak is None:
        peak = samples.group(component.name, "memory").peak(start, end)
    return samples.growth(component.name, ("major_faults",), start, end), peak
