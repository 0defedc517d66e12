# SPDX-License-Identifier: Apache-2.0
"""From the files of a trial to its figures: what the ledger judges, the metrics, and each server's share."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.analysis.mix import settling_mix
from steelyard.engines.base import RunningBacking, RunningServer
from steelyard.experiment.matrix import Arm
from steelyard.experiment.schema import Load
from steelyard.experiment.workloads import WORKLOADS, Kind
from steelyard.load.histograms import Recorded, read_logs
from steelyard.results.schema import (
    CgroupResult,
    InstanceResult,
    Latency,
    RatioResult,
    TopologyRecord,
    TrialMeasurement,
)
from steelyard.sampling.gclog import GcLog, GcTotals
from steelyard.sampling.groups import GROUPS
from steelyard.sampling.read import Samples
from steelyard.session.readback import differences
from steelyard.units import MIB


@dataclass(frozen=True)
class Evidence:
    """What a trial left behind, and the window in which it counts."""

    arm: Arm
    workload: str
    topology: TopologyRecord
    servers: Sequence[RunningServer]
    backing: Sequence[RunningBacking]
    samples: Samples
    gc_logs: Mapping[str, GcLog]
    """By server; empty without GC logs."""
    injector_folders: Sequence[Path]
    start: float
    end: float
    """Measurement window, epoch seconds."""
    ramp_end: float
    expected_build: str
    restarts: list[str]
    injector_failures: list[str]
    throttled: float | None
    steady: bool
    steady_detail: str

    @property
    def seconds(self) -> float:
        """Length of the measurement window."""
        return self.end - self.start

    @property
    def names(self) -> list[str]:
        """Names of the servers."""
        return [server.name for server in self.servers]

    @property
    def latency_logs(self) -> list[Path]:
        """Interval logs that the injectors wrote."""
        logs = [folder / "latency.hlog" for folder in self.injector_folders]
        return [path for path in logs if path.exists()]


def backing_processes(backing: RunningBacking) -> list[tuple[str, int]]:
    """Name and process id of each process of a database or proxy, as the sampler knows them."""
    return [
        (backing.name if index == 0 else f"{backing.name}:{index}", pid)
        for index, pid in enumerate(backing.pids)
    ]


def instance_results(evidence: Evidence) -> list[InstanceResult]:
    """What each server did in the window."""
    samples, start, end = evidence.samples, evidence.start, evidence.end
    requests = samples.requests(start, end)
    results = []
    for server in evidence.servers:
        counts = requests.get(server.name, {}).values()
        served = sum(count.requests for count in counts)
        memory = samples.memory([server.name], start, end)
        pauses = _pauses(evidence, server.name)
        group = samples.cgroup(server.name, start, end)
        results.append(
            InstanceResult(
                name=server.name,
                requests=round(served),
                errors=round(sum(count.errors for count in counts)),
                throughput=served / evidence.seconds,
                rss_mean=memory.rss_mean or 0.0,
                rss_peak=memory.rss_peak or 0.0,
                pss_mean=memory.pss_mean,
                cpu_seconds=samples.cpu_seconds(server.name, start, end) or 0.0,
                # The remainder `other` is a difference of ticks read at different moments: barely below 0 is 0.
                cpu_by_group={
                    group: max(0.0, seconds)
                    for group, seconds in samples.cpu_by_group(server.name, start, end).items()
                },
                start_seconds=server.start_seconds,
                ready_message_seconds=server.ready_message_seconds,
                gc_count=pauses.pauses if pauses else 0,
                gc_pause_seconds=pauses.pause_seconds if pauses else 0.0,
                gc_pause_max=pauses.pause_max if pauses else None,
                cgroup=CgroupResult(**group._asdict()) if group is not None else None,
            )
        )
    return results


def recorded_in_window(evidence: Evidence) -> Recorded:
    """What the injectors recorded in the measurement window."""
    return read_logs(evidence.latency_logs, evidence.start, evidence.end)


def measure(evidence: Evidence, window: Recorded, instances: Sequence[InstanceResult]) -> TrialMeasurement:
    """The raw figures that the ledger judges."""
    samples, start, end = evidence.samples, evidence.start, evidence.end
    whole = read_logs(evidence.latency_logs)
    last = [count for counts in samples.last_counters().values() for count in counts.values()]
    budget = evidence.topology.server_cores * evidence.seconds
    load = evidence.arm.load
    other = samples.busiest_other(start, end)
    achieved = _achieved_mix(window)
    kind = WORKLOADS[evidence.workload].kinds[evidence.topology.topology]
    return TrialMeasurement(
        measure_seconds=evidence.seconds,
        # Servers count the harness's own requests, which loaded the data, like any other.
        server_requests=round(sum(count.requests for count in last)) - len(kind.prepare),
        server_errors=round(sum(count.errors for count in last)),
        injector_requests=whole.requests,
        injector_errors=sum(whole.errors.values()),
        window_server_rate=sum(instance.throughput for instance in instances),
        window_injector_rate=window.requests / evidence.seconds,
        injector_cpu_share=_injector_share(evidence),
        late_share=_late_share(evidence),
        target_rate=load.rate,
        mix_intended=_intended_mix(evidence.arm.load, kind, achieved),
        mix_achieved=achieved,
        ratios=_ratios(kind, {**window.counts(), **_outcomes(evidence)}),
        throttled_seconds=_throttled(evidence, instances),
        steal_share=samples.steal_share(start, end) or 0.0,
        other_cpu_share=other.share if other else 0.0,
        restarts=evidence.restarts + _killed_for_memory(instances),
        wrong_builds=[
            f"{server.name} reports build {server.info.get('build')!r}, expected {evidence.expected_build!r}"
            for server in evidence.servers
            if server.info.get("build") != evidence.expected_build
        ],
        settings_differ=_settings_differ(evidence),
        clock_step_seconds=samples.clock_step(start, end),
        injector_failures=evidence.injector_failures,
        steady=evidence.steady,
        steady_detail=evidence.steady_detail,
        jit_share=sum(instance.cpu_by_group.get("jit", 0.0) for instance in instances) / budget,
    )


def metrics(
    evidence: Evidence, measured: TrialMeasurement, instances: Sequence[InstanceResult], overall: Latency
) -> dict[str, float]:
    """Summary figures by metric name; a figure that could not be measured is left out (docs/metrics.md)."""
    rate, seconds = measured.window_server_rate, evidence.seconds
    thousands = rate * seconds / 1000
    memory = evidence.samples.memory(evidence.names, evidence.start, evidence.end)
    cpu = sum(instance.cpu_seconds for instance in instances)
    found: dict[str, float | None] = {
        "throughput": rate,
        "memory_rss": memory.rss_mean,
        "memory_pss": memory.pss_mean,
        "memory_rss_peak": memory.rss_peak,
        "requests_per_core_second": rate / evidence.topology.server_cores,
        "requests_per_gib": rate / (memory.rss_mean / (1024 * MIB)) if memory.rss_mean else None,
        "latency_mean": overall.mean,
        "latency_p50": overall.p50,
        "latency_p90": overall.p90,
        "latency_p99": overall.p99,
        "start_time": max(instance.start_seconds for instance in instances),
        "error_share": overall.errors / max(overall.requests + overall.errors, 1),
        **_gc_metrics(evidence, instances),
        **_cgroup_metrics(instances, thousands),
    }
    if thousands > 0:
        found["cpu_per_1k"] = cpu / thousands
        found.update(_backing_metrics(evidence, cpu, thousands))
        for group in GROUPS:
            spent = sum(instance.cpu_by_group.get(group, 0.0) for instance in instances)
            found[f"cpu_per_1k_{group}"] = spent / thousands
        found.update(_kernel_metrics(evidence, thousands))
    return {name: float(value) for name, value in found.items() if value is not None}


def trace(evidence: Evidence) -> list[tuple[float, float]]:
    """Server-side throughput per second from the end of the ramp to the end of the measurement."""
    rates = evidence.samples.request_rate(evidence.ramp_end, evidence.end)
    return [(round(second, 1), round(rate, 1)) for second, rate in rates]


def _pauses(evidence: Evidence, server: str) -> GcTotals | None:
    log = evidence.gc_logs.get(server)
    return log.totals(evidence.start, evidence.end) if log is not None else None


def _backing_cpu(evidence: Evidence, kind: str | None = None) -> float:
    """CPU seconds of databases and proxy, or of one of these kinds, in the window."""
    return sum(
        evidence.samples.cpu_seconds(name, evidence.start, evidence.end) or 0.0
        for backing in evidence.backing
        if kind is None or backing.kind == kind
        for name, _ in backing_processes(backing)
    )


def _backing_metrics(evidence: Evidence, servers: float, thousands: float) -> dict[str, float | None]:
    """What stands beside the servers; nothing where there is nothing."""
    if not evidence.backing:
        return {}
    kinds = {backing.kind for backing in evidence.backing}
    calls = evidence.samples.service_calls(evidence.start, evidence.end)
    return {
        "cpu_per_1k_database": _backing_cpu(evidence, "database") / thousands
        if "database" in kinds
        else None,
        "cpu_per_1k_proxy": _backing_cpu(evidence, "proxy") / thousands if "proxy" in kinds else None,
        "cpu_per_1k_system": (servers + _backing_cpu(evidence)) / thousands,
        "service_calls_per_1k": calls / thousands if calls is not None else None,
    }


def _gc_metrics(evidence: Evidence, instances: Sequence[InstanceResult]) -> dict[str, float | None]:
    if not evidence.gc_logs:
        return {}
    longest = [instance.gc_pause_max for instance in instances if instance.gc_pause_max is not None]
    return {
        "gc_per_second": sum(instance.gc_count for instance in instances) / evidence.seconds,
        "gc_pause_share": (
            sum(instance.gc_pause_seconds for instance in instances) / (evidence.seconds * len(instances))
        ),
        "gc_pause_max": max(longest) * 1000 if longest else None,
    }


def _kernel_metrics(evidence: Evidence, thousands: float) -> dict[str, float | None]:
    faults = switches = 0.0
    switches_known = True
    for name in evidence.names:
        counted = evidence.samples.faults(name, evidence.start, evidence.end)
        faults += counted.minor + counted.major if counted is not None else 0.0
        changed = evidence.samples.switches(name, evidence.start, evidence.end)
        if changed is None:
            switches_known = False
        else:
            switches += changed.voluntary + changed.involuntary
    return {
        "faults_per_1k": faults / thousands,
        "switches_per_1k": switches / thousands if switches_known else None,
    }


def _killed_for_memory(instances: Sequence[InstanceResult]) -> list[str]:
    """Containers in which the kernel killed something, be it not the server itself."""
    return [
        f"the kernel killed a process in the container of {instance.name} for want of memory"
        for instance in instances
        if instance.cgroup is not None and instance.cgroup.oom_kills
    ]


def _throttled(evidence: Evidence, instances: Sequence[InstanceResult]) -> float | None:
    """Of the servers' containers where they have some (our own group is not theirs), else of our own group."""
    groups = [instance.cgroup for instance in instances if instance.cgroup is not None]
    return _sum(group.throttled_seconds for group in groups) if groups else evidence.throttled


