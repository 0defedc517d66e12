# SPDX-License-Identifier: Apache-2.0
"""The plan of a gate, and its sessions: from two words of the command line to the session that confirms.

baseline, candidate -> settings of each side -> the experiment with these two arms -> plan, as many pairs as the time
allows -> reasons to abstain: no certificate, one that cannot see the margin, a noisy host
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from steelyard.analysis.estimates import GIVEN
from steelyard.clock import SYSTEM, Clock
from steelyard.errors import BadInput
from steelyard.experiment.loader import LoadedExperiment
from steelyard.experiment.matrix import Arm
from steelyard.experiment.schema import Duet, Experiment, Load
from steelyard.gate.certificate import Certificate
from steelyard.gate.certificates import find_certificate, pool_sentence
from steelyard.gate.conditions import Conditions, conditions_of, deploys_same
from steelyard.gate.interim import INTERIM_PAIRS, interims_until, levels_of
from steelyard.gate.result import explain_floor
from steelyard.gate.sides import arm_settings, baseline_arm, resolve_sides
from steelyard.host.doctor import LOAD_LIMIT, STEAL_LIMIT, Activity, watch
from steelyard.host.facts import read_facts
from steelyard.measure.host import DUET_LIMIT
from steelyard.measure.registry import BY_CLOCK, metric_info
from steelyard.results.figures import count, percent
from steelyard.results.schema import GateTerms, Session
from steelyard.results.store import SessionDirectory
from steelyard.sampling.procfs import boot_id
from steelyard.session.opening import begin
from steelyard.session.plan import RunRequest, SessionPlan, metric_checks, plan_of, question_of
from steelyard.session.schedule import make_stages
from steelyard.units import format_duration
from steelyard.yamlfile import first_error

CONFIRMATION = "confirmation"
"""Folder of the second session, in that of the first."""
OTHER_METRICS = (
    "cpu_per_1k",
    "throughput",
    "start_time",
    "allocated_per_1k",
    "memory_rss",
    "first_answers_time",
    "start_cpu",
    "start_rss",
)
"""What a gate reports beside its primary metric, where the procedure measures it."""
CERTIFICATE_PAIRS = 10
"""Pairs of equal arms that a certificate is made of, where nobody asks for more."""
_HOST_OBSERVATIONS = 3
_SECONDS = 2.0
"""Of one observation of the host."""


def plan_gate(
    request: RunRequest, sides: Mapping[str, str], name: str | None, duet: Duet = False
) -> SessionPlan:
    """The plan of a gate without its schedule; what has to be built is not built yet.

    Args:
        request: the experiment that says how to weigh.
        sides: baseline and candidate as they were typed.
        name: the primary metric; None: the experiment's own.
        duet: whether both sides run at once, and how.

    Raises:
        BadInput, MissingRequirement: as `make_plan`; a side that is nothing known.
    """
    first, second = sides.values()
    if first == second:
        raise BadInput(f"baseline and candidate are both {first!r}: give two that may differ")
    base = question_of(request)
    arm = baseline_arm(base)
    levels = resolve_sides(request, base, arm, sides)
    plan = plan_of(request, _with_arms(base, arm, levels, name, INTERIM_PAIRS[-1], duet))
    _refuse_host_states(plan)
    if len({spec.engine for spec in plan.specs.values()}) > 1:
        raise BadInput("one side is an image and the other is not: give two of a kind")
    return plan


def pair_seconds(plan: SessionPlan, certificate: Certificate | str) -> float:
    """What a pair takes: as it did when this was certified, else as its trials are expected to."""
    if isinstance(certificate, Certificate) and certificate.pair_seconds > 0:
        return certificate.pair_seconds
    each = plan.seconds_by_arm()
    return max(each) if plan.second else sum(each)


def schedule_pairs(plan: SessionPlan, pair: float, seconds: float | None) -> tuple[SessionPlan, list[int]]:
    """A gate's plan with its pairs in order, and the pairs after which it is analysed.

    Args:
        plan: from `plan_gate`.
        pair: seconds that a pair takes.
        seconds: time that there is; None: as long as all pairs take.

    Raises:
        BadInput: too little time for the first interim analysis.
    """
    interims = interims_until(INTERIM_PAIRS[-1] if seconds is None else int(seconds / pair))
    if not interims:
        fewest = INTERIM_PAIRS[0]
        raise BadInput(
            f"{fewest} pairs, the fewest that show anything, take about {format_duration(fewest * pair)}: give more"
            " --time, or shorter windows (--quick, --set measure=10s)"
        )
    design = plan.experiment.design.model_copy(update={"blocks": interims[-1]})
    experiment = plan.experiment.model_copy(update={"design": design})
    schedule = make_stages(list(plan.specs), interims, plan.seed)
    return replace(plan, experiment=experiment, schedule=schedule), interims


def plan_certification(request: RunRequest, baseline: str | None = None, duet: Duet = False) -> SessionPlan:
    """The plan of a session whose two arms are the same, run at once in a `duet`.

    Args:
        request: with the pairs that there are to be.
        baseline: what both are, as a gate's was typed; None: the experiment's own.
        duet: whether both run at once, and how.

    Raises:
        BadInput, MissingRequirement: as `plan_gate`.
    """
    base = question_of(request)
    arm = baseline_arm(base)
    level = arm_settings(arm, base.settings)
    if baseline is not None:
        level = resolve_sides(request, base, arm, {"baseline": baseline})["baseline"]
    blocks = request.blocks or CERTIFICATE_PAIRS
    plan = plan_of(request, _with_arms(base, arm, {"one": level, "other": level}, None, blocks, duet))
    if baseline is not None:
        _refuse_host_states(plan)
    return plan


def make_terms(
    plan: SessionPlan,
    interims: Sequence[int],
    sides: Mapping[str, str],
    margin: float,
    seconds: float | None,
    certificate: Certificate | str,
) -> GateTerms:
    """What the gate is judged by, and every reason not to run it at all."""
    name = plan.experiment.metrics.primary
    terms = GateTerms(
        margin=margin,
        looks=list(interims),
        levels=levels_of(interims),
        floor=None,
        seconds=seconds,
        sides=dict(sides),
    )
    if (same := _same(plan)) is not None:
        return terms.model_copy(update={"same": same})
    if isinstance(certificate, str):
        command = shlex.join(["./steelyard", "certify", "--baseline", sides["baseline"]])
        why = (
            f"no noise certificate says what this host can see ({certificate}): make one with `{command}` and the other"
            " options of this gate"
        )
        return terms.model_copy(update={"abstains": [why]})
    noise = certificate.of(name)
    notes = [*_uncertified_notes(plan, certificate), *filter(None, [pool_sentence(certificate, name)])]
    held = {"certificate": certificate.name, "network": certificate.network, "notes": notes}
    terms = terms.model_copy(update=held)
    if noise is None:
        why = f"the noise certificate {certificate.name} has no figure of {metric_info(name).label}"
        return terms.model_copy(update={"abstains": [why]})
    floor = noise.floor_after(interims[-1])
    if floor is None:
        why = (
            f"the noise certificate {certificate.name} says nothing of gates of {count(interims[-1], 'pair')}: make"
            " it again with `./steelyard certify`"
        )
        return terms.model_copy(update={"abstains": [why]})
    abstains = [explain_floor(floor, margin)] if floor > margin else []
    return terms.model_copy(update={"floor": floor, "abstains": abstains})


def _uncertified_notes(plan: SessionPlan, certificate: Certificate) -> list[str]:
    """What a certificate, which is the baseline's, does not hold for in the candidate: sentences."""
    candidate = next(arm.name for arm in plan.arms if not arm.baseline)
    jvm, other = certificate.conditions.jvm, conditions_of(read_facts(), plan.specs[candidate]).jvm
    if other == jvm:
        return []
    note = f"the noise certificate is of the baseline's JVM ({jvm}); the candidate runs another ({other})"
    return [f"{note}, whose noise is not certified"]


