# SPDX-License-Identifier: Apache-2.0
"""What a gate weighs, and its sessions: from two words of the command line to a plan, and to the session that confirms.

baseline, candidate -> settings of each side -> the experiment with these two arms -> plan, looks that fit the time
                    -> reasons to abstain: no certificate, one that cannot see the margin, a noisy host
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from steelyard.analysis.estimates import GIVEN
from steelyard.analysis.figures import percent
from steelyard.analysis.ledger import DUET_LIMIT
from steelyard.analysis.metrics import metric
from steelyard.clock import SYSTEM, Clock
from steelyard.errors import BadInput
from steelyard.experiment.loader import Question
from steelyard.experiment.matrix import Arm
from steelyard.experiment.schema import Experiment
from steelyard.gate.certificate import Certificate, find_certificate
from steelyard.gate.conditions import Conditions, conditions_of
from steelyard.gate.looks import LOOKS
from steelyard.gate.result import cannot_see
from steelyard.host.doctor import LOAD_LIMIT, STEAL_LIMIT, Activity, watch
from steelyard.host.facts import read_facts
from steelyard.results.schema import GateTerms, Session
from steelyard.results.store import SessionDirectory, write_record
from steelyard.session.plan import Request, SessionPlan, metric_checks, plan_of, question_of
from steelyard.session.schedule import CERTIFIED, make_stages, trial_seconds
from steelyard.session.sides import baseline_arm, levels_of, settings_of
from steelyard.units import format_duration
from steelyard.yamlfile import first_error

CONFIRMATION = "confirmation"
"""Folder of the second session, in that of the first."""
BESIDE = (
    "cpu_per_1k",
    "throughput",
    "start_time",
    "allocated_per_1k",
    "memory_rss",
    "first_answers_time",
    "start_cpu",
    "start_rss",
)
"""What a change is looked at for, beside the primary metric, where the procedure measures it."""
_LOOKS_AT_HOST = 3
_SECONDS = 2.0


def gate_plan(
    request: Request, sides: Mapping[str, str], name: str | None, duet: bool = False
) -> SessionPlan:
    """The plan of a gate, not scheduled yet; what has to be built is not built yet.

    Args:
        request: the experiment that says how to weigh.
        sides: baseline and candidate as they were typed.
        name: the primary metric; None: the experiment's own.
        duet: whether both sides run at once.

    Raises:
        BadInput, MissingRequirement: as `make_plan`; a side that is nothing known.
    """
    first, second = sides.values()
    if first == second:
        raise BadInput(f"baseline and candidate are both {first!r}: give two that may differ")
    base = question_of(request)
    arm = baseline_arm(base)
    levels = levels_of(request, base, arm, sides)
    plan = plan_of(request, _with_arms(base, arm, levels, name, LOOKS[-1], duet))
    _refuse_host_states(plan)
    if len({spec.engine for spec in plan.specs.values()}) > 1:
        raise BadInput("one side is an image and the other is not: give two of a kind")
    return plan


def pair_seconds(plan: SessionPlan, certificate: Certificate | str) -> float:
    """What a pair takes: as it did when this was certified, else as its trials are expected to."""
    if isinstance(certificate, Certificate) and certificate.pair_seconds > 0:
        return certificate.pair_seconds
    each = [sum(trial_seconds(spec)) / 2 for spec in plan.specs.values()]
    return max(each) if plan.second else sum(each)


def scheduled(plan: SessionPlan, pair: float, seconds: float | None) -> tuple[SessionPlan, list[int]]:
    """A gate's plan with its pairs in order, and its looks.

    Args:
        plan: from `gate_plan`.
        pair: seconds that a pair takes.
        seconds: time that there is; None: as long as the looks want.

    Raises:
        BadInput: too little time for the first look.
    """
    looks = [look for look in LOOKS if seconds is None or look * pair <= seconds]
    if not looks:
        raise BadInput(
            f"{LOOKS[0]} pairs, the fewest that show anything, take about {format_duration(LOOKS[0] * pair)}: give"
            " more --time, or shorter windows (--quick, --set measure=10s)"
        )
    design = plan.experiment.design.model_copy(update={"blocks": looks[-1]})
    experiment = plan.experiment.model_copy(update={"design": design})
    schedule = make_stages(list(plan.specs), looks, plan.seed)
    return replace(plan, experiment=experiment, schedule=schedule), looks


def equal_plan(request: Request, baseline: str | None = None, duet: bool = False) -> SessionPlan:
    """The plan of a session whose two arms are the same, run at once in a `duet`.

    Args:
        request: with the pairs that there are to be.
        baseline: what both are, as a gate's was typed; None: the experiment's own.
        duet: whether both run at once.

    Raises:
        BadInput, MissingRequirement: as `gate_plan`.
    """
    base = question_of(request)
    arm = baseline_arm(base)
    level = settings_of(arm, base.settings)
    if baseline is not None:
        level = levels_of(request, base, arm, {"baseline": baseline})["baseline"]
    blocks = request.blocks or CERTIFIED
    plan = plan_of(request, _with_arms(base, arm, {"one": level, "other": level}, None, blocks, duet))
    if baseline is not None:
        _refuse_host_states(plan)
    return plan


def terms_of(
    plan: SessionPlan,
    looks: Sequence[int],
    sides: Mapping[str, str],
    margin: float,
    seconds: float | None,
    certificate: Certificate | str,
) -> GateTerms:
    """What the gate is judged by, and every reason not to run it at all."""
    name = plan.experiment.metrics.primary
    terms = GateTerms(margin=margin, looks=list(looks), floor=None, seconds=seconds, sides=dict(sides))
    if (same := _same(plan)) is not None:
        return terms.model_copy(update={"same": same})
    if isinstance(certificate, str):
        asked = shlex.join(["./steelyard", "certify", "--baseline", sides["baseline"]])
        why = (
            f"no noise certificate says what this host can see ({certificate}): make one with `{asked}` and the other"
            " options of this gate"
        )
        return terms.model_copy(update={"abstains": [why]})
    noise = certificate.of(name)
    terms = terms.model_copy(
        update={"certificate": certificate.name, "notes": _uncertified(plan, certificate)}
    )
    if noise is None:
        why = f"the noise certificate {certificate.name} has no figure of {metric(name).label}"
        return terms.model_copy(update={"abstains": [why]})
    floor = noise.floors.get(looks[-1], noise.floor)
    abstains = [cannot_see(floor, margin)] if floor > margin else []
    return terms.model_copy(update={"floor": floor, "abstains": abstains})


def _uncertified(plan: SessionPlan, certificate: Certificate) -> list[str]:
    """What a certificate, which is the baseline's, does not hold for in the candidate: sentences."""
    candidate = next(arm.name for arm in plan.arms if not arm.baseline)
    jvm, other = certificate.conditions.jvm, conditions_of(read_facts(), plan.specs[candidate]).jvm
    if other == jvm:
        return []
    told = f"the noise certificate is of the baseline's JVM ({jvm}); the candidate runs another ({other})"
    return [f"{told}, whose noise is not certified"]


