# SPDX-License-Identifier: Apache-2.0
"""Everything that is decided before the first trial: arms, specs, schedule, what they run on, expected time."""

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean

from steelyard.analysis.searching import limits_of, refuse_unknown
from steelyard.errors import BadInput, MissingRequirement
from steelyard.experiment.loader import LoadedExperiment, experiment_files, load_experiment
from steelyard.experiment.matrix import (
    Arm,
    expand,
    with_design,
    with_host_levels,
    with_quick,
    with_settings,
)
from steelyard.experiment.schema import Experiment
from steelyard.experiment.settings import HostChecks
from steelyard.host.cards import SERVERS
from steelyard.host.core_kinds import core_kinds, isolated_cpus
from steelyard.host.cpus import read_cpus
from steelyard.host.facts import lxcfs_files
from steelyard.host.ports import free_first_port, refuse_ephemeral
from steelyard.host.state import HostState
from steelyard.host.states import STATES
from steelyard.host.system import System
from steelyard.measure.registry import METRICS
from steelyard.paths import EXPERIMENTS
from steelyard.results import figures
from steelyard.results.schema import CertificateTerms, GateTerms, Profiler, ScheduledTrial
from steelyard.results.spec import MEASURED_ROLES, Spec
from steelyard.sampling.cgroup import memory_high, memory_limit
from steelyard.session.async_profiler import profiled_trials
from steelyard.session.capacity import with_capacity
from steelyard.session.counting import choose_counters
from steelyard.session.datasets import share_data
from steelyard.session.profilers import require_profilers
from steelyard.session.runtimes import LOCAL, ClusterTarget, RuntimeResolver
from steelyard.session.schedule import expected_seconds, make_schedule, populating_seconds, trial_seconds
from steelyard.session.specs import make_specs
from steelyard.session.turns import TURN
from steelyard.spec.layout import FIRST_PORT
from steelyard.spec.search import range_of
from steelyard.spec.split import check_conserved, check_isolated, check_kinds
from steelyard.units import format_duration, format_size
from steelyard.workload.loader import LoadedWorkload, workload_names
from steelyard.yamlfile import Scalar, find_file

LONGEST_SESSION = 14 * 24 * 3600.0
"""A plan that would take longer is a slip of the pen."""


def _approve(_path: Path) -> None:
    """Any file may be run."""


@dataclass(frozen=True)
class RunRequest:
    """What the user asked for on the command line."""

    experiment: str
    quick: bool = False
    blocks: int | None = None
    settings: Sequence[str] = ()
    seed: int | None = None
    jdk: Path | None = None
    first_port: int = FIRST_PORT
    workload: str | None = None
    profilers: Sequence[str] = ()
    profile_starts: int = 1
    """Starts of each arm that async-profiler watches."""
    counters: Sequence[str] = ()
    """What perf has to count of each component."""
    target: ClusterTarget = LOCAL
    trust: bool = False
    """Whether a file that is not of the checkout may be run."""
    approve: Callable[[Path], None] = field(default=_approve, compare=False)
    """Refuses an experiment file that may not be run: called before anything that the file names is started."""
    results: Path | None = field(default=None, compare=False)
    """Folder of earlier sessions, one of which may have found what this host takes."""
    argv: Sequence[str] = ()
    """The command line as it was typed, without the program."""