def find_certificate_here(
    plan: SessionPlan, folder: Path, pool: str | None, clock: Clock = SYSTEM
) -> Certificate | str:
    """The certificate that holds for the baseline of a plan here and now; else why there is none."""
    return find_certificate(folder, conditions_here(plan, pool), clock.time())


def conditions_here(plan: SessionPlan, pool: str | None) -> Conditions:
    """What a certificate has to hold for."""
    baseline = next(arm.name for arm in plan.arms if arm.baseline)
    return conditions_of(read_facts(), plan.specs[baseline], pool)


def find_disturbances(duet: bool = False) -> list[str]:
    """Why this host is too noisy to begin now, by the calmest of a few observations; empty: it is not.

    A duet is allowed what its trials are.
    """
    observations = [watch(_SECONDS)]
    steal, load = (DUET_LIMIT, DUET_LIMIT) if duet else (STEAL_LIMIT, LOAD_LIMIT)

    def disturbance(activity: Activity) -> str:
        if activity.steal > steal:
            return f"the hypervisor takes {percent(activity.steal)} of the CPU time"
        if activity.busy > load:
            return f"other processes use {percent(activity.busy)} of the CPU time"
        return ""

    while len(observations) < _HOST_OBSERVATIONS and disturbance(observations[-1]):
        observations.append(watch(_SECONDS))
    calmest = min(observations, key=lambda activity: activity.busy + activity.steal)
    why = disturbance(calmest)
    large = (process for process in calmest.processes[:2] if process.share >= LOAD_LIMIT / 2)
    busiest = ", ".join(process.command for process in large)
    return [f"{why}{f' ({busiest})' if busiest else ''}: wait until this host is idle"] if why else []