def certificate_for(
    plan: SessionPlan, folder: Path, pool: str | None, clock: Clock = SYSTEM
) -> Certificate | str:
    """The certificate that holds for the baseline of a plan here and now; else why there is none."""
    return find_certificate(folder, conditions_here(plan, pool), clock.time())


def conditions_here(plan: SessionPlan, pool: str | None) -> Conditions:
    """What a certificate has to hold for."""
    baseline = next(arm.name for arm in plan.arms if arm.baseline)
    return conditions_of(read_facts(), plan.specs[baseline], pool)


def noisy_host(duet: bool = False) -> list[str]:
    """Why this host is too noisy to begin now: the calmest of a few looks. A duet takes what its trials may meet."""
    seen = [watch(_SECONDS)]
    steal, load = (DUET_LIMIT, DUET_LIMIT) if duet else (STEAL_LIMIT, LOAD_LIMIT)

    def disturbed(look: Activity) -> str:
        if look.steal > steal:
            return f"the hypervisor takes {percent(look.steal)} of the CPU time"
        if look.busy > load:
            return f"other processes use {percent(look.busy)} of the CPU time"
        return ""

    while len(seen) < _LOOKS_AT_HOST and disturbed(seen[-1]):
        seen.append(watch(_SECONDS))
    calmest = min(seen, key=lambda one: one.busy + one.steal)
    why = disturbed(calmest)
    busiest = ", ".join(one.command for one in calmest.processes[:2] if one.share >= LOAD_LIMIT / 2)
    return [f"{why}{f' ({busiest})' if busiest else ''}: wait until this host is idle"] if why else []