@dataclass(frozen=True)
class SessionPlan:
    """A session that can run."""

    request: RunRequest
    experiment: Experiment
    workload: LoadedWorkload
    seed: int
    arms: list[Arm]
    specs: dict[str, Spec]
    """By arm."""
    schedule: list[ScheduledTrial]
    runtimes: RuntimeResolver
    profilers: Sequence[Profiler] = ()
    """What profiles each arm in a further trial after the last block."""
    counters: Mapping[str, str] = field(default_factory=dict)
    """Events that perf counts of each component, by counter."""
    not_counted: Sequence[str] = ()
    """Sentences on what the experiment wants counted and this host does not count."""
    gate: GateTerms | None = None
    certificate: CertificateTerms | None = None
    second: Mapping[str, Spec] = field(default_factory=dict)
    """By arm of a duet: the same on the second half of the cores."""
    choices: Sequence[str] = ()
    """What was chosen in the place of what the file has, and why: sentences."""
    overrun: float | None = None
    """Seconds that a trial takes beyond what its spec lets expect, by an earlier session here; None: not known."""

    @property
    def injectors_share_cores(self) -> bool:
        """Whether injectors run on the servers' cores in any arm."""
        return any(spec.injectors_share_cores for spec in self.specs.values())

    @property
    def notes(self) -> list[str]:
        """Sentences that belong beside every figure of the session."""
        notes = [*self.choices, *self.not_counted]
        if self.injectors_share_cores and self.experiment.procedure != "start-up":
            notes.append(
                "The injectors ran on the servers' cores, so every figure includes their competition for CPU;"
                " throughput is that of servers and injectors together, and latency is not to be relied on."
            )
        if self.second:
            cores = figures.count(next(iter(self.specs.values())).server_cores, "core")
            if self.experiment.design.duet == "in-turns":
                how = (
                    f"on {cores}, in turns of {TURN:g} s with the other frozen: throughput is that of half the time,"
                    " what the clock tells (latencies, pauses) is left out, and what one leaves in the caches"
                )
            else:
                how = (
                    f"each on {cores} of its own, and swapped them from block to block: what one takes of caches,"
                    " memory bandwidth and clock"
                )
            notes.append(f"Both arms of a block ran at the same time, {how} is in the figures of the other.")
        if self.experiment.procedure == "ramp-up":
            notes.append(
                "The injectors were fresh processes as well: a part of the rise in the first seconds is theirs, in"
                " every arm the same."
            )
        if any(arm.deployment.jvm.compile == "foreground" for arm in self.arms):
            notes.append(
                "Servers compiled in the foreground: the warm-up is shorter, the start longer, and a request waits"
                " while what it calls is compiled."
            )
        if self.request.quick and self.experiment.quick.note is not None:
            notes.append(self.experiment.quick.note)
        specs = self.specs.values()
        if "irq_affinity" in _varied_settings(self.experiment) and not any(spec.remote for spec in specs):
            notes.append(
                "The load comes from this host, over `lo`: no packet of it passes the card whose interrupts are varied."
            )
        notes += [text for spec in specs for text in spec.embedded]
        notes += [*self._jvm_note(), *self._injector_note()]
        notes += [text for spec in specs for text in (*spec.not_read_back, *spec.notes)]
        notes += [
            f"{text[:1].upper()}{text[1:]}." for text in (self.gate.notes if self.gate is not None else ())
        ]
        return list(dict.fromkeys(notes))

    def _jvm_note(self) -> list[str]:
        """JVMs differ although the experiment varies the engine alone."""
        names: dict[str, set[str]] = {}
        for spec in self.specs.values():
            for jvm in (server.artifact.jvm for server in spec.servers):
                if jvm is not None:
                    names.setdefault(spec.engine, set()).add(jvm.full_name)
        if any(len(jvms) > 1 for jvms in names.values()) or len(set().union(*names.values())) < 2:
            return []
        listed = "; ".join(f"{engine}: {', '.join(jvms)}" for engine, jvms in names.items())
        return [f"The engines ran different JVMs ({listed}), so their difference is not the engines' alone."]

    def _injector_note(self) -> list[str]:
        """Injectors are no part of what is compared, and have an image's JVM where they run in containers."""
        injectors = [injector for spec in self.specs.values() for injector in spec.injectors]
        jvms = dict.fromkeys(jvm.full_name for injector in injectors if (jvm := injector.artifact.jvm))
        if len(jvms) < 2:
            return []
        note = (
            f"The injectors ran on different JVMs ({', '.join(jvms)}): where they share the servers' cores, a part of a"
            " difference is theirs."
        )
        return [note]

    def expected_seconds(self) -> tuple[float, float]:
        """Shortest and longest expected time of the session and its profiles, repeats of void trials left out; both are
        one where an earlier session tells how long trials take here."""
        by_arm = {arm: self._trial_seconds(spec) for arm, spec in self.specs.items()}
        each = [by_arm[place.arm] for place in self.schedule]
        search = self.experiment.search
        fewest, most = (3, search.trials) if search is not None else (1, 1)
        if self.second:
            each = each[::2]  # the two of a block at once
        once = sum(map(populating_seconds, self.specs.values()))
        profiled = profiled_trials(self.profilers, self.request.profile_starts)
        profiling = [*by_arm.values()] * profiled
        least = once + sum(low for low, _ in profiling) + fewest * sum(low for low, _ in each)
        return least, once + sum(high for _, high in profiling) + most * sum(high for _, high in each)

    def seconds_by_arm(self) -> list[float]:
        """Expected seconds of a trial of each arm."""
        return [fmean(self._trial_seconds(spec)) for spec in self.specs.values()]

    def _trial_seconds(self, spec: Spec) -> tuple[float, float]:
        if self.overrun is None:
            return trial_seconds(spec)
        known = max(0.0, expected_seconds(spec) + self.overrun)
        return known, known


