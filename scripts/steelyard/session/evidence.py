# SPDX-License-Identifier: Apache-2.0
"""What a trial left behind: its samples, the logs of its JVMs, and what its injectors recorded, read from its files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.host.java import shared_cache_stats
from steelyard.jvm.class_cache import OWN_CACHE, cache_figures
from steelyard.jvm.identity import JvmIdentity
from steelyard.jvm.jitserver import JIT_LOG_NAME
from steelyard.jvm.rows import Facts
from steelyard.load.health import Health, read_health
from steelyard.load.histograms import Recorded, read_logs
from steelyard.results.spec import WEIGHED
from steelyard.sampling.gclog import GcLog, read_gc_logs
from steelyard.sampling.jitlog import JitLog, read_jit_logs
from steelyard.sampling.read import Samples
from steelyard.session.deploying import Started
from steelyard.session.flight import Flight


@dataclass
class Evidence:
    """What a trial left behind, and the window in which it counts."""

    flight: Flight
    started: Mapping[str, Started]
    samples: Samples
    gc_logs: Mapping[str, GcLog]
    """By component; without those that have none."""
    recorded: Recorded
    """What the injectors recorded in the window."""
    whole: Recorded
    """And in all."""
    health: Health
    jit_logs: Mapping[str, JitLog] = field(default_factory=dict)
    """By server; of those alone that compile in a JITServer."""
    caches: Mapping[str, Facts] = field(default_factory=dict)
    """By server: figures of its class cache, where OpenJ9 can be asked from this host."""

    def __post_init__(self) -> None:
        self.spec = self.flight.spec
        self.start, self.end = self.flight.window
        """Epoch seconds."""
        self.seconds = self.end - self.start


def gather(flight: Flight) -> Evidence:
    """Read what a trial left."""
    folders = list(flight.injectors.folders.values())
    logs = [folder / "latency.hlog" for folder in folders]
    found = {
        one.name: sorted(flight.deployment.logs(one.name).glob("gc*.log*"))
        for one in flight.spec.of(*WEIGHED)
    }
    samples = Samples.load(flight.folder / "samples")
    for name, at in flight.killed.items():
        samples = samples.ended(name, at, flight.window[1] + 1.0)
    return Evidence(
        flight,
        flight.deployed.started,
        samples,
        {
            name: read_gc_logs(paths, flight.deployed.started[name].running.started)
            for name, paths in found.items()
            if paths and name in flight.deployed.started
        },
        read_logs(logs, *flight.window),
        read_logs(logs),
        read_health(folders, *flight.window),
        jit_logs={
            one.name: read_jit_logs(
                flight.deployment.logs(one.name).glob(f"{JIT_LOG_NAME}*"), started.running.started
            )
            for one in (flight.spec.servers if flight.spec.of("compiler") else ())
            if (started := flight.deployed.started.get(one.name)) is not None
        },
        caches={
            name: cache_figures(shared_cache_stats(jvm.home, folder))
            for name, jvm, folder in _class_caches(flight)
        },
    )


def _class_caches(flight: Flight) -> Iterator[tuple[str, JvmIdentity, Path]]:
    """The OpenJ9 servers that run on a JDK of this host and have a class cache, and its folder."""
    for one in flight.spec.servers:
        jvm, settings = one.artifact.jvm, one.jvm_settings
        if jvm is None or jvm.kind != "openj9" or one.artifact.image is not None or settings is None:
            continue
        if settings.class_cache == "default":
            yield one.name, jvm, flight.deployment.logs(one.name).parent / OWN_CACHE
        elif settings.class_cache != "none":
            yield one.name, jvm, flight.deployment.cache(one.kind)
