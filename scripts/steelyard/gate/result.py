# SPDX-License-Identifier: Apache-2.0
"""What a gate answers in the end: gate.json, made from its session, and from the one that confirms it, alone."""

import math
from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from steelyard.analysis.estimates import analyse
from steelyard.analysis.figures import bounds, capital, count, effect, percent
from steelyard.analysis.ledger import void_by_partner
from steelyard.analysis.metrics import metric
from steelyard.analysis.paired import paired
from steelyard.analysis.rounds import seconds_of
from steelyard.analysis.sentences import beyond_noise
from steelyard.experiment.schema import Metrics
from steelyard.gate.looks import LAST, LOOK_LEVEL, Look, arms_of, looks_of
from steelyard.gate.verdict import Outcome
from steelyard.results.analysis import Estimate
from steelyard.results.schema import FORMAT_VERSION, Session, Trial
from steelyard.results.spec import Record

Ended = tuple[Session, Sequence[Trial]]
_CAUSES = {"clock-step": 0, "sample-gaps": 1}
"""Checks whose failure makes further figures of a trial wrong; the first explains the second."""


class LookResult(Record):
    """One look."""

    blocks: int
    pairs: int
    """Those of them that could be used."""
    ratio: float | None
    low: float | None
    """98 % interval of the ratio."""
    high: float | None
    sentence: str
    stops: str | None
    """Why it was the last."""


class Beside(Record):
    """A further metric, which decides nothing."""

    metric: str
    label: str
    change: str
    """The change with its 95 % interval, for people."""
    better: str
    worse: bool | None
    """Beyond noise (Bonferroni's correction over all of them); None: not shown."""
    ratio: float | None
    low: float | None
    high: float | None


class GateResult(Record):
    """gate.json."""

    format_version: int = FORMAT_VERSION
    outcome: Outcome
    sentence: str
    metric: str
    label: str
    better: str
    margin: float
    floor: float | None
    certificate: str | None
    sides: dict[str, str]
    workload: str
    session: str
    seconds: float
    """That its trials took."""
    looks: list[LookResult]
    confirmation: list[LookResult] | None = None
    """Looks of the session that should confirm a regression; None: there was nothing to confirm."""
    beside: list[Beside] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    """What belongs beside the answer: sentences."""
    void: int = 0
    trials: int = 0


def to_confirm(first: Ended) -> bool:
    """Whether a session ended with a regression, which a second one has to confirm."""
    looks = looks_of(*first)
    return bool(looks) and looks[-1].verdict.outcome == "regression"


def conclude(first: Ended, second: Ended | None) -> GateResult:
    """The answer of a gate whose sessions have ended."""
    session, trials = first
    terms = session.gate
    if terms is None:
        raise ValueError(f"{session.id} is no gate")
    info = metric(str(session.experiment["metrics"]["primary"]))
    looks, again = looks_of(*first), looks_of(*second) if second is not None else None
    outcome, sentence = _answer(session, trials, looks, again)
    ended = [*trials, *(second[1] if second is not None else ())]
    return GateResult(
        outcome=outcome,
        sentence=sentence,
        metric=info.name,
        label=info.label,
        better=info.better,
        margin=terms.margin,
        floor=terms.floor,
        certificate=terms.certificate,
        sides=terms.sides,
        workload=f"{session.workload['name']} {session.workload['version']}",
        session=session.id,
        seconds=seconds_of(trials) + (seconds_of(second[1]) if second is not None else 0.0),
        looks=[_told(look) for look in looks],
        confirmation=[_told(look) for look in again] if again is not None else None,
        beside=_beside(session, trials) if trials else [],
        notes=terms.notes,
        void=sum(one.state == "void" for one in ended),
        trials=len(ended),
    )


