# SPDX-License-Identifier: Apache-2.0
"""What a trial left behind (its samples, the logs of its JVMs, what its injectors recorded), and what `trial.json` says
of it, but for the metrics: they follow from these figures alone."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.host.java import shared_cache_stats
from steelyard.jvm.class_cache import OWN_CACHE, cache_figures
from steelyard.jvm.identity import JvmIdentity
from steelyard.jvm.rows import JIT_LOG_NAME, Facts
from steelyard.measure import nmt
from steelyard.measure.compile_log import CompileLog, of_openj9, parse_hotspot
from steelyard.measure.gc_log import GcLog, read_gc_logs
from steelyard.measure.health import read_health
from steelyard.measure.histograms import read_logs
from steelyard.measure.jit_log import JitLog, read_jit_logs
from steelyard.measure.ledger import judge
from steelyard.measure.perf_stat import read_perf_stat
from steelyard.measure.ramp_up import curves
from steelyard.measure.record import component_results, measure_trial
from steelyard.measure.start import first_answers
from steelyard.measure.survival import survival_of
from steelyard.measure.window import Window
from steelyard.regular import read_text
from steelyard.results.failure import Failure
from steelyard.results.measurement import ComponentResult, Latency, TrialMeasurement
from steelyard.results.schema import Check
from steelyard.results.spec import MEASURED_ROLES, Component
from steelyard.session.counting import counts_path
from steelyard.session.deploying import StartedComponent
from steelyard.session.readback import gc_log_facts
from steelyard.session.trial_run import TrialRun


def gather(run: TrialRun) -> Window:
    """Read what a trial left."""
    folders = list(run.injectors.folders.values())
    logs = [folder / "latency.hlog" for folder in folders]
    paths_of = {
        component.name: sorted(run.deployment.logs(component.name).glob("gc*.log*"))
        for component in run.spec.of(*MEASURED_ROLES)
    }
    started = run.deployed.started
    gc_logs = {
        name: read_gc_logs(paths, started[name].running.started)
        for name, paths in paths_of.items()
        if paths and name in started
    }
    caches = {
        name: cache_figures(shared_cache_stats(jvm.home, folder)) for name, jvm, folder in _class_caches(run)
    }
    return Window(
        run,
        started,
        run.final_samples(),
        gc_logs,
        read_logs(logs, *run.window),
        read_logs(logs),
        read_health(folders, *run.window),
        jit_logs={
            server.name: _read_openj9_log(run, server)
            for server in (run.spec.servers if run.spec.of("compiler") else ())
            if server.name in started
        },
        compile_logs={
            server.name: _read_compile_log(run, server)
            for server in run.spec.servers
            if server.jvm_settings is not None and server.jvm_settings.jit_log and server.name in started
        },
        native_memory={
            server.name: native
            for server in run.spec.servers
            if server.name in started and (native := _read_native_memory(run, server)) is not None
        },
        facts=facts_of(started, gc_logs, caches),
        counters=run.context.counters,
        counted={
            name: read_perf_stat(path)
            for name in (started if run.context.counters else ())
            if (path := counts_path(run.folder, name)).exists()
        },
    )


def _read_openj9_log(run: TrialRun, server: Component) -> JitLog:
    """What OpenJ9's JIT wrote since the measured start."""
    paths = run.deployment.logs(server.name).glob(f"{JIT_LOG_NAME}*")
    return read_jit_logs(paths, run.deployed.started[server.name].running.started)


def _read_compile_log(run: TrialRun, server: Component) -> CompileLog:
    jvm = server.artifact.jvm
    if jvm is not None and jvm.kind == "openj9":
        return of_openj9(_read_openj9_log(run, server))
    path = run.deployment.logs(server.name) / JIT_LOG_NAME
    try:
        return parse_hotspot(read_text(path).splitlines(keepends=True))
    except OSError as error:
        return CompileLog(unknown=f"{path.name} cannot be read ({error.strerror})")


def _read_native_memory(run: TrialRun, server: Component) -> nmt.NativeMemory | None:
    """What the server's JVM said of its own memory at the end; None: it was not asked."""
    path = run.deployment.logs(server.name) / nmt.FILE
    return nmt.parse_native_memory(read_text(path)) if path.exists() else None


@dataclass(frozen=True, kw_only=True)
class TrialOutcome:
    """What came of a trial: fields of `Trial`."""

    checks: list[Check]
    measurement: TrialMeasurement | None = None
    steady: bool | None = None
    latency: dict[str, Latency] = field(default_factory=dict)
    components: list[ComponentResult] = field(default_factory=list)
    first_answers: dict[str, float] = field(default_factory=dict)
    curves: dict[str, list[float]] = field(default_factory=dict)
    survived: bool | None = None
    trace: list[tuple[float, float]] = field(default_factory=list)
    failure: Failure | None = None


def measure_outcome(window: Window) -> TrialOutcome:
    """Measure and judge what a trial left."""
    procedure = window.spec.procedure
    components = component_results(window)
    measurement = measure_trial(window, components)
    return TrialOutcome(
        measurement=measurement,
        checks=judge(measurement, window.spec),
        steady=measurement.steady,
        latency={} if window.spec.in_turns else window.recorded.latency(),
        components=components,
        first_answers=first_answers(window) if procedure == "start-up" else {},
        curves=curves(window) if procedure == "ramp-up" else {},
        survived=survival_of(window.run.survived, measurement),
        trace=trace(window) if procedure in ("steady", "survive") else [],
    )


def trace(window: Window) -> list[tuple[float, float]]:
    """Throughput per second from the end of the ramp to the end of the measurement."""
    rates = window.rates(window.run.ramp_end, window.end)
    return [(round(second, 1), round(rate, 1)) for second, rate in rates]


def facts_of(
    started: Mapping[str, StartedComponent], gc_logs: Mapping[str, GcLog], caches: Mapping[str, Facts]
) -> Callable[[str], list[Facts]]:
    """What each source says of the settings of a component, by its name.

    Args:
        started: components, with the facts of each.
        gc_logs: by component.
        caches: by server: figures of its class cache, where OpenJ9 can be asked from this host.
    """

    def facts(name: str) -> list[Facts]:
        log = gc_logs.get(name)
        sources = started[name].facts.values() if name in started else ()
        return [*sources, *([gc_log_facts(log.settings)] if log is not None else []), caches.get(name, {})]

    return facts


def _class_caches(run: TrialRun) -> Iterator[tuple[str, JvmIdentity, Path]]:
    """The OpenJ9 servers that run on a JDK of this host and have a class cache, and its folder."""
    for server in run.spec.servers:
        jvm, settings = server.artifact.jvm, server.jvm_settings
        if jvm is None or jvm.kind != "openj9" or server.artifact.image is not None or settings is None:
            continue
        if settings.class_cache == "default":
            yield server.name, jvm, run.deployment.logs(server.name).parent / OWN_CACHE
        elif settings.class_cache != "none":
            yield server.name, jvm, run.deployment.cache(server.kind)