def _cgroup_metrics(instances: Sequence[InstanceResult], thousands: float) -> dict[str, float | None]:
    """Sums over the servers' containers; nothing unless every server has one."""
    groups = [instance.cgroup for instance in instances if instance.cgroup is not None]
    if not groups or len(groups) < len(instances):
        return {}
    shares = [group.throttled_share for group in groups if group.throttled_share is not None]
    return {
        "cgroup_cpu_per_1k": sum(group.cpu_seconds for group in groups) / thousands
        if thousands > 0
        else None,
        "cgroup_memory": _sum(group.memory_mean for group in groups),
        "cgroup_memory_peak": _sum(group.memory_peak for group in groups),
        "throttled_share": max(shares) if len(shares) == len(groups) else None,
    }


def _sum(values: Iterable[float | None]) -> float | None:
    """None when one of them is not known."""
    known = list(values)
    return sum(value for value in known if value is not None) if None not in known else None


def _injector_share(evidence: Evidence) -> float:
    """CPU of the busiest injector / CPU that it may use.

    Injectors that have CPUs of their own share those, with one another and with the databases: all of them together
    must not fill them.
    """
    allowed = evidence.seconds * len(evidence.topology.injector_cpus)
    used = [
        evidence.samples.cpu_seconds(folder.name, evidence.start, evidence.end) or 0.0
        for folder in evidence.injector_folders
    ]
    if evidence.topology.injectors_share_cores:
        return max(used) / allowed
    return (sum(used) + _backing_cpu(evidence, "database")) / allowed


