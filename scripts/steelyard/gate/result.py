# SPDX-License-Identifier: Apache-2.0
"""What a gate answers in the end: made from its session, and from the one that confirms it, alone."""

import math
from collections import Counter
from collections.abc import Sequence

from steelyard.analysis.estimates import analyse
from steelyard.analysis.paired import paired_test, ratio_of
from steelyard.analysis.rounds import seconds_of
from steelyard.analysis.wording import beyond_noise
from steelyard.gate.controls import moved_controls
from steelyard.gate.elsewhere import place_of_confirmation
from steelyard.gate.interim import DECIDED, LAST, InterimAnalysis, arms_of, interim_analyses
from steelyard.measure.ledger import void_by_partner, voiding_checks
from steelyard.measure.network import network_of
from steelyard.measure.registry import metric_info
from steelyard.results.figures import beside_margin, bounds, capital, count, effect, margin_text, percent
from steelyard.results.gate import GateResult, InterimResult, OtherMetric, Outcome
from steelyard.results.schema import Session, Trial
from steelyard.session.schedule import is_out_of_time
from steelyard.units import format_duration

Ended = tuple[Session, Sequence[Trial]]
_CAUSES = {"clock-step": 0, "sample-gaps": 1}
"""Checks whose failure makes further figures of a trial wrong; the first explains the second."""


def needs_confirmation(first: Ended) -> bool:
    """Whether a session ended with a regression, which a second one has to confirm."""
    analyses = interim_analyses(*first)
    return bool(analyses) and analyses[-1].verdict.outcome == "regression"


def conclude(first: Ended, second: Ended | None) -> GateResult:
    """The answer of a gate whose sessions have ended."""
    session, trials = first
    terms = session.gate
    if terms is None:
        raise ValueError(f"{session.id} is no gate")
    info = metric_info(session.experiment.metrics.primary)
    analyses, again = interim_analyses(*first), interim_analyses(*second) if second is not None else None
    outcome, sentence = _answer(session, trials, analyses, again, second and second[0])
    if outcome != "inconclusive" and (moved := moved_controls(session, trials)):
        outcome, sentence = "inconclusive", f"inconclusive: {'; '.join(moved)}. Without that: {sentence}"
    for part in filter(None, (first, second)):
        if outcome != "inconclusive" and (why := _other_path(*part)):
            outcome, sentence = "inconclusive", f"inconclusive: {why}. Without that: {sentence}"
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
        workload=f"{session.workload.name} {session.workload.version}",
        session=session.id,
        seconds=seconds_of(trials) + (seconds_of(second[1]) if second is not None else 0.0),
        looks=[_interim_result(analysis) for analysis in analyses],
        confirmation=[_interim_result(analysis) for analysis in again] if again is not None else None,
        beside=_other_metrics(session, trials) if trials else [],
        notes=[*terms.notes, *_confirmation_notes(session, second, needs_confirmation(first))],
        void=sum(trial.state == "void" for trial in ended),
        trials=len(ended),
    )


def _other_path(session: Session, trials: Sequence[Trial]) -> str | None:
    """Why a session is no equal of those of its certificate: its requests went another way."""
    network = network_of(trials)
    if session.gate is None or not session.gate.network or network in ("", session.gate.network):
        return None
    return f"requests went by {network}, and in the sessions of the certificate by {session.gate.network}"


def _confirmation_notes(session: Session, second: Ended | None, needed: bool) -> list[str]:
    """What a confirmation on another host was judged by, or how to make one that was left."""
    terms = session.gate if second is None else second[0].gate
    if terms is None:
        return []
    if second is None:
        if not needed or not terms.leaves_confirmation:
            return []
        there = f"`./steelyard gate --confirms {session.id}` and the options of this gate on another host"
        return [
            f"confirm it with {there}, or with `./steelyard resume {session.id}` here, best after a restart"
        ]
    if place_of_confirmation(session, second[0]) != "another host" or terms.floor is None:
        return []
    by = f"{terms.certificate}, which finds harm of {percent(terms.floor)} at the least"
    return [f"the second session ran on {second[0].host.hostname}, by the certificate {by}", *terms.notes]


