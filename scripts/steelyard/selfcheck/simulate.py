# SPDX-License-Identifier: Apache-2.0
"""Simulated sessions through the real scheduler, ledger, analysis, gate and answer, and what came out, counted.

One session: the real schedule; each trial that it asks for (repeats too), by `trials`; then the real analysis of
session and trials, the gate's verdict on the first arm, and what the answer claims.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from steelyard.analysis.carry_over import is_shown
from steelyard.analysis.estimates import analyse
from steelyard.analysis.findings import is_changed_by_voids
from steelyard.analysis.paired import detectable_effect
from steelyard.analysis.sentences import Claim, primary_claim
from steelyard.analysis.wording import beyond_noise
from steelyard.experiment.schema import Design, Experiment, Factor, Metrics
from steelyard.gate.interim import ends_at
from steelyard.gate.verdict import decide
from steelyard.measure.ledger import is_void
from steelyard.measure.registry import metric_info
from steelyard.results.analysis import Estimate
from steelyard.results.schema import ArmRecord, HostFacts, RecordedWorkload, Session, Trial
from steelyard.selfcheck.hosts import HostModel
from steelyard.selfcheck.trials import SPEC, Disturbance, Truth, make_sampled_trial, make_trial
from steelyard.session.duet import judge_together
from steelyard.session.schedule import Schedule, make_schedule
from steelyard.yamlfile import Scalar

REPEATS = 2
OTHER_NOISE = 0.01
"""Noise of what is measured beside throughput: CPU per request, memory, time of the start."""
RATE, CPU, MEMORY, START = 10_000.0, 4e-4, 5e8, 5.0
"""Of the baseline arm on an average start: requests per second, CPU seconds per request, bytes, seconds."""
METRICS = ("cpu_per_1k", "memory_rss", "start_time")

Tally = Counter[str]


@dataclass(frozen=True, slots=True)
class ArmModel:
    """An arm and how it truly differs; the first one is the baseline."""

    level: Scalar
    effect: float = 0.0
    """On throughput, as a fraction."""
    cpu: float = 0.0
    """On CPU per request, as a fraction."""
    void_share: float = 0.0
    """Share of its trials that are disturbed."""
    void_above: float = math.inf
    """Starts that need more CPU per request than so many standard deviations are disturbed, all of them."""
    slow_share: float = 0.0
    """Share of its starts that are slow."""
    slow: float = 0.0
    """How much more CPU per request those need, and how much less throughput they have, log."""
    void_slow: bool = False
    """Whether slow starts are disturbed, all of them."""
    disturbed: Disturbance = "unknown"
    """By what slow ones are."""
    unsteady_share: float = 0.0
    state: str = ""
    """Of the host, which is switched between arms that want different ones."""
    cold: float = 0.0
    """Share of its throughput that it lacks when the load begins (of trials from samples)."""
    leaves: float = 0.0
    """What its trials leave to the trial that follows, on log throughput."""

    @property
    def name(self) -> str:
        """Usable as a file name."""
        return f"arm-{self.level}"

    @property
    def host_states(self) -> dict[str, Scalar]:
        """What it wants of the host."""
        return {"state": self.state} if self.state else {}


A = ArmModel("a")


@dataclass(frozen=True, slots=True)
class Setup:
    """Sessions of one kind."""

    host: HostModel
    blocks: int
    arms: tuple[ArmModel, ...] = (A, ArmModel("b"))
    primary: str = "throughput"
    report: tuple[str, ...] = METRICS
    margin: float = 0.03
    """Margin of the gate."""
    samples: bool = False
    """Trials begin with what was sampled each second, and with a warm-up."""
    duet: bool = False
    """Both arms run at once."""

    def truth(self, arm: ArmModel) -> float:
        """True ratio of an arm to the baseline in the primary metric."""
        lower = self.primary == "cpu_per_1k"
        slow = arm.slow_share * arm.slow
        return (1 + (arm.cpu if lower else arm.effect)) * math.exp(slow if lower else -slow)


_HOST = HostFacts(
    hostname="synthetic",
    architecture="synthetic",
    cpu_model="synthetic",
    sockets=1,
    cores=1,
    cpus=1,
    threads_per_core=1,
    smt=None,
    numa_nodes=1,
    memory_bytes=0,
    swap_bytes=0,
    kernel="synthetic",
    os="synthetic",
    page_size=4096,
    governor=None,
    turbo=None,
    thp=None,
    cgroup_version=None,
    virtualization=None,
    extra={"scheduler": "synthetic"},
)
"""A gate asks whether its confirmation ran on the same one."""


def run_sessions(setup: Setup, sessions: int, rng: np.random.Generator) -> Tally:
    """Sessions of a kind, counted."""
    places = setup.blocks * len(setup.arms)
    drawn = draws_of(setup.host, sessions, places, REPEATS * places, rng)
    seeds = rng.integers(2**62, size=sessions)
    tally: Tally = Counter()
    for draws, number in zip(drawn, seeds, strict=True):
        seed = int(number)
        plots = {arm.name: arm.state for arm in setup.arms}
        schedule = make_schedule(list(plots), setup.blocks, seed, plots)
        session = template(setup).model_copy(update={"seed": seed, "schedule": schedule})
        trials = run_session(setup, session, draws)
        tally.update(count(setup, session, trials))
    return tally


@dataclass(frozen=True, slots=True)
class Draws:
    """What chance holds for the places in time of one session."""

    levels: Sequence[float]
    others: Sequence[Sequence[float]]
    """Noise of each of `METRICS`."""
    chance: Sequence[Sequence[float]]
    rng: np.random.Generator
    """For what is drawn each second."""


def draws_of(
    host: HostModel, sessions: int, places: int, extra: int, rng: np.random.Generator
) -> list[Draws]:
    """What chance holds for so many sessions, each of so many places, and `extra` ones for repeats."""
    levels = host.paths(rng, sessions, places, extra)
    others = rng.normal(0.0, OTHER_NOISE, (sessions, places + extra, len(METRICS)))
    chance = rng.random((sessions, places + extra, 3))
    each = zip(levels.tolist(), others.tolist(), chance.tolist(), strict=True)
    return [Draws(*drawn, rng) for drawn in each]


def run_session(setup: Setup, session: Session, draws: Draws) -> list[Trial]:
    """One simulated session; the session layer's own rule says which trial is next."""
    arms = {arm.name: arm for arm in setup.arms}
    schedule, trials, plot, shift = Schedule(session, ends_at), list[Trial](), (0, 0), 0.0
    while (place := schedule.next(trials)) is not None:
        common = draws.levels[place.order]
        if not trials or trials[-1].block != place.block:
            common += setup.host.first
        if setup.host.shift and (place.block, place.plot) != plot:
            plot, shift = (place.block, place.plot), float(draws.rng.normal(0.0, setup.host.shift))
        common += shift
        if trials and not setup.duet:
            common += arms[trials[-1].arm].leaves
        side_by_side = {}
        for planned in schedule.together(place):
            arm, now, spec = arms[planned.arm], planned.order, schedule.spec(planned)
            own = float(draws.rng.normal(0.0, setup.host.own)) if setup.duet else 0.0
            truth = _truth(arm, common + own + math.log1p(arm.effect), draws.others[now], *draws.chance[now])
            side_by_side[planned.arm] = (
                make_sampled_trial(planned, spec, truth, draws.rng)
                if setup.samples
                else make_trial(planned, spec, truth)
            )
        trials += judge_duet(side_by_side) if setup.duet else side_by_side.values()
    return trials