def _late_share(evidence: Evidence) -> float:
    """Late and dropped arrivals / intended ones, in the window; 0 for a closed model."""
    missed = intended = 0
    for folder in evidence.injector_folders:
        for line in _health_lines(folder / "health.jsonl"):
            if evidence.start < line["epochMillis"] / 1000 - 0.5 <= evidence.end:
                missed += line["late"] + line["dropped"]
                intended += line["requests"] + line["dropped"]
    return missed / intended if intended else 0.0


def _health_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Lines of an injector's health log, each about the second before its time."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:  # cut off when the injector was killed
            continue
        if {"epochMillis", "requests", "late", "dropped"} <= found.keys():
            yield found


def _intended_mix(load: Load, kind: Kind, achieved: Mapping[str, float]) -> dict[str, float]:
    if load.mix is not None:
        return {operation: percent / 100 for operation, percent in load.mix.items()}
    return settling_mix(kind.mix(load.visits_per_login), kind.growing, achieved)


def _ratios(kind: Kind, counts: Mapping[str, int]) -> list[RatioResult]:
    """Ratios of counts, of requests and of outcomes, that show whether the workload did what it should."""
    return [
        RatioResult(
            name=ratio.name,
            value=counts.get(ratio.count, 0) / counts[ratio.per] if counts.get(ratio.per) else None,
            of=counts.get(ratio.per, 0),
            low=ratio.low,
            high=ratio.high,
        )
        for ratio in kind.ratios
    ]


def _outcomes(evidence: Evidence) -> Counter[str]:
    """What answers said, counted by the injectors in the window."""
    found: Counter[str] = Counter()
    for folder in evidence.injector_folders:
        for line in _health_lines(folder / "health.jsonl"):
            if evidence.start < line["epochMillis"] / 1000 - 0.5 <= evidence.end:
                found.update(line.get("outcomes", {}))
    return found


def _achieved_mix(window: Recorded) -> dict[str, float]:
    if not window.requests:
        return {}
    return {name: count / window.requests for name, count in window.counts().items()}


def _settings_differ(evidence: Evidence) -> list[str]:
    by_name = {server.name: server for server in evidence.servers}
    found = []
    for instance in evidence.topology.instances:
        log = evidence.gc_logs.get(instance.name)
        found += differences(
            instance,
            evidence.arm.deployment.jvm,
            log.settings if log is not None else None,
            by_name[instance.name].info,
        )
    return found
