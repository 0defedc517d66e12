# SPDX-License-Identifier: Apache-2.0
"""The answer of a session as figures in a few words: what stands first on the page (pure)."""

from steelyard.analysis.climbs import ALL, join_words, ramp_up_lead
from steelyard.analysis.estimates import arm_label
from steelyard.analysis.findings import is_inconclusive, mostly_unsteady
from steelyard.analysis.search import value_text
from steelyard.analysis.sentences import SURVIVED, primary_claim
from steelyard.analysis.wording import beyond_noise
from steelyard.results import figures
from steelyard.results.analysis import Analysis, SearchResult
from steelyard.results.schema import Session


def lead(session: Session, analysis: Analysis) -> str:
    """One sentence of figures: what searches found, how many trials lived, when throughput was there, or the change of
    the primary metric."""
    if analysis.searches:
        return _search_lead(session, analysis)
    if analysis.summaries.get(SURVIVED):
        lived = [
            f"{round(summary.mean * summary.n)} of {summary.n} with {arm_label(session, arm)}"
            for arm, summary in analysis.summaries[SURVIVED].items()
        ]
        return f"Trials that lived to the end: {join_words(lived)}."
    return ramp_up_lead(session, analysis) or _effect_lead(session, analysis)


def _search_lead(session: Session, analysis: Analysis) -> str:
    results = [result for result in analysis.searches if result.value is not None]
    if not results:
        return "The searches found no value."
    shown = results if len(results) <= ALL else [min(results, key=_value), max(results, key=_value)]
    changes = {r.arm: f" ({figures.change(r.against.ratio)})" for r in results if r.against is not None}
    if len(results) != 2 or len(changes) != 1:
        changes = {}
    texts = [
        f"{value_text(r.varies, _value(r))} with {arm_label(session, r.arm)}{changes.get(r.arm, '')}"
        for r in shown
    ]
    rest = f" ({len(results) - len(shown)} further arms lie between)" if len(shown) < len(results) else ""
    return f"{join_words(texts)}{rest}."


def _value(result: SearchResult) -> float:
    assert result.value is not None
    return result.value


def _effect_lead(session: Session, analysis: Analysis) -> str:
    claim = primary_claim(session, analysis)
    estimates = analysis.estimates.get(analysis.primary, {})
    arms = [arm for arm in claim.arms if arm in estimates and estimates[arm].ratio is not None]
    if claim.verdict == "no answer" or not arms:
        return "No answer."
    label = next((m.label for m in analysis.metrics if m.name == analysis.primary), analysis.primary)
    arm = arms[-1]
    estimate = estimates[arm]
    change = f"{figures.effect(estimate)} {label} with {arm_label(session, arm)}"
    if is_inconclusive(estimate):
        return f"Inconclusive: {change}."
    if not {arm, analysis.baseline}.isdisjoint(mostly_unsteady(analysis)):
        return f"Not steady: {change}."
    if beyond_noise(estimate):
        return f"{change}."
    if claim.verdict == "equal":
        return f"Equal {label}: {change}."
    limit = estimate.cannot_rule_out
    return (
        f"No difference shown: {change}, {figures.not_ruled_out(limit)}."
        if limit is not None
        else f"{change}."
    )
