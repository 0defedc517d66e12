# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ARG002 - what is not needed here is in the protocols
"""An engine, its components, the sampler and the time of a trial, all in this process: a whole session in a moment.

Time passes only when somebody sleeps, so windows can have any length and the load of the host plays no part. Components
answer over real HTTP; what the sampler and the injectors leave is written as they write it, each second. What goes
wrong is said beforehand (`World.deaths`, `Recorder.interrupt`).
"""

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from fake_clock import FakeClock
from fake_site import READY_AFTER, Site
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogWriter

from steelyard.engines import readiness
from steelyard.engines.base import HttpAccess, Running
from steelyard.measure.thread_groups import GROUPS
from steelyard.processes import Children
from steelyard.results.failure import NOT_STOPPED, Failure
from steelyard.results.schema import Phase, Planned, Trial
from steelyard.results.spec import Component, Spec
from steelyard.sampling.columns import COLUMNS
from steelyard.spec.agreement import requested_settings
from steelyard.units import MIB

GC_LOG = Path(__file__).parent / "fixtures" / "gc" / "hotspot17-parallel.txt"
SERVER_CORES, COMPILER_CORES, INJECTOR_CORES = 0.5, 0.2, 0.1
"""Cores that each uses."""
WRITES_CACHE = ("-XX:ArchiveClassesAtExit=", "-XX:AOTCacheOutput=", "-Xshareclasses:name=")
READS_CACHE = ("-XX:SharedArchiveFile=", "-XX:AOTCache=")