def _answer(
    session: Session, trials: Sequence[Trial], looks: Sequence[Look], again: Sequence[Look] | None
) -> tuple[Outcome, str]:
    """The verdict and its sentence."""
    terms = session.gate
    assert terms is not None
    if terms.same is not None:
        return "pass", f"pass: both sides are the same ({terms.same}), so there is nothing to measure."
    if terms.abstains:
        return "inconclusive", f"inconclusive: {'; '.join(terms.abstains)}."
    if not looks:
        return "inconclusive", "inconclusive: the session ended before its first look."
    last = looks[-1]
    told = last.verdict.sentence.rstrip(".").replace(last.found.metric, metric(last.found.metric).label, 1)
    told = f"{told.removesuffix(': run more blocks')}, over {count(last.found.n, 'pair')}"
    if last.verdict.outcome == "regression":
        return _confirmed(told, again[-1] if again else None)
    why = "" if last.stops in ("it is decided", LAST) else f"; {last.stops}"
    if last.verdict.outcome == "inconclusive" and (last.found.unequal or 2 * last.found.n < last.blocks):
        why += most_void(trials)
    return last.verdict.outcome, f"{told}{why}."


def most_void(trials: Sequence[Trial]) -> str:
    """What voided most trials, in the words of the ledger; nothing where none is void."""
    void = [
        min(failed, key=lambda check: _CAUSES.get(check.name, len(_CAUSES)))
        for trial in trials
        if trial.state == "void"
        and not void_by_partner(trial.checks)
        and (failed := [one for one in trial.checks if one.voids and one.failed])
    ]
    if not void:
        return ""
    (name, often), *_ = Counter(check.name for check in void).most_common(1)
    detail = next(check.detail for check in reversed(void) if check.name == name).rstrip(".")
    return f"; of {count(len(void), 'void trial')} {often} by the check {name}: {detail}"


def _confirmed(told: str, second: Look | None) -> tuple[Outcome, str]:
    """What becomes of a regression by the last look of the second session; None: there was none."""
    doubted = f"inconclusive: {told.removeprefix('regression: ')}"
    if second is None:
        return "inconclusive", f"{doubted}, but nothing confirmed it."
    repeated = f"({effect(second.found)}, over {count(second.found.n, 'pair')})"
    if second.verdict.outcome == "regression":
        return "regression", f"{told}, and again in a second session {repeated}."
    return (
        "inconclusive",
        f"{doubted}, but a second session with another order did not confirm it {repeated}.",
    )


def _told(look: Look) -> LookResult:
    found = look.found
    core = paired([math.log(ratio) for ratio in found.ratios], LOOK_LEVEL)
    low, high = (math.exp(core.low), math.exp(core.high)) if core and not core.tied else (None, None)
    return LookResult(
        blocks=look.blocks,
        pairs=found.n,
        ratio=found.ratio,
        low=low,
        high=high,
        sentence=look.verdict.sentence,
        stops=look.stops,
    )


def _beside(session: Session, trials: Sequence[Trial]) -> list[Beside]:
    """What the other metrics show: they annotate."""
    analysis = analyse(session, trials)
    _, candidate = arms_of(session)
    asked = Metrics.model_validate(session.experiment["metrics"])
    infos = {info.name: info for info in analysis.metrics}
    found = []
    for name in asked.report:
        one = analysis.estimates.get(name, {}).get(candidate)
        if one is None or one.ratio is None or name == asked.primary:
            continue
        info = infos[name]
        shown = beyond_noise(one) and info.better != "neither"
        worse = _is_worse(one, info.better) if shown else None
        told = f"{effect(one)} ({bounds(one) or 'no interval'})"
        found.append(
            Beside(
                metric=name,
                label=capital(info.label),
                change=told,
                better=info.better,
                worse=worse,
                ratio=one.ratio,
                low=one.low,
                high=one.high,
            )
        )
    return found


def _is_worse(found: Estimate, better: str) -> bool:
    return (found.ratio or 1.0) > 1 if better == "lower" else (found.ratio or 1.0) < 1


def cannot_see(floor: float, margin: float) -> str:
    """Why a certificate forbids a margin."""
    return (
        f"this host finds harm of {percent(floor)} at the least by its noise certificate, and the margin is"
        f" {percent(margin)}: use a quieter host, longer windows or a wider margin"
    )