def _answer(
    session: Session,
    trials: Sequence[Trial],
    analyses: Sequence[InterimAnalysis],
    again: Sequence[InterimAnalysis] | None,
    second: Session | None,
) -> tuple[Outcome, str]:
    """The verdict and its sentence."""
    terms = session.gate
    assert terms is not None
    if terms.same is not None:
        return "pass", f"pass: both sides are the same ({terms.same}), so there is nothing to measure."
    if terms.abstains:
        return "inconclusive", f"inconclusive: {'; '.join(terms.abstains)}."
    if not analyses:
        if is_out_of_time(session, trials):
            began = count(len({trial.block for trial in trials}), "pair")
            given = format_duration(terms.seconds or 0.0)
            why = f"inconclusive: the time that was given ({given}) was used up"
            return (
                "inconclusive",
                f"{why} after {began}, before the first interim analysis{main_void_reason(trials)}.",
            )
        return "inconclusive", "inconclusive: the session ended before its first interim analysis."
    last = analyses[-1]
    outcome, effect = last.verdict.outcome, last.estimate
    finding = f"{last.verdict.finding(metric_info(effect.metric).label)}, over {count(effect.n, 'pair')}"
    if outcome == "regression":
        return _confirm(finding, again[-1] if again else None, session, second)
    why = "" if last.stops in (DECIDED, LAST) else f"; {last.stops or _UNTIMELY}"
    if outcome == "inconclusive" and (effect.unequal or 2 * effect.n < last.blocks):
        why += main_void_reason(trials)
    return outcome, f"{outcome}: {finding}{why}."


_UNTIMELY = "the time that was given was used up before the next interim analysis"
"""Why a gate has ended whose last analysis asked for more pairs."""


def main_void_reason(trials: Sequence[Trial]) -> str:
    """What voided most trials, in the words of the ledger; nothing where none is void."""
    void = [
        min(failed, key=lambda check: _CAUSES.get(check.name, len(_CAUSES)))
        for trial in trials
        if trial.state == "void"
        and not void_by_partner(trial.checks)
        and (failed := voiding_checks(trial.checks))
    ]
    if not void:
        return ""
    (name, often), *_ = Counter(check.name for check in void).most_common(1)
    detail = next(check.detail for check in reversed(void) if check.name == name).rstrip(".")
    return f"; of {count(len(void), 'void trial')} {often} by the check {name}: {detail}"


def _confirm(
    finding: str, last: InterimAnalysis | None, first: Session, second: Session | None
) -> tuple[Outcome, str]:
    """What becomes of a regression by the last analysis of the second session; None: there was none."""
    if last is None or second is None:
        unconfirmed = f"inconclusive: {finding}, but nothing confirmed it"
        if second is not None and second.gate is not None and second.gate.abstains:
            return "inconclusive", f"{unconfirmed}: {'; '.join(second.gate.abstains)}."
        left = second is None and first.gate is not None and first.gate.leaves_confirmation
        return "inconclusive", f"{unconfirmed}{' yet: that is left to another host' if left else ''}."
    where = place_of_confirmation(first, second)
    repeated = f"({effect(last.estimate)}, over {count(last.estimate.n, 'pair')})"
    if last.verdict.outcome == "regression":
        return "regression", f"regression: {finding}, and again in a second session on {where} {repeated}."
    return (
        "inconclusive",
        f"inconclusive: {finding}, but a second session with another order on {where} did not confirm it {repeated}.",
    )


def _interim_result(analysis: InterimAnalysis) -> InterimResult:
    core = paired_test([math.log(ratio) for ratio in analysis.estimate.ratios], analysis.level)
    low, high = (ratio_of(core.low), ratio_of(core.high)) if core and not core.is_tied else (None, None)
    return InterimResult(
        blocks=analysis.blocks,
        pairs=analysis.estimate.n,
        ratio=analysis.estimate.ratio,
        low=low,
        high=high,
        sentence=analysis.verdict.sentence,
        stops=analysis.stops,
    )


def _other_metrics(session: Session, trials: Sequence[Trial]) -> list[OtherMetric]:
    """What the other metrics show: they annotate."""
    analysis = analyse(session, trials)
    _, candidate = arms_of(session)
    asked = session.experiment.metrics
    infos = {info.name: info for info in analysis.metrics}
    metrics = []
    for name in asked.report:
        estimate = analysis.estimates.get(name, {}).get(candidate)
        if estimate is None or estimate.ratio is None or name == asked.primary:
            continue
        info = infos[name]
        shown = beyond_noise(estimate)
        harms = shown and info.better != "neither"
        metrics.append(
            OtherMetric(
                metric=name,
                label=capital(info.label),
                change=f"{effect(estimate)} ({bounds(estimate) or 'no interval'})",
                better=info.better,
                worse=(estimate.ratio > 1) is (info.better == "lower") if harms else None,
                shown=shown,
                ratio=estimate.ratio,
                low=estimate.low,
                high=estimate.high,
            )
        )
    return metrics


def explain_floor(floor: float, margin: float) -> str:
    """Why a certificate forbids a margin."""
    return (
        f"this host finds harm of {beside_margin(floor, margin)} at the least by its noise certificate,"
        f" and the margin is {margin_text(margin)}: use a quieter host, longer windows or a wider margin"
    )