def make_plan(request: RunRequest) -> SessionPlan:
    """Read, resolve and check everything that can be checked without starting anything.

    Raises:
        BadInput: the experiment or an option was refused.
        MissingRequirement: no suitable JDK, no `taskset`, no container engine or image.
    """
    return plan_of(request, question_of(request))


def question_of(request: RunRequest) -> LoadedExperiment:
    """What is asked, with what the command line changes of the file (raises BadInput, and what `approve` raises)."""
    name = request.experiment
    more = f"; {name} is a workload, as in `--workload {name}`" if name in workload_names() else ""
    path = find_file(request.experiment, experiment_files(EXPERIMENTS), "experiment", more)
    experiment, workload, settings, _ = load_experiment(
        path, host_checks(), request.workload, metric_checks()
    )
    request.approve(path)
    if request.quick:
        experiment = with_quick(experiment, settings)
    experiment = with_settings(experiment, settings, request.settings)
    experiment = with_host_levels(experiment, _levels)
    experiment = with_design(experiment, blocks=request.blocks, seed=request.seed)
    question = LoadedExperiment(experiment, workload, settings)
    return with_capacity(question, request.results, request.settings)


def plan_of(request: RunRequest, question: LoadedExperiment) -> SessionPlan:
    """The plan of a question (errors as `make_plan`)."""
    experiment, workload, settings, choices = question
    seed = experiment.design.seed if experiment.design.seed is not None else secrets.randbelow(2**31)
    arms = expand(experiment, settings)
    runtimes = RuntimeResolver(workload, request.jdk, request.target)
    made = make_specs(arms, experiment, runtimes, request.first_port)
    if request.first_port == FIRST_PORT:
        wanted = {port for specs in made for spec in specs.values() for port in spec.ports}
        if (first := free_first_port(wanted, FIRST_PORT)) != FIRST_PORT:
            made = make_specs(arms, experiment, runtimes, first)
    specs, second = map(share_data, made)
    runtimes.refuse_unused([arm.deployment for arm in arms])
    refuse_ephemeral(port for spec in (*specs.values(), *second.values()) for port in spec.ports)
    varied = _varied_settings(experiment)
    if experiment.search is not None and experiment.search.lower is not None:
        varied.add(experiment.search.lower)
    check_conserved(specs, varied)
    check_host([*specs.values(), *second.values()])
    _refuse_different_builds(arms, specs)
    check_fits_host(specs, equal=experiment.design.equal, at_once=bool(experiment.design.duet))
    if experiment.search is not None:
        for spec in specs.values():
            range_of(experiment.search, spec)
        refuse_unknown(limits_of(experiment.search, workload.workload.limits), specs.values())
    profilers = require_profilers(request.profilers, specs.values(), searches=experiment.search is not None)
    counters, not_counted = choose_counters(request.counters, experiment.metrics.counters, specs.values())
    plots = {name: repr(sorted(spec.host_states.items())) for name, spec in specs.items()}
    schedule = make_schedule(list(specs), experiment.design.blocks, seed, plots)
    plan = SessionPlan(
        request,
        experiment,
        workload,
        seed,
        arms,
        specs,
        schedule,
        runtimes,
        profilers,
        counters,
        not_counted,
        second=second,
        choices=choices,
    )
    if plan.expected_seconds()[0] > LONGEST_SESSION:
        raise BadInput(
            f"the session would take {format_duration(plan.expected_seconds()[0])}, more than two weeks: take fewer"
            " arms or blocks, or shorter windows"
        )
    return plan


def _varied_settings(experiment: Experiment) -> set[str]:
    return {key for name, factor in experiment.factors.items() for key, _ in factor.values(name)}


def host_checks() -> HostChecks:
    """Settings of the host that experiments may name (`host/states.py`)."""
    return {name: partial(_check, state) for name, state in STATES.items()}


