# SPDX-License-Identifier: Apache-2.0
"""What the report of a gate says first: the question of its margin, and the verdict that its own rule came to."""

from steelyard.analysis.sentences import answer
from steelyard.measure.registry import metric_info
from steelyard.results import figures
from steelyard.results.analysis import Analysis
from steelyard.results.figures import capital, count, percent
from steelyard.results.gate import GateResult
from steelyard.results.schema import Session


def question_of(session: Session) -> str:
    """What was asked: of a gate whether its candidate does the harm that its margin forbids."""
    experiment, terms = session.experiment, session.gate
    if terms is None:
        return experiment.question
    label = metric_info(experiment.metrics.primary).label
    return (
        f"Is {terms.sides['candidate']} worse than {terms.sides['baseline']} by {figures.margin_text(terms.margin)}"
        f" or more in {label}?"
    )


def answer_of(session: Session, analysis: Analysis, verdict: GateResult | None) -> list[str]:
    """The answer of a session in sentences; of a gate its verdict, whose rule is not an experiment's.

    Args:
        session: its record.
        analysis: of its trials.
        verdict: of gate.json; None: it is no gate, or has not concluded.
    """
    if verdict is None:
        return answer(session, analysis)
    return [verdict.sentence, *verdict_sentences(session, verdict)[1:]]


def verdict_lead(result: GateResult) -> str:
    """The verdict with its figure."""
    if result.last is None or result.last.ratio is None:
        return f"{capital(result.outcome)}."
    return f"{capital(result.outcome)}: {figures.effect(result.last)} {result.label} with the candidate."


def verdict_sentences(session: Session, result: GateResult) -> list[str]:
    """What the verdict rests on, what else moved, and how far to believe it."""
    finding = capital(result.sentence.removeprefix(f"{result.outcome}: "))
    return [
        finding,
        *(f"{capital(note)}." for note in result.notes),
        *_other_metrics(result),
        _belief(session, result),
    ]


def _other_metrics(result: GateResult) -> list[str]:
    moved = [other for other in result.beside if other.finding]
    if moved:
        words = {"beyond noise": ""}
        each = (f"{o.label} {o.change} {words.get(o.finding, o.finding)}".rstrip() for o in moved)
        return [f"Beyond noise beside it, deciding nothing: {'; '.join(each)}."]
    if result.beside:
        return [
            f"Beside it {count(len(result.beside), 'metric')} decided nothing, and none moved beyond noise."
        ]
    return []


def _belief(session: Session, result: GateResult) -> str:
    planned = max(place.block for place in session.schedule)
    parts = [
        f"{result.last.pairs if result.last is not None else 0} of at most {count(planned, 'pair')} were used"
    ]
    if result.void:
        parts.append(
            f"{result.void} of {count(result.trials, 'trial')} {'was' if result.void == 1 else 'were'} void"
        )
    if result.floor is not None:
        parts.append(f"by its noise certificate this host finds harm of {percent(result.floor)} or more")
    return f"How far to believe it: {'; '.join(parts)}."
