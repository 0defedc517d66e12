# SPDX-License-Identifier: Apache-2.0
"""From what a trial left to its raw figures: what each component did, what the ledger judges, curves and first
answers.

Metrics are not made here: they follow from these figures alone (analysis/metrics.py).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from steelyard.analysis.formulas import over, whole
from steelyard.analysis.ledger import judge
from steelyard.analysis.limits import bounds
from steelyard.analysis.rules import settling_mix
from steelyard.jvm.class_cache import CACHE_FIGURES
from steelyard.jvm.rows import Facts
from steelyard.jvm.settings import MEASURED
from steelyard.load.health import per_second
from steelyard.results.measurement import (
    ComponentResult,
    CycleResult,
    MachineResult,
    RatioResult,
    TimeResult,
    TrialMeasurement,
)
from steelyard.results.spec import WEIGHED, Component, Spec
from steelyard.sampling.gclog import GcLog
from steelyard.sampling.groups import GROUPS
from steelyard.sampling.jitlog import not_remote
from steelyard.sampling.read import Samples
from steelyard.session.deploying import Started
from steelyard.session.evidence import Evidence
from steelyard.session.flight import Flight
from steelyard.session.readback import logged
from steelyard.spec.agreement import differences, shown


def figures(evidence: Evidence) -> dict[str, Any]:
    """All that `trial.json` says of what happened, but for the metrics."""
    flight, procedure = evidence.flight, evidence.spec.procedure
    components = component_results(evidence)
    measured = measure(evidence, components)
    return {
        "measurement": measured,
        "checks": judge(measured, flight.spec),
        "steady": measured.steady,
        "latency": evidence.recorded.latency(),
        "components": components,
        "first_answers": first_answers(evidence) if procedure == "start-up" else {},
        "curves": curves(evidence) if procedure == "ramp-up" else {},
        "survived": survived(flight.survived, measured),
        "trace": trace(evidence) if procedure in ("steady", "survive") else [],
    }


def survived(lived: bool | None, measured: TrialMeasurement) -> bool | None:
    """Whether everything lived to the end of the load: what the harness saw, and what the kernel killed in containers.

    None: the procedure does not ask for it, or it is not known.
    """
    if lived is None or lived is False:
        return lived
    if measured.restarts:
        return False
    return None if measured.unwatched else True


def component_results(evidence: Evidence) -> list[ComponentResult]:
    """What each component did in the window."""
    return [_result(evidence, one) for one in evidence.spec.components]


def measure(evidence: Evidence, components: Sequence[ComponentResult]) -> TrialMeasurement:
    """The raw figures that the ledger judges."""
    samples, flight, start, end = evidence.samples, evidence.flight, evidence.start, evidence.end
    servers = [one for one in components if one.role == "server"]
    counted = whole((one.throughput for one in servers), sum)
    server_errors = whole((one.errors for one in servers), sum)
    last = samples.counted()
    counts = evidence.recorded.counts()
    requests = sum(counts.values())
    shares = {name: count / requests for name, count in counts.items() if requests}
    weighed = [one for one in components if one.role in WEIGHED]
    # Of the servers' containers where the engine has some (our own group is not theirs), else of our own group. That
    # no group could be read does not mean that there is none.
    contained = evidence.spec.engine not in ("process", "synthetic")  # the self-check's simulates processes
    throttled = [one.cgroup.throttled_seconds if one.cgroup else None for one in servers]
    machines = machine_results(evidence)
    gap = samples.longest_gap([one.name for one in evidence.spec.components], start, end)
    memory = samples.memory([one.name for one in weighed], start, end)
    jit = whole((one.cpu_by_group.get("jit") if one.cpu_by_group else None for one in weighed), sum)
    return TrialMeasurement(
        measure_seconds=evidence.seconds,
        # Servers count the harness's own requests, which loaded the data, like any other.
        server_requests=round(last.requests) - _own_requests(evidence) if last else None,
        server_errors=round(last.errors) if last else None,
        injector_requests=evidence.whole.requests,
        injector_errors=sum(evidence.whole.errors.values()),
        injector_messages=evidence.flight.injectors.messages(),
        window_server_rate=counted,
        window_counts_away=samples.counts_away(start, end),
        window_injector_rate=requests / evidence.seconds,
        window_injector_errors=sum(evidence.recorded.errors.values()),
        window_server_errors=None if server_errors is None else round(server_errors),
        injector_cpu_share=_injector_share(evidence, components),
        injector_wait_share=_injector_wait(evidence, components),
        users_in_flight=evidence.health.users if evidence.spec.load.model == "closed" else None,
        late_share=_late_share(evidence),
        target_rate=evidence.spec.load.rate,
        mix_intended=settling_mix(evidence.spec.mix, evidence.spec.growing, shares),
        mix_achieved=shares,
        ratios=_ratios(evidence.spec, {**counts, **evidence.health.outcomes}),
        response_times=_response_times(evidence),
        cycles={
            name: CycleResult(count=count, drawn=drawn / count, actual=actual / count)
            for name, (count, drawn, actual) in evidence.health.cycles.items()
            if count
        },
        throttled_seconds=whole(throttled, sum) if contained else flight.throttled,
        steal_share=samples.steal_share(start, end),
        other_cpu_share=_other_share(evidence, machines),
        sample_gap=whole((gap, evidence.health.gap), max),
        stall_seconds=whole((samples.stall(one.name, start, end) for one in servers), max),
        restarts=[
            *flight.restarts,
            *(
                # Be it not the server itself.
                f"the kernel killed a process in the container of {one.name} for want of memory"
                for one in weighed
                if _kills(evidence, one)
            ),
        ],
        not_stopped=flight.not_stopped,
        unwatched=[
            *(
                f"whether the kernel killed a process in the container of {one.name} was not measured"
                for one in weighed
                if contained and (one.cgroup is None or one.cgroup.oom_kills is None)
            ),
            *flight.unwatched,
        ],
        thrashing=flight.thrashing,
        not_remote=[
            sentence
            for name, log in evidence.jit_logs.items()
            if (
                sentence := not_remote(
                    name, log, killed=bool(flight.killed), kept=flight.spec.keeps_compilers
                )
            )
        ],
        wrong_builds=[
            f"{name} reports build {started.info.get('build')!r}, expected {started.component.artifact.build!r}"
            for name, started in evidence.started.items()
            if started.component.info is not None
            and started.component.artifact.build is not None
            and started.info.get("build") != started.component.artifact.build
        ],
        settings_differ=[
            text
            for name, started in evidence.started.items()
            if started.component.role == "server"
            for text in settings_differ(evidence, started)
        ],
        settings_read=settings_read(servers),
        # By the harness too: the sampler does not see what came before it.
        clock_step_seconds=whole((samples.clock_step(start, end), flight.clock_step()), max),
        machines=machines,
        inconsistent=flight.inconsistent,
        injector_failures=[*flight.injector_failures, *evidence.whole.damaged],
        steady=flight.steady,
        steady_detail=flight.steady_detail,
        jit_share=jit / (len(evidence.spec.weighed_cpus) * evidence.seconds) if jit is not None else None,
        memory_rss=memory["rss_mean"],
        memory_rss_peak=memory["rss_peak"],
        memory_pss=memory["pss_mean"],
        service_calls=samples.service_calls(start, end),
    )


def _kills(evidence: Evidence, component: ComponentResult) -> int:
    """Processes of a component's container that the kernel killed: since it was made, or, where to die is the result,
    under load. What a start loses is then no answer to the load."""
    if component.cgroup is None or not component.cgroup.oom_kills:
        return 0
    if evidence.spec.procedure != "survive":
        return component.cgroup.oom_kills
    return component.cgroup.oom_kills - evidence.samples.oom_kills_before(component.name, evidence.start)


def machine_results(evidence: Evidence) -> list[MachineResult]:
    """What each machine did, where the trial ran in a cluster."""
    return [
        MachineResult(
            name=machine.name,
            components=list(machine.components),
            clock=machine.clock,
            other_cpu_share=over(
                evidence.samples.other_cpu(evidence.start, evidence.end, machine),
                evidence.seconds * len(_cpus(evidence.spec, machine.components)),
            ),
        )
        for machine in evidence.samples.machines
    ]


def facts(evidence: Evidence, name: str) -> list[Facts]:
    """What each source tells of the settings of a component."""
    log = evidence.gc_logs.get(name)
    told = evidence.started[name].told.values() if name in evidence.started else ()
    return [*told, *([logged(log.settings)] if log is not None else []), evidence.caches.get(name, {})]


def settings_differ(evidence: Evidence, started: Started) -> list[str]:
    """One sentence for each setting of a server that reads back otherwise than asked for, or not at all."""
    component, said = started.component, started.info.get("settings") or {}
    found = [
        f"{component.name} has {key} {said[key]} instead of {asked}"
        if key in said
        else f"{component.name} does not say its {key}, which should be {asked}"
        for key, asked in component.expected_info.items()
        if str(said.get(key)) != asked
    ]
    settings = component.jvm_settings
    if settings is not None and settings.gc_log and component.name not in evidence.gc_logs:
        found.append(f"{component.name} wrote no GC log")
    return found + differences(component, facts(evidence, component.name))


def settings_read(servers: Iterable[ComponentResult]) -> str:
    """What JVMs were found to run with, servers with the same together."""
    found: dict[str, list[str]] = {}
    for one in servers:
        known = [
            f"{name} {shown(name, one.read_back[name])}"
            for name in (*MEASURED, *CACHE_FIGURES)
            if name in one.read_back
        ]
        if known:
            found.setdefault(", ".join(known), []).append(one.name)
    return "; ".join(f"{', '.join(names)}: {text}" for text, names in found.items())


def trace(evidence: Evidence) -> list[tuple[float, float]]:
    """Throughput per second from the end of the ramp to the end of the measurement."""
    found = rates(evidence.flight, evidence.samples, evidence.flight.ramp_end, evidence.end)
    return [(round(second, 1), round(rate, 1)) for second, rate in found]


def curves(evidence: Evidence) -> dict[str, list[float]]:
    """Per-second series of a ramp-up: throughput (requests/s) and the CPU of the servers by thread group (cores)."""
    begin, end = evidence.start, evidence.end
    followed = rates(evidence.flight, evidence.samples, begin, end)
    found = {"throughput": [round(rate, 2) for _, rate in followed]}
    steps = [(begin + second, begin + second + 1.0) for second in range(int(end - begin))]
    for role, groups in (("server", GROUPS), ("compiler", ("",))):
        names = [one.name for one in evidence.spec.components if one.role == role]
        for group in groups if names else ():
            key = f"cpu_{group or role}"
            series = [_cores(evidence.samples, names, group, *step) for step in steps]
            if None not in series:
                found[key] = [round(value, 3) for value in series if value is not None]
    return found


def first_answers(evidence: Evidence) -> dict[str, float]:
    """Seconds from the start of the servers to the first successful answer of each operation."""
    starts = [one.running.started for one in evidence.started.values() if one.component.role == "server"]
    found: dict[str, float] = {}
    for summary in evidence.flight.injectors.summaries() if starts else ():
        for operation, millis in summary.get("firstAnswers", {}).items():
            seconds = float(millis) / 1000 - min(starts)
            found[operation] = min(found.get(operation, seconds), seconds)
    return found


def _result(evidence: Evidence, component: Component) -> ComponentResult:
    samples, start, end, name = evidence.samples, evidence.start, evidence.end, component.name
    found: dict[str, Any] = {}
    if name in samples.process_names():
        found |= samples.memory([name], start, end)
        found["processes"] = samples.process_count(name, start, end)
        found["cpu_seconds"] = samples.cpu_seconds(name, start, end)
    if component.counters and (counts := samples.requests(name, start, end)):
        found |= {"requests": round(counts.requests), "throughput": counts.requests / evidence.seconds}
        found["errors"] = round(counts.errors)
    if started := evidence.started.get(name):
        found |= {"start_seconds": started.start_seconds, "start_cpu_seconds": started.cpu_seconds}
        found |= {"ready_message_seconds": started.ready_message_seconds, "start_rss": started.rss}
    if log := evidence.gc_logs.get(name):
        found |= log.totals(start, end) | {"allocated": _allocated(evidence, name, log)}
        found["gc_unknown"] = log.unknown
    if (compiled := evidence.jit_logs.get(name)) and compiled.is_known:
        found["compiled"] = {
            "remote": compiled.remote,
            "local": compiled.local,
            "cached": compiled.cached,
        }
    found["told"] = samples.told(name, start, end)
    if component.role == "server":
        found["read_back"] = {key: value for one in facts(evidence, name) for key, value in one.items()}
    found["faults"] = samples.faults(name, start, end)
    found["switches"] = samples.switches(name, start, end)
    found["cgroup"] = samples.cgroup(name, start, end)
    # The remainder `other` is a difference of ticks read at different moments: barely below 0 is 0.
    groups = {key: max(0.0, seconds) for key, seconds in samples.cpu_by_group(name, start, end).items()}
    return ComponentResult(name=name, role=component.role, cpu_by_group=groups, **found)


def _allocated(evidence: Evidence, name: str, log: GcLog) -> float | None:
    """Bytes that a component allocated in the window.

    The log knows what was allocated between the first and the last collection of the window. That is brought to the
    whole window by the requests that the component served, which is what it allocates for, else by time.
    """
    found = log.allocation(evidence.start, evidence.end)
    if found is None:
        return None
    inside, served = (
        evidence.samples.requests(name, *times)
        for times in ((found.begin, found.end), (evidence.start, evidence.end))
    )
    if inside is None or served is None:
        return over(found.size * evidence.seconds, found.end - found.begin)
    return over(found.size * served.requests, inside.requests)


def rates(flight: Flight, samples: Samples, begin: float, end: float) -> list[tuple[float, float]]:
    """(end of the second since `begin`, requests/s) by the servers' counters, else by the injectors."""
    if all(one.counters for one in flight.spec.servers):
        return samples.request_rate(begin, end)
    told = per_second(flight.injectors.folders.values(), begin, end)
    return [(float(second + 1), rate) for second, rate in enumerate(told)]