def create_confirmation(directory: SessionDirectory, clock: Clock = SYSTEM) -> SessionDirectory:
    """The session that confirms a regression: the same with another order and without profiles, in the folder of the
    first."""
    first = directory.session()
    terms = first.gate
    if terms is None:
        raise ValueError(f"{first.id} is no gate")
    second = SessionDirectory(directory.path / CONFIRMATION)
    seed = (first.seed + 1) % 2**63
    update = {
        "id": f"{first.id}-{CONFIRMATION}",
        "created": clock.time(),
        "seed": seed,
        "schedule": make_stages([arm.name for arm in first.arms], terms.looks, seed),
        "gate": terms.model_copy(update={"confirms": first.id}),
        "profilers": [],
        "host": read_facts(),
        "boot": boot_id(),
    }
    second.trials_path.mkdir(parents=True, exist_ok=True)
    begin(second, Session.model_validate({**dict(first), **update}))
    return second


def _with_arms(
    base: LoadedExperiment,
    arm: Arm,
    levels: Mapping[str, Mapping[str, object]],
    name: str | None,
    blocks: int,
    duet: Duet,
) -> LoadedExperiment:
    """The question of two arms; all else is as in the experiment's own baseline."""
    experiment = base.experiment
    if experiment.search is not None:
        raise BadInput(f"{experiment.name} searches, and a search has no pairs: choose another experiment")
    measured = [key for key, procedures in metric_checks().items() if experiment.procedure in procedures]
    given = GIVEN if arm.load.model == "open" else ()
    primary = name or experiment.metrics.primary
    if duet == "in-turns":
        measured = [key for key in measured if key not in BY_CLOCK]
        if primary in BY_CLOCK:
            raise BadInput(
                f"{primary} is measured by the clock, which goes on while a side is frozen: leave --in-turns out"
            )
    if primary not in measured or primary in given or metric_info(primary).better == "neither":
        usable = [key for key in OTHER_METRICS if key in measured and key not in given]
        raise BadInput(
            f"a gate cannot decide by {primary!r}, which {experiment.name} does not measure or which is neither good"
            f" nor bad: choose for example {', '.join(usable)}"
        )
    others = dict.fromkeys([*OTHER_METRICS, *experiment.metrics.report])
    report = [key for key in others if key in measured and key not in given and key != primary]
    changed = {
        "settings": {},
        "factors": {"side": {"label": "side", "levels": {key: dict(level) for key, level in levels.items()}}},
        "baseline": {"side": next(iter(levels))},
        "load": (_twice_as_long(arm.load) if duet == "in-turns" else arm.load).model_dump(),
        "metrics": {"primary": primary, "report": report},
        "design": {**experiment.design.model_dump(), "blocks": blocks, "equal": True, "duet": duet},
        "quick": {},
        "study": None,
    }
    try:
        experiment = Experiment.model_validate({**experiment.model_dump(by_alias=True), **changed})
    except ValidationError as error:
        raise BadInput(": ".join(filter(None, first_error(error)))) from error
    return base._replace(experiment=experiment)


def _twice_as_long(load: Load) -> Load:
    """What gives a side that has every other turn the warm-up and the window that it has alone."""
    limits = {name: 2 * getattr(load.warmup, name) for name in ("at_least", "at_most")}
    warmup = load.warmup.model_copy(update=limits)
    return load.model_copy(update={"warmup": warmup, "measure": 2 * load.measure})


def _refuse_host_states(plan: SessionPlan) -> None:
    if any(spec.host_states for spec in plan.specs.values()):
        raise BadInput("a gate switches no host states: leave them out, or ask by `run`")


def _same(plan: SessionPlan) -> str | None:
    """What both sides are, where they are the same."""
    first, second = (plan.specs[arm.name] for arm in plan.arms)
    if not deploys_same(first, second):
        return None
    artifact = first.servers[0].artifact
    return artifact.image or (f"build {artifact.build}" if artifact.build else "one command line")
