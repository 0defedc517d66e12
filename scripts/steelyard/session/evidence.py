# SPDX-License-Identifier: Apache-2.0
"""What a trial left behind: its samples, the logs of its JVMs, and what its injectors recorded, read from its files."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from steelyard.host.java import shared_cache_stats
from steelyard.jvm.class_cache import OWN_CACHE, cache_figures
from steelyard.jvm.identity import JvmIdentity
from steelyard.jvm.jitserver import JIT_LOG_NAME
from steelyard.jvm.rows import Facts
from steelyard.measure.gc_log import GcLog, read_gc_logs
from steelyard.measure.health import read_health
from steelyard.measure.histograms import read_logs
from steelyard.measure.jit_log import read_jit_logs
from steelyard.measure.samples import Samples
from steelyard.measure.window import Window
from steelyard.results.spec import MEASURED_ROLES
from steelyard.session.deploying import Started
from steelyard.session.flight import Flight
from steelyard.session.readback import logged


def gather(flight: Flight) -> Window:
    """Read what a trial left."""
    folders = list(flight.injectors.folders.values())
    logs = [folder / "latency.hlog" for folder in folders]
    paths_of = {
        component.name: sorted(flight.deployment.logs(component.name).glob("gc*.log*"))
        for component in flight.spec.of(*MEASURED_ROLES)
    }
    samples = Samples.load(flight.folder / "samples")
    for name, at in flight.killed.items():
        samples = samples.ended(name, at, flight.window[1] + 1.0)
    started = flight.deployed.started
    gc_logs = {
        name: read_gc_logs(paths, started[name].running.started)
        for name, paths in paths_of.items()
        if paths and name in started
    }
    caches = {
        name: cache_figures(shared_cache_stats(jvm.home, folder))
        for name, jvm, folder in _class_caches(flight)
    }
    return Window(
        flight,
        started,
        samples,
        gc_logs,
        read_logs(logs, *flight.window),
        read_logs(logs),
        read_health(folders, *flight.window),
        jit_logs={
            server.name: read_jit_logs(
                flight.deployment.logs(server.name).glob(f"{JIT_LOG_NAME}*"),
                started[server.name].running.started,
            )
            for server in (flight.spec.servers if flight.spec.of("compiler") else ())
            if server.name in started
        },
        facts=facts_of(started, gc_logs, caches),
    )


def facts_of(
    started: Mapping[str, Started], gc_logs: Mapping[str, GcLog], caches: Mapping[str, Facts]
) -> Callable[[str], list[Facts]]:
    """What each source tells of the settings of a component, by its name.

    Args:
        started: components, with what tells of them.
        gc_logs: by component.
        caches: by server: figures of its class cache, where OpenJ9 can be asked from this host.
    """

    def facts(name: str) -> list[Facts]:
        log = gc_logs.get(name)
        told = started[name].told.values() if name in started else ()
        return [*told, *([logged(log.settings)] if log is not None else []), caches.get(name, {})]

    return facts


def _class_caches(flight: Flight) -> Iterator[tuple[str, JvmIdentity, Path]]:
    """The OpenJ9 servers that run on a JDK of this host and have a class cache, and its folder."""
    for server in flight.spec.servers:
        jvm, settings = server.artifact.jvm, server.jvm_settings
        if jvm is None or jvm.kind != "openj9" or server.artifact.image is not None or settings is None:
            continue
        if settings.class_cache == "default":
            yield server.name, jvm, flight.deployment.logs(server.name).parent / OWN_CACHE
        elif settings.class_cache != "none":
            yield server.name, jvm, flight.deployment.cache(server.kind)