def _cores(samples: Samples, names: Iterable[str], group: str, start: float, end: float) -> float | None:
    if not group:
        return whole((samples.cpu_seconds(name, start, end) for name in names), sum)
    return whole((samples.cpu_by_group(name, start, end).get(group) for name in names), sum)


def _cpus(spec: Spec, names: Collection[str]) -> set[int]:
    """CPUs that some components may use, all together."""
    return {cpu for one in spec.components if one.name in names for cpu in one.cpus}


def _other_share(evidence: Evidence, machines: Sequence[MachineResult]) -> float | None:
    """CPU of others / CPU time of the servers' CPUs; in a cluster where it is most."""
    if machines:
        return whole((one.other_cpu_share for one in machines), max)
    time = len(_cpus(evidence.spec, [one.name for one in evidence.spec.servers])) * evidence.seconds
    return over(evidence.samples.other_cpu(evidence.start, evidence.end), time)


def _own_requests(evidence: Evidence) -> int:
    """Requests of the harness that the servers counted since their start: data and checks of it."""
    kept = set(evidence.started)
    checks = [check for check in evidence.spec.consistency if check.component in kept]
    loaded = [step for step in evidence.spec.data if step.component in kept]
    return len(checks) + (0 if evidence.spec.needs_preparation else len(loaded))