def judge_duet(trials: Mapping[str, Trial]) -> list[Trial]:
    """Trials that ran at once, by arm: one that is void voids the other."""
    checks = judge_together({arm: trial.checks for arm, trial in trials.items()})
    return [
        trial.model_copy(update={"checks": checks[arm], "state": "void" if is_void(checks[arm]) else "valid"})
        for arm, trial in trials.items()
    ]


def _truth(
    arm: ArmModel, level: float, others: Sequence[float], voided: float, unsteady: float, drawn: float
) -> Truth:
    """What a start of an arm does, with what chance holds for its place in time."""
    slow = arm.slow if drawn < arm.slow_share else 0.0
    rate, cpu, memory, seconds = (math.exp(log) for log in (level - slow, others[0] + slow, *others[1:]))
    disturbed: Disturbance = ""
    if slow and arm.void_slow:
        disturbed = arm.disturbed
    elif others[0] > arm.void_above * OTHER_NOISE:
        disturbed = "unknown"
    elif voided <= arm.void_share:
        disturbed = "steal" if voided <= arm.void_share / 2 else "unknown"
    return Truth(
        rate=RATE * rate,
        cpu=CPU * cpu * (1 + arm.cpu),
        memory=MEMORY * memory,
        start=START * seconds,
        disturbed=disturbed,
        steady=unsteady >= arm.unsteady_share,
        cold=arm.cold,
    )