def _check(state: HostState, value: object) -> None:
    if not (state.of_servers and value == SERVERS):  # which CPUs those are is known once there are servers
        try:
            state.parse(System(), value)
        except ValueError as error:
            raise ValueError(f"{error}; it takes {state.allowed}") from error


def _levels(name: str) -> list[Scalar]:
    """What `levels: host` stands for (raises BadInput, MissingRequirement)."""
    system, state = System(), STATES.get(name)
    if state is not None and state.read(system) is None:
        raise MissingRequirement(f"factor {name}: this host has no {name} to set ({state.missing(system)})")
    if state is None or not (levels := state.levels(system)):
        raise BadInput(
            f"factor {name}: `levels: host` is for host states that have a few: write its levels out"
        )
    return levels


def metric_checks() -> dict[str, tuple[str, ...]]:
    """The procedures that measure each metric, by its name."""
    return {metric.name: metric.procedures for metric in METRICS}


def _refuse_different_builds(arms: Sequence[Arm], specs: dict[str, Spec]) -> None:
    """Servers of different sources are compared only where that is the question."""
    if any(arm.deployment.build is not None for arm in arms):
        return
    builds = {spec.engine: server.artifact.build for spec in specs.values() for server in spec.servers}
    if len(set(builds.values())) > 1:
        raise BadInput(
            "the engines would run servers of different sources ("
            + ", ".join(f"{engine}: {build}" for engine, build in builds.items())
            + "): make images of this checkout with `./steelyard images build`"
        )


def check_host(specs: Sequence[Spec], system: System | None = None) -> None:
    """Refuse what this host, as it is, would make unequal or not see.

    Raises:
        BadInput: cores of unlike kinds, or isolated ones.
        MissingRequirement: other load of the host cannot be seen from here.
    """
    host = system or System()
    here = [spec for spec in specs if not spec.remote]
    cpus = {cpu for spec in here for component in spec.components for cpu in component.cpus}
    # All that may be used, so that what to run on can be named.
    online = read_cpus(host, "sys/devices/system/cpu/online")
    cpus |= os.sched_getaffinity(0) if host.root == Path("/") else set(online)
    check_kinds(here, core_kinds(host, cpus))
    check_isolated(here, isolated_cpus(host))
    if here and "/proc/stat" in lxcfs_files(host):
        raise MissingRequirement(
            "lxcfs shows this container a /proc/stat of its own, so that other load of the host is not seen: run the"
            " session on the host, or in a container without lxcfs"
        )


def check_fits_host(specs: dict[str, Spec], equal: bool = False, at_once: bool = False) -> None:
    """Arms that this host cannot hold, one at a time or `at_once`, or that come out the same on it where they may not
    be `equal` (raises BadInput)."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    own = _own_memory()
    seen: dict[str, str] = {}
    for name, spec in specs.items():
        here = not spec.remote
        limits = [component.memory_bytes or 0 for component in spec.of(*MEASURED_ROLES) if here]
        heaps = [server.heap_bytes or 0 for server in spec.servers if here]
        # Processes are in the harness's own control group, containers are not.
        most = min(physical, own) if own is not None and spec.engine == "process" else physical
        memory = most // (len(specs) if at_once else 1)
        where = "this host" if most == physical else "the control group of this session"
        each = " for each side" if at_once else ""
        for setting, wanted in (("heap", sum(heaps)), ("memory limits", sum(limits))):
            if wanted > memory:
                raise BadInput(
                    f"arm {name} has {format_size(wanted)} of {setting} and {where} {format_size(memory)} of memory"
                    f"{each}: lower it"
                )
        # Arms whose settings are equal were refused before: `cores: all` and the number of cores are not, nor is
        # `numa`, which says how cores were chosen.
        other = seen.setdefault(repr(spec.model_copy(update={"arm": "", "notes": [], "numa": "bound"})), name)
        if other != name and not equal:
            raise BadInput(f"the arms {other} and {name} are the same on this host: leave one of them out")


def _own_memory() -> int | None:
    """What the control group of this session lets it have before the kernel slows it down or kills; None: no limit."""
    try:
        limits = [memory_limit(os.getpid()), memory_high(os.getpid())]
    except ValueError:  # the doctor says so
        return None
    return min((limit for limit in limits if limit is not None), default=None)