@dataclass
class World:
    """What all trials have in common, and what happens in them."""

    clock: FakeClock = field(default_factory=FakeClock)
    throughput: Callable[[Spec], float] = lambda _spec: 100.0
    """Requests/s that the servers of a spec serve together."""
    warmth: Callable[[float], float] = lambda seconds: seconds
    """Seconds of load -> seconds' worth of requests that were served in them."""
    compiling: float = 0.0
    """Seconds of load in which half of the servers' CPU is the JIT's."""
    latency: Callable[[Spec], float] = lambda _spec: 2e-6
    """Seconds that each request takes; long ones make histograms that take long to read."""
    answers: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By path: what loaders and checks answer."""
    info: dict[str, Any] = field(default_factory=dict)
    """Overrides what servers say of themselves."""
    told: dict[str, int | str | None] = field(default_factory=dict)
    """Overrides what tells of the settings of servers, which is else what was asked for; None: nothing tells it."""
    deaths: dict[str, tuple[str, float]] = field(default_factory=dict)
    """By folder of the trial: component that dies, and after how many seconds under load (0: at its start)."""
    jit_log: str = ""
    """What the JIT of a server that has a JITServer logs."""
    writes_data: bool = True
    """Whether components that keep data have written it when they end."""
    starved: bool = False
    """Whether what dies does so for want of memory."""
    faults: float = 0.0
    """Major page faults a second of each server that has a memory limit, which it has reached."""
    ready_after: float = READY_AFTER
    """Seconds from the start of a component to its first good answer."""
    kills: set[str] = field(default_factory=set)
    """Folders of runs whose servers do not end by themselves and are killed."""
    silent: set[str] = field(default_factory=set)
    """Files of the sampler that it does not write."""
    deployments: list["FakeDeployment"] = field(default_factory=list)
    checked: int = 0
    daemons: list[int] = field(default_factory=list)
    """Processes by which an engine is there."""

    def __post_init__(self) -> None:
        self.clock.each_second = self._each_second
        self.clock.before_sleep = self._look

    @property
    def current(self) -> "FakeDeployment | None":
        return self.deployments[-1] if self.deployments and not self.deployments[-1].closed else None

    def start_level(self, seed: int, sd: float) -> float:
        """Level of the newest start, about 1, drawn by the number of the start."""
        return float(1 + np.random.default_rng([seed, len(self.deployments)]).normal(0, sd))

    def observe(
        self, running: Running, info: Mapping[str, Any], granted: object = None
    ) -> dict[str, dict[str, int | str]]:
        """Stands in for what asks the JVM and the kernel, for which there is no process here."""
        told = {"heap": 64 * MIB, **requested_settings(running.component), **self.told}
        told["processors"] = info.get("availableProcessors", told["processors"])
        return {"options": {name: value for name, value in told.items() if value is not None}}

    def _look(self) -> None:
        if self.current is not None:
            self.current.look()

    def _each_second(self) -> None:
        if self.current is not None:
            self.current.second()


class FakeEngine:
    """Opens deployments of a world."""

    def __init__(self, world: World) -> None:
        self.world = world

    def check(self, specs: Sequence[Spec]) -> None:
        self.world.checked += len(specs)

    def daemons(self) -> list[int]:
        return self.world.daemons

    def open(self, spec: Spec, directory: Path) -> "FakeDeployment":
        (directory / "replay" / "deployment.sh").write_text("#!/bin/sh\n", encoding="utf-8")
        deployment = FakeDeployment(self.world, spec, directory)
        self.world.deployments.append(deployment)
        return deployment


class FakeDeployment(HttpAccess):
    """The components of one trial."""

    contained = remote = False
    asked_before_start = True

    def __init__(self, world: World, spec: Spec, directory: Path) -> None:
        self.world, self.spec, self.directory = world, spec, directory
        self.sites: dict[str, Site] = {}
        self.up: dict[str, tuple[Component, float]] = {}
        """Component and start by name."""
        self.codes: dict[str, int] = {}
        self.starts: list[list[str]] = []
        self.stops: list[str] = []
        self.caches_seen: dict[str, list[str]] = {}
        """What the caches held when a server that reads them was started."""
        self.data_seen: dict[str, list[str]] = {}
        """What a component that keeps data was started with."""
        self.load_from: float | None = None
        self.sampling = False
        self.closed = False
        self._recorded: dict[str, list[tuple[float, float, dict[str, int]]]] = {}

    # --- the protocol

    def ask(
        self, component: Component, path: str, timeout: float, on_line: Callable[[str], None] | None = None
    ) -> tuple[int, bytes] | None:
        site = self.sites.get(component.name)  # which has another port than the spec's
        return readiness.get(site.server_port, path, timeout, on_line) if site is not None else None

    def serves(self, component: Component) -> bool:
        """Without HTTP: it is asked hundreds of times in a start."""
        site = self.sites.get(component.name)
        if site is None:
            return component.port is None
        return component.ready.path is None or site.answer(component.ready.path)[0] == component.ready.status

    def fetch(self, name: str) -> None:
        """Files are here."""

    def start(self, components: Sequence[Component]) -> None:
        self.starts.append([one.name for one in components])
        for one in components:
            self.up[one.name] = (one, self.world.clock.time())
            self.codes.pop(one.name, None)
            self.logs(one.name).mkdir(parents=True, exist_ok=True)
            if one.jvm_settings is not None and one.jvm_settings.gc_log:
                (self.logs(one.name) / "gc.log").write_bytes(GC_LOG.read_bytes())
            if any(option.startswith("-Xjit:verbose") for option in one.jvm_options):
                log, now = self.logs(one.name) / "jit.log.20260101.1", self.world.clock.time()
                log.write_text(self.world.jit_log, encoding="utf-8")
                os.utime(log, (now, now))
            if one.port is not None:
                self.sites[one.name] = Site(one, self.world)
            if one.role == "injector":
                (self.logs(one.name) / "ready").touch()
                self._recorded[one.name] = []
            if one.role == "server" and any(option.startswith(READS_CACHE) for option in one.jvm_options):
                self.caches_seen[one.name] = [path.name for path in self.cache(one.kind).iterdir()]
            if one.data is not None:
                found = Path(one.data_from).iterdir() if one.data_from is not None else ()
                self.data_seen[one.name] = [path.name for path in found]
            if self._death() == (one.name, 0.0):
                self._end(one.name, 1)

    def started_components(self) -> list[Running]:
        return [Running(one, [os.getpid()], started) for one, started in self.up.values()]

    def failure(self, name: str) -> str | None:
        code = self.exit_code(name)
        return f"{name} ended with exit code {code}" if code else None

    def out_of_memory(self) -> bool:
        return self.world.starved and bool(self.codes)

    def overhead(self) -> list[int]:
        return []

    def require_programs(self) -> None:
        """They are always there."""

    def exit_code(self, name: str) -> int | None:
        if name in self.codes or name not in self._recorded:
            return self.codes.get(name)
        folder, now = self.logs(name), self.world.clock.time()
        component = self.up[name][0]
        probe = component.settings["model"] == "probe"
        if (folder / "stop").exists() or (probe and self.load_from is not None and now >= self._answered()):
            self._interval(name, math.floor(now), now)
            self._write_injector(name)
            self.codes[name] = 0
        return self.codes.get(name)

    def stop(self, names: Iterable[str] | None = None, grace: float = 20.0) -> list[Failure]:
        for name in list(self.up) if names is None else [name for name in names if name in self.up]:
            component, _ = self.up.pop(name)
            self._end(name, 0)
            self.stops.append(name)
            if any(option.startswith(WRITES_CACHE) for option in component.jvm_options):
                (self.cache(component.kind) / "classes").write_text("x", encoding="utf-8")
            if component.data is not None and self.world.writes_data:
                kept = self.directory / "servers" / name / component.data
                kept.mkdir(parents=True, exist_ok=True)
                (kept / "rows").write_text("x", encoding="utf-8")
        if self.directory.name not in self.world.kills:
            return []
        servers = [name for name in self.stops if name.startswith("server")]
        return [
            Failure(component=name, cause=NOT_STOPPED, detail=f"{name} did not stop and was killed")
            for name in servers
        ]

    def kill(self, name: str) -> None:
        del self.up[name]
        self._end(name, 0)

    def close(self) -> None:
        if not self.closed:
            self.stop()
        self.closed = True

    def logs(self, name: str) -> Path:
        injector = self.spec.component(name).role == "injector"
        return self.directory / ("load" if injector else "servers") / name

    def cache(self, kind: str) -> Path:
        folder = self.directory / "cache" / kind
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    # --- what happens meanwhile

    def look(self) -> None:
        """Whether the injectors have been let go, and whether somebody has to die."""
        now = self.world.clock.time()
        if self.load_from is None and any((self.logs(name) / "start").exists() for name in self._recorded):
            self.load_from = now
        name, after = self._death()
        if self.load_from is not None and name in self.up and 0 < after <= now - self.load_from:
            self._end(name, 137)

    def second(self) -> None:
        """A second has ended."""
        now = self.world.clock.time()
        for name in self._recorded:
            if name in self.up and name not in self.codes:
                self._interval(name, now - 1.0, now)
        self.sample()

    def sample(self) -> None:
        """One sample of everything, as the sampler writes it."""
        if not self.sampling:
            return
        now, folder = self.world.clock.time(), self.directory / "samples"
        age = now - self.world.clock.epoch
        rows: dict[str, list[str]] = {name: [] for name in COLUMNS}
        used = 0.0
        for name, (one, _) in self.up.items():
            cores = {"server": SERVER_CORES, "compiler": COMPILER_CORES}.get(one.role, INJECTOR_CORES)
            used += cores
            rows["processes"].append(
                f"{now},{name},{cores * age},0,{10**8},{9 * 10**7},{10 * age},"
                f"{self.world.faults * age * (one.role == 'server')},{age},{age},30,{0.1 * age},1,0"
            )
            if (limit := one.memory_bytes) is not None:
                rows["cgroups"].append(f"{now},{name},{cores * age},0,0,0,{limit},{limit},{limit},0,")
            if one.role == "compiler":
                spent = {"jit": age}
                rows["threads"] += _thread_rows(now, name, {g: cores * spent.get(g, 0.0) for g in GROUPS})
            if one.role == "server":
                under_load = now - self.load_from if self.load_from is not None else 0.0
                jit = 0.5 * min(under_load, self.world.compiling)
                spent = {"request": 0.9 * age - jit, "gc": 0.1 * age, "jit": jit}
                rows["threads"] += _thread_rows(now, name, {g: cores * spent.get(g, 0.0) for g in GROUPS})
                if name in self.sites:
                    count = self._requests(now) / len(self.spec.servers) + self.sites[name].own_requests
                    rows["counters"].append(f"{now},{name},all,{count},0,{0.001 * count}")
        rows["processes"].append(f"{now},harness,{0.001 * age},0,{10**7},{10**7},0,0,0,0,1,,1,0")
        rows["host"].append(f"{now},{self.world.clock.monotonic()},{used * age},0,{(2 - used) * age},0")
        rows["cpus"] += [f"{now},{cpu},{used * age / 2},0,0,0,0,{(1 - used / 2) * age}" for cpu in range(2)]
        folder.mkdir(exist_ok=True)
        for name, lines in rows.items():
            if name not in self.world.silent:
                path = folder / f"{name}.csv"
                head = [] if path.exists() else [COLUMNS[name]]
                with path.open("a", encoding="utf-8") as file:
                    file.write("".join(f"{line}\n" for line in [*head, *lines]))

    def _death(self) -> tuple[str, float]:
        return self.world.deaths.get(self.directory.name, ("", 0.0))

    def _end(self, name: str, code: int) -> None:
        self.codes.setdefault(name, code)
        site = self.sites.pop(name, None)
        if site is not None:
            site.end()

    def _answered(self) -> float:
        """When the servers have answered every operation."""
        ready = [
            self.sites[one.name].ready_at if one.name in self.sites else math.inf for one in self.spec.servers
        ]
        return max(ready) + 0.2

    def _requests(self, until: float) -> int:
        """Requests that all injectors together have ended by then."""
        seconds = until - self.load_from if self.load_from is not None else 0.0
        return math.floor(self.world.warmth(max(0.0, seconds)) * self.world.throughput(self.spec) + 1e-6)

    def _interval(self, name: str, start: float, end: float) -> None:
        """What an injector recorded in (part of) a second."""
        component = self.up[name][0]
        if self.load_from is None or end <= start or component.settings["model"] == "probe":
            return
        number = [one.name for one in self.spec.injectors].index(name)
        grown = self._requests(end) - self._requests(start)
        each, rest = divmod(grown, len(self.spec.injectors))
        counts = _spread(each + (number < rest), self.spec.mix, self._recorded[name])
        self._recorded[name].append((start, end, counts))
        outcomes = {
            ratio.count: round(counts.get(ratio.per, 0) * (ratio.low + ratio.high) / 2)
            for ratio in self.spec.ratios
            if ratio.count not in self.spec.mix
        }
        line: dict[str, float] = {
            "epochMillis": round(end * 1000),
            "requests": sum(counts.values()),
            "late": 0,
            "dropped": 0,
            "memoryShare": 0.1,
        }
        if self.spec.load.users is not None:
            line["userSeconds"] = self.spec.load.users / len(self.spec.injectors) * (end - start)
        with (self.logs(name) / "health.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({**line, "outcomes": outcomes}) + "\n")

    def _write_injector(self, name: str) -> None:
        """What it leaves at its end: histograms and summary."""
        folder, nanoseconds = self.logs(name), round(self.world.latency(self.spec) * 1e9)
        with (folder / "latency.hlog").open("w", encoding="utf-8") as file:
            writer = HistogramLogWriter(file)
            writer.output_log_format_version()
            file.write(f"#[StartTime: {self.world.clock.epoch:.3f} (seconds since epoch)]\n")
            writer.output_legend()
            for start, end, counts in self._recorded[name]:
                for operation, count in counts.items():
                    histogram = HdrHistogram(1, 120_000_000_000, 3)
                    histogram.record_value(nanoseconds, count)
                    histogram.set_start_time_stamp(start * 1000)
                    histogram.set_end_time_stamp(end * 1000)
                    file.write(f"Tag={operation},")
                    writer.output_interval_histogram(histogram)
        answered = dict.fromkeys(self.spec.mix, (self._answered() if self.sites else 0.0) * 1000)
        summary = {"firstAnswers": answered, "abandonedRequests": 0}
        (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")


def _thread_rows(now: float, name: str, spent: Mapping[str, float]) -> list[str]:
    """CPU seconds by group; no thread waits for a CPU."""
    return [f"{now},{name},{group},{used},0,{used}" for group, used in spent.items()]


def _spread(
    count: int, mix: Mapping[str, float], before: Sequence[tuple[float, float, dict[str, int]]]
) -> dict[str, int]:
    """Requests by operation such that all so far come as near to the mix as whole numbers can."""
    so_far = dict.fromkeys(mix, 0)
    for _, _, counts in before:
        for operation, number in counts.items():
            so_far[operation] += number
    total = sum(so_far.values()) + count
    found: dict[str, int] = {}
    left = count
    for operation in sorted(mix, key=lambda one: so_far[one] - mix[one] * total):
        found[operation] = min(left, max(0, round(mix[operation] * total) - so_far[operation]))
        left -= found[operation]
    found[max(mix, key=lambda one: mix[one])] += left
    return {operation: number for operation, number in found.items() if number}


class FakeSampler:
    """The process of the sampler, which lives in the world."""

    pid = 0

    def __init__(self, deployment: FakeDeployment) -> None:
        self.deployment = deployment
        deployment.sampling = True
        deployment.sample()

    def exit_code(self) -> int | None:
        return None if self.deployment.sampling else 0

    def describe_end(self) -> str:
        return "sampler ended with exit code 0"


class FakeChildren(Children):
    """Starts nothing but the sampler of a world; keeps what it would tell its guard."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.told: list[str] = []

    def spawn(self, name: str, command: Sequence[str], **_: Any) -> Any:
        assert name == "sampler"
        assert self.world.current is not None
        return FakeSampler(self.world.current)

    def stop(self, children: Sequence[Any], grace: float) -> None:
        for child in children:
            if child.deployment.sampling:
                ended = [name for name in child.deployment.stops if name.startswith("injector")]
                assert not ended, f"{ended} can no longer be read: what they used last would be CPU of others"
                child.deployment.sample()
                child.deployment.sampling = False

    def _tell_guard(self, line: str) -> None:
        self.told.append(line.partition(" ")[0].strip())


@dataclass
class Recorder:
    """A watcher that keeps what it was told, and sends Ctrl-C where it was asked to."""

    interrupt: Callable[[Planned, Phase], bool] = lambda _planned, _phase: False
    planned: list[Planned] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)
    loading: list[str] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    ended: list[Trial] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    totals: list[tuple[int, int]] = field(default_factory=list)

    def trial_started(self, planned: Planned, done: int, total: int) -> None:
        self.planned.append(planned)
        self.totals.append((done, total))

    def phase(self, phase: Phase, seconds: float | None) -> None:
        self.phases.append(phase)
        if self.planned and self.interrupt(self.planned[-1], phase):
            raise KeyboardInterrupt

    def progress(self, text: str) -> None:
        self.loading.append(text)

    def throughput(self, rate: float) -> None:
        self.rates.append(rate)

    def trial_ended(self, trial: Trial, done: int, total: int) -> None:
        self.ended.append(trial)

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)