def count(setup: Setup, session: Session, trials: Sequence[Trial]) -> Tally:
    """What the harness makes of a session."""
    analysis = analyse(session, trials)
    attempts = Counter((trial.block, trial.arm) for trial in trials)
    tally: Tally = Counter(
        {
            "sessions": 1,
            "trials": len(trials),
            "void": sum(trial.state == "void" for trial in trials),
            "unequal": any(estimate.unequal for estimate in analysis.estimates[setup.primary].values()),
            "changed by voids": any(map(is_changed_by_voids, analysis.estimates[setup.primary].values())),
            "tells carry-over": any(map(is_shown, analysis.carry_over)),
            "complete": analysis.blocks_complete == setup.blocks,
            "too many repeats": max(attempts.values()) > 1 + REPEATS,
            "counts a disturbed trial": any(
                trial.state == "valid" and trial.measurement and trial.measurement.value("steal_share") != 0
                for trial in trials
            ),
        }
    )
    estimates = analysis.estimates[setup.primary]
    truths = {arm.name: setup.truth(arm) for arm in setup.arms[1:]}
    tally["alarm"] += any(beyond_noise(estimates[name]) for name, truth in truths.items() if truth == 1)
    spread = setup.host.spread(setup.blocks)
    for arm in setup.arms[1:]:
        tally.update(_count_arm(arm, truths[arm.name], estimates[arm.name], setup.blocks, spread))
    tally["all covered"] += all(tally[f"{arm.level} covered"] for arm in setup.arms[1:])
    tally["reported alarm"] += any(
        beyond_noise(estimate) for name in setup.report for estimate in analysis.estimates[name].values()
    )
    better = metric_info(setup.primary).better
    tally[decide(estimates[setup.arms[1].name], better, setup.margin).outcome] += 1
    tally.update(_claims(setup, primary_claim(session, analysis)))
    return tally


def _count_arm(arm: ArmModel, truth: float, estimate: Estimate, blocks: int, spread: float) -> Tally:
    """What is said of one arm: whether its interval holds the truth, and whether it is found on the right side."""
    if (
        estimate.ratio is None
        or estimate.low is None
        or estimate.high is None
        or estimate.detectable_high is None
    ):
        return Counter()
    sure = detectable_effect(blocks, spread)
    return Counter(
        {
            f"{arm.level} has an interval": True,
            f"{arm.level} covered": estimate.low <= truth <= estimate.high,
            f"{arm.level} found": beyond_noise(estimate) and (estimate.ratio - 1) * (truth - 1) > 0,
            f"{arm.level} in every block": estimate.n == blocks,
            f"{arm.level} remarked on": bool(estimate.remarks),
            f"{arm.level} can detect": sure is not None and estimate.detectable_high >= sure,
        }
    )


def _claims(setup: Setup, claim: Claim) -> Iterator[str]:
    """What the answer claims of the primary metric: nothing, that an arm is better than the baseline, that it is the
    best of all, or that one is worse."""
    if claim.verdict == "equal":
        yield "says they are equal"
    if claim.verdict in ("no answer", "no difference", "equal"):
        return
    yield "claims a difference"
    if claim.verdict == "worse":
        yield "says one is worse"
        return
    yield from (f"says {arm.level} is better" for arm in setup.arms if arm.name == claim.arms[-1])
    if claim.verdict == "best":
        yield "says one is the best of all"


@lru_cache(maxsize=8)
def template(setup: Setup) -> Session:
    """All of `session.json` that is read once the session runs, but for the schedule."""
    experiment = Experiment(
        steelyard=1,
        name="selfcheck",
        title="Self-check",
        question="",
        workload="synthetic",
        factors={"arm": Factor(levels=[arm.level for arm in setup.arms])},
        metrics=Metrics(primary=setup.primary, report=list(setup.report)),
        design=Design(blocks=setup.blocks, repeats=REPEATS),
    )
    workload = RecordedWorkload(name="synthetic", version="1")
    rest: dict[str, Any] = {
        "id": "selfcheck",
        "workload": workload,
        "host": _HOST,
        "quick": False,
        "notes": [],
    }
    return Session.model_construct(
        experiment=experiment,
        arms=[
            ArmRecord(
                name=arm.name,
                levels={"arm": arm.level},
                baseline=arm is setup.arms[0],
                settings={},
                spec=SPEC.model_copy(update={"arm": arm.name, "host_states": arm.host_states}),
                second=SPEC.model_copy(update={"arm": arm.name}) if setup.duet else None,
            )
            for arm in setup.arms
        ],
        **rest,
    )