def _injector_share(evidence: Evidence, components: Sequence[ComponentResult]) -> float | None:
    """CPU of all injectors together / CPU that they may use.

    They share it with one another: two that use 95 % of the host have used 95 %, not half of that each. On CPUs of
    their own the databases and services that stand there count with them. On the servers' CPUs only their own use
    does, for servers are to fill those; whether the injectors came to run in time is another figure (`_injector_wait`).
    """
    cpus = _cpus(evidence.spec, [one.name for one in evidence.spec.injectors])
    beside = set() if evidence.spec.injectors_share_cores else evidence.spec.deployed
    there = {one.name for one in beside if cpus.intersection(one.cpus)}
    used = [one.cpu_seconds for one in components if one.role == "injector" or one.name in there]
    return over(whole(used, sum), evidence.seconds * len(cpus))


def _injector_wait(evidence: Evidence, components: Sequence[ComponentResult]) -> float | None:
    """Of the time that the threads of an injector had work, the share that they waited for a CPU; the worst
    injector's."""

    def share(one: ComponentResult) -> float | None:
        waited = evidence.samples.run_queue_wait(one.name, evidence.start, evidence.end)
        return over(waited, whole((waited, one.cpu_seconds), sum))

    return whole((share(one) for one in components if one.role == "injector"), max)


def _late_share(evidence: Evidence) -> float | None:
    """Late and dropped arrivals / intended ones, in the window; 0 for a closed model."""
    if evidence.spec.load.model == "closed":
        return 0.0
    health = evidence.health
    return health.missed / health.intended if health.intended else None


def _response_times(evidence: Evidence) -> list[TimeResult]:
    """What answers took, of each operation that has a limit and was asked for."""
    asked = evidence.recorded.latency()
    return [
        TimeResult(operation=bound.operation, quantile=bound.quantile, value=bound.value, limit=bound.limit)
        for bound in bounds(evidence.spec.limits, asked)
    ]


def _ratios(spec: Spec, counts: Mapping[str, int]) -> list[RatioResult]:
    """Ratios of counts, of requests and of outcomes, that show whether the workload did what it should."""
    return [
        RatioResult(
            name=ratio.name,
            value=counts.get(ratio.count, 0) / counts[ratio.per] if counts.get(ratio.per) else None,
            of=counts.get(ratio.per, 0),
            low=ratio.low,
            high=ratio.high,
        )
        for ratio in spec.ratios
    ]
