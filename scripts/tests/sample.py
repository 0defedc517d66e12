# SPDX-License-Identifier: Apache-2.0
"""Plausible complete sessions, made through the real schema and the real analysis; the same bytes each time.

Nothing here is a measurement: the figures follow simple curves with noise from a fixed seed.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builders import make_failure, make_session, make_trial
from sample_figures import (
    CAPACITY,
    HOST,
    MEASURE,
    components,
    latency,
    phases,
    sample_measurement,
    sample_spec,
    trace,
)

from steelyard.analysis.estimates import analyse
from steelyard.experiment.schema import ProcedureName
from steelyard.measure.ledger import is_void, judge
from steelyard.measure.record import metrics_of
from steelyard.report.view import View
from steelyard.results.analysis import Analysis
from steelyard.results.schema import ArmRecord, JournalEntry, Planned, ScheduledTrial, Session, Trial
from steelyard.results.spec import Component
from steelyard.results.store import SessionDirectory, write_record
from steelyard.session.schedule import next_trial
from steelyard.units import MIB

CREATED = 1_794_830_400.0  # 2026-11-16 12:00 UTC
STUDY = {
    "title": "Number of Liberty JVMs affect throughput and memory footprint",
    "published": "Open Liberty performance blog, February 2022",
    "setup": "24-core host, Semeru Java 8, 1,536 MB of maximum heap in total, 48 closed-loop clients.",
    "figures": [
        {
            "where": "1 to 4 JVMs",
            "value": "+188 % throughput",
            "own": {"metric": "throughput", "arm": {"jvms": 4}},
        },
        {
            "where": "4 to 6 JVMs",
            "value": "+168 MB",
            "own": {"metric": "memory_rss", "arm": {"jvms": 6}, "against": {"jvms": 4}},
        },
        {
            "where": "8 to 24 JVMs",
            "value": "dropping",
            "own": {"metric": "throughput", "arm": {"jvms": 24}, "against": {"jvms": 6}},
        },
        {"where": "more JVMs", "value": "more contention for locks"},
    ],
}
SHARED_CORES = (
    "The injectors shared the servers' cores: figures include their competition for CPU, and absolute throughput"
    " is lower than the servers alone could reach."
)
GOVERNOR = (
    "The CPU governor is schedutil: the clock follows the load, which adds variation; set it to performance with"
    " cpupower frequency-set -g performance."
)


@dataclass
class Plan:
    """What a sample session looks like."""

    name: str = "jvm-count"
    title: str = "Number of Liberty JVMs, throughput and memory footprint"
    question: str = (
        "How many Liberty JVMs serve a small REST endpoint best, and what does each further JVM cost?"
    )
    factors: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {"jvms": {"label": "JVMs", "levels": [1, 2, 4, 6, 12]}}
    )
    blocks: int = 6
    study: dict[str, Any] | None = None
    quick: bool = False
    seed: int = 20261116
    disturbed: tuple[tuple[int, str], ...] = ()
    """Trials that another process disturbs: void, and repeated once with their baseline."""
    broken: tuple[tuple[int, str], ...] = ()
    """Trials that fail before their measurement ends, on every attempt."""
    unsteady: tuple[tuple[int, str], ...] = ()
    effects: dict[str, dict[Any, float]] = field(default_factory=dict)
    """Factor -> level -> factor on the throughput, for factors other than `jvms`."""
    drop: tuple[str, ...] = ()
    """Metrics that no trial has."""
    procedure: ProcedureName = "steady"
    search: dict[str, Any] | None = None
    mix: dict[str, float] | None = None
    primary: str = "throughput"
    report: tuple[str, ...] = ("memory_rss", "cpu_per_1k")
    shape: Callable[[Trial, random.Random], dict[str, Any]] | None = None
    """What else a trial of the procedure has."""
    extras: Callable[[dict[str, Any]], list[Component]] = lambda _: []
    """Components that an arm has beside servers and injectors, by its levels."""


def arms_of(plan: Plan) -> list[ArmRecord]:
    combinations: list[dict[str, Any]] = [{}]
    for name, factor in plan.factors.items():
        combinations = [{**c, name: level} for c in combinations for level in factor["levels"]]
    return [
        ArmRecord(
            name="_".join(f"{name}-{level}" for name, level in levels.items()),
            levels=levels,
            baseline=index == 0,
            settings={},
            spec=sample_spec(
                "_".join(f"{name}-{level}" for name, level in levels.items()),
                int(levels.get("jvms", 1)),
                plan.procedure,
                **({"mix": plan.mix} if plan.mix else {}),
                extras=plan.extras(levels),
            ),
        )
        for index, levels in enumerate(combinations)
    ]


def session_of(plan: Plan) -> Session:
    rng = random.Random(plan.seed)
    arms = arms_of(plan)
    schedule: list[ScheduledTrial] = []
    for block in range(1, plan.blocks + 1):
        names = [arm.name for arm in arms]
        rng.shuffle(names)
        schedule += [
            ScheduledTrial(order=len(schedule) + i, block=block, arm=name) for i, name in enumerate(names)
        ]
    return make_session(
        id=f"{plan.name}-20261116T120000Z",
        created=CREATED,
        revision="3f2c1ab",
        workload={"name": "ping", "version": "2"},
        workload_path="apps/ping/workload.yaml",
        experiment={
            "steelyard": 1,
            "name": plan.name,
            "title": plan.title,
            "question": plan.question,
            "study": plan.study,
            "workload": "ping",
            "factors": plan.factors,
            "load": {
                "model": "closed",
                "users": 48,
                "warmup": {"until": "steady", "at_least": 60.0, "at_most": 180.0},
                "measure": MEASURE,
            },
            "metrics": {"primary": plan.primary, "report": list(plan.report)},
            "design": {"blocks": max(2, plan.blocks)},
            "search": plan.search,
        },
        quick=plan.quick,
        command=f"./steelyard run {plan.name} --blocks {plan.blocks} --seed {plan.seed}",
        seed=plan.seed,
        arms=arms,
        schedule=schedule,
        host=HOST,
        versions={"gatling": "3.14.7", "numpy": "2.4.6", "open-liberty": "26.0.0.10", "python": "3.11.2"},
        injectors_share_cores=True,
        notes=[SHARED_CORES],
        doctor=[GOVERNOR],
    )


def trials_of(plan: Plan, session: Session) -> list[Trial]:
    rng = random.Random(plan.seed + 1)
    baseline = next(arm.name for arm in session.arms if arm.baseline)
    trials: list[Trial] = []
    while (place := next_trial(session.schedule, trials, 1, session.seed, baseline)) is not None:
        drift = 1 + 0.012 * math.sin(place.order / 6) if place.attempt == 0 else 1.0
        trials.append(_trial(plan, session, place, drift, rng))
    return trials


def _trial(plan: Plan, session: Session, place: Planned, drift: float, rng: random.Random) -> Trial:
    arm = next(a for a in session.arms if a.name == place.arm)
    jvms = int(arm.levels.get("jvms", 1))
    effect = math.prod(plan.effects.get(name, {}).get(level, 1.0) for name, level in arm.levels.items())
    disturbed = place.attempt == 0 and (place.block, place.arm) in plan.disturbed
    broken = (place.block, place.arm) in plan.broken
    steady = (place.block, place.arm) not in plan.unsteady
    rate = CAPACITY[jvms] * effect * drift * rng.gauss(1, 0.009) * (0.86 if disturbed else 1)
    rss = (150 + 96 * jvms) * MIB * rng.gauss(1, 0.01) / math.sqrt(effect)
    started = session.created + 60 + place.order * 170
    measured = sample_measurement(rate, rss, disturbed, steady)
    checks = [] if broken else judge(measured, arm.spec)
    trial = make_trial(
        place.block,
        place.arm,
        attempt=place.attempt,
        order=place.order,
        state="void" if broken or is_void(checks) else "valid",
        started=started,
        phases=phases(started),
        measurement=None if broken else measured,
        checks=checks,
        steady=steady and not broken,
        latency={} if broken else dict.fromkeys(("ping", "all"), latency(rate, rng)),
        components=[] if broken else components(rate, rss, jvms, rng),
        trace=trace(rate, jvms, rng)[: 40 if broken else None],
        failure=make_failure("server-1 was killed by signal 9 in the measurement.", "restarts")
        if broken
        else None,
    )
    if plan.shape is not None:
        trial = trial.model_copy(update=plan.shape(trial, rng))
    metrics = {name: value for name, value in metrics_of(trial, arm.spec).items() if name not in plan.drop}
    return trial.model_copy(update={"metrics": metrics})


def study_plan() -> Plan:
    """Five arms, six blocks, a void trial with its repeat, a trial that was not steady."""
    return Plan(study=STUDY, disturbed=((3, "jvms-4"),), unsteady=((5, "jvms-12"),))


def two_arm_plan() -> Plan:
    """Two arms of a named factor, no study, no effect to speak of."""
    return Plan(
        name="pages",
        title="Small or transparent huge pages",
        question="Do transparent huge pages pay for the ping workload?",
        factors={"pages": {"label": "page size", "levels": ["small", "transparent"]}},
        effects={"pages": {"transparent": 1.002}},
    )


def two_factor_plan() -> Plan:
    """JVMs x page size."""
    return Plan(
        name="jvms-pages",
        title="JVMs and page size",
        question="Does the best number of JVMs depend on the page size?",
        factors={
            "jvms": {"label": "JVMs", "levels": [1, 2, 4]},
            "pages": {"label": None, "levels": ["small", "large"]},
        },
        disturbed=((2, "jvms-2_pages-large"),),
        effects={"pages": {"large": 1.06}},
    )


def poor_plan() -> Plan:
    """One block only, an arm without any valid trial, metrics missing."""
    return Plan(
        name="poor",
        title="A poor session",
        question="What does the report say when there is next to nothing?",
        factors={"jvms": {"label": "JVMs", "levels": [1, 2, 4]}},
        blocks=1,
        quick=True,
        broken=((1, "jvms-4"),),
        drop=("memory_pss", "cpu_per_1k_gc", "gc_per_second", "gc_pause_share", "gc_pause_max", "start_time"),
    )


def make(plan: Plan) -> tuple[Session, list[Trial], Analysis]:
    """A session with its trials and its analysis."""
    session = session_of(plan)
    trials = trials_of(plan, session)
    return session, trials, analyse(session, trials)


def make_view(plan: Plan, journal: Sequence[JournalEntry] = ()) -> View:
    """The same, ready to be shown."""
    session, trials, analysis = make(plan)
    return View(session, analysis, trials, journal)


def write(directory: Path, plan: Plan) -> SessionDirectory:
    """The same as a session directory."""
    session, trials, analysis = make(plan)
    target = SessionDirectory(directory)
    write_record(directory / "session.json", session)
    target.log(session.created, "session-start")
    for trial in trials:
        place = {"block": trial.block, "arm": trial.arm, "attempt": trial.attempt}
        bound = write_record(target.trial_path(**place) / "trial.json", trial)  # type: ignore[arg-type]
        target.log(trial.started, "trial-end", state=trial.state, digest=bound, **place)
    target.log(session.created, "session-end")
    target.keep(analysis)
    return target