def new_confirmation(directory: SessionDirectory, clock: Clock = SYSTEM) -> SessionDirectory:
    """The session that confirms a regression: the same with another order, in the folder of the first."""
    first = directory.session()
    terms = first.gate
    if terms is None:
        raise ValueError(f"{first.id} is no gate")
    found = SessionDirectory(directory.path / CONFIRMATION)
    seed = (first.seed + 1) % 2**63
    update = {
        "id": f"{first.id}-{CONFIRMATION}",
        "created": clock.time(),
        "seed": seed,
        "schedule": make_stages([arm.name for arm in first.arms], terms.looks, seed),
        "gate": terms.model_copy(update={"confirms": first.id}),
        "host": read_facts(),
    }
    found.trials_path.mkdir(parents=True, exist_ok=True)
    write_record(found.path / "session.json", Session.model_validate({**dict(first), **update}))
    return found


def _with_arms(
    base: Question,
    arm: Arm,
    levels: Mapping[str, Mapping[str, Any]],
    name: str | None,
    blocks: int,
    duet: bool,
) -> Question:
    """The question of two arms; all else is as in the experiment's own baseline."""
    experiment = base.experiment
    if experiment.search is not None:
        raise BadInput(f"{experiment.name} searches, and a search has no pairs: choose another experiment")
    measured = [key for key, procedures in metric_checks().items() if experiment.procedure in procedures]
    given = GIVEN if arm.load.model == "open" else ()
    primary = name or experiment.metrics.primary
    if primary not in measured or primary in given or metric(primary).better == "neither":
        usable = [key for key in BESIDE if key in measured and key not in given]
        raise BadInput(
            f"a gate cannot decide by {primary!r}, which {experiment.name} does not measure or which is neither good"
            f" nor bad: choose for example {', '.join(usable)}"
        )
    asked = dict.fromkeys([*BESIDE, *experiment.metrics.report])
    report = [key for key in asked if key in measured and key not in given and key != primary]
    changed = {
        "settings": {},
        "factors": {"side": {"label": "side", "levels": {key: dict(one) for key, one in levels.items()}}},
        "baseline": {"side": next(iter(levels))},
        "load": arm.load.model_dump(),
        "metrics": {"primary": primary, "report": report},
        "design": {**experiment.design.model_dump(), "blocks": blocks, "equal": True, "duet": duet},
        "quick": {},
        "study": None,
    }
    try:
        made = Experiment.model_validate({**experiment.model_dump(by_alias=True), **changed})
    except ValidationError as error:
        raise BadInput(": ".join(filter(None, first_error(error)))) from error
    return base._replace(experiment=made)


def _refuse_host_states(plan: SessionPlan) -> None:
    if any(spec.host_states for spec in plan.specs.values()):
        raise BadInput("a gate switches no host states: leave them out, or ask by `run`")


def _same(plan: SessionPlan) -> str | None:
    """What both sides are, where they are the same."""
    one, other = (
        spec.model_copy(update={"arm": "", "notes": []})
        for spec in (plan.specs[arm.name] for arm in plan.arms)
    )
    if one != other:
        return None
    artifact = one.servers[0].artifact
    return artifact.image or (f"build {artifact.build}" if artifact.build else "one command line")
