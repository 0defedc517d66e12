# SPDX-License-Identifier: Apache-2.0
"""The searches of a session: what a trial says, and which trial comes next. Pure: all of it follows from the outcomes.

Through it go the session (what is searched for, within which limits, by which arms) and its trials: trial -> step
(passed, failed, void, or the share measured, with the reason) -> the steps of one arm in one block -> the next trial.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from steelyard.analysis.search import SearchState, search_state
from steelyard.errors import BadInput
from steelyard.experiment.schema import Search
from steelyard.measure.cpu import cpu_share
from steelyard.measure.latency import response_times
from steelyard.measure.offered_load import worst_cycle
from steelyard.results.analysis import SearchStep
from steelyard.results.schema import Check, Planned, ScheduledTrial, Session, Trial
from steelyard.results.spec import Spec
from steelyard.spec.search import range_of
from steelyard.units import format_duration_short
from steelyard.workload.schema import Limits
from steelyard.yamlfile import nearest

Outcome = Literal["passed", "failed", "measured", "void"]

OVERLOAD = frozenset({"errors", "late-arrivals", "arrival-rate", "restarts"})
"""Ledger checks that too much load or too little memory fails by itself: the value has failed and is not unknown."""
SURVIVAL = frozenset({"errors", "late-arrivals", "stalled"})
"""The same of a survive trial, where they void nothing: what does not answer has not survived."""
UPSET = frozenset({"operation-mix", "outcomes", "counts-window", "counts"})
"""Checks that failing requests may upset: no reason to doubt a failure, and every reason to doubt a pass."""

_LIMITS = ("errors", "p50", "p90", "p99")
_LOWER = {"p90": ("p90", "p50"), "p99": ("p90", "p50")}
"""Lower quantiles that show a limit broken where there are too few requests for its own."""


@dataclass(frozen=True)
class SearchQuestion:
    """What a session searches for."""

    search: Search
    limits: Limits
    specs: Mapping[str, Spec]
    """By arm."""
    repeats: int
    """How often a void trial may be repeated in a row."""


def question_of(session: Session) -> SearchQuestion | None:
    """What a session searches for; None for one that does not (raises BadInput as `limits_of` does)."""
    experiment = session.experiment
    if experiment.search is None:
        return None
    return SearchQuestion(
        search=experiment.search,
        limits=limits_of(experiment.search, session.workload.limits),
        specs={arm.name: arm.spec for arm in session.arms},
        repeats=experiment.design.repeats,
    )


def refuse_unknown(limits: Limits, specs: Iterable[Spec]) -> None:
    """Refuse limits of operations that an arm's users do not send (raises BadInput)."""
    for spec in specs:
        for name in limits.operations:
            if name not in spec.mix and name not in spec.varying:
                raise BadInput(
                    f"{spec.arm}: limits name the operation {name!r}{nearest(name, sorted(spec.mix))}, which is not"
                    f" among those of {spec.workload}"
                )


def limits_of(search: Search, own: Limits) -> Limits:
    """The limits of a search: its own; where it names none and raises a load, the workload's.

    Raises:
        BadInput: a load is to be raised, and there is no limit.
    """
    limits = own if search.raise_ is not None and search.within == Limits() else search.within
    if search.raise_ is not None and limits == Limits():
        raise BadInput(
            "a load is raised as far as limits hold, and the workload has none: give search.within"
        )
    return limits


def next_search_trial(
    question: SearchQuestion, schedule: Sequence[ScheduledTrial], outcomes: Sequence[Trial]
) -> Planned | None:
    """What to run next, or None when every search has ended.

    Each place of the schedule is one search. Blocks, and plots in them, run one after the other; the searches of a plot
    take turns, so that a drift of the host meets all of its arms: the one with the fewest trials, then in the order of
    the schedule. Interrupted trials are not outcomes: they run again as if they had not been started.
    """
    for plot in dict.fromkeys((place.block, place.plot) for place in schedule):
        waiting = []
        for place in schedule:
            if (place.block, place.plot) == plot:
                steps = steps_of(question, outcomes, place.block, place.arm)
                view = view_of(question, place.arm, steps)
                if view.next is not None:
                    waiting.append((len(steps), place.order, place, view.next))
        if waiting:
            attempt, _, place, value = min(waiting, key=lambda candidate: candidate[:2])
            return Planned.at(place, len(outcomes), attempt, value)
    return None


def view_of(question: SearchQuestion, arm: str, steps: Sequence[SearchStep]) -> SearchState:
    """Where the search of an arm stands after these steps."""
    where = range_of(question.search, question.specs[arm])
    return search_state(question.search, where, steps, question.repeats)


def steps_of(question: SearchQuestion, trials: Sequence[Trial], block: int, arm: str) -> list[SearchStep]:
    """The steps of one search, in the order in which they ran."""
    own = [trial for trial in trials if (trial.block, trial.arm) == (block, arm) and trial.value is not None]
    return [step_of(question, trial) for trial in sorted(own, key=lambda trial: trial.order)]


def step_of(question: SearchQuestion, trial: Trial) -> SearchStep:
    """What a trial says to its search."""
    share = cpu_share(trial, question.specs[trial.arm]) if question.search.hold else None
    outcome, why = _verdict(question, trial, share)
    assert trial.value is not None
    return SearchStep(
        order=trial.order, attempt=trial.attempt, value=trial.value, outcome=outcome, share=share, why=why
    )


def _verdict(question: SearchQuestion, trial: Trial, share: float | None) -> tuple[Outcome, str]:
    """The outcome with its reason.

    What shows that the harness, the host or the artifact was not as it should be voids the trial. Of what is left, what
    the value itself causes (a limit broken, errors, a server killed) is a failure; a figure that is missing voids it.
    """
    search, limits = question.search, question.limits
    survives = question.specs[trial.arm].procedure == "survive"
    faults = [
        check
        for check in trial.checks
        if check.has_failed and (check.voids or (survives and check.name in SURVIVAL))
    ]
    if search.lower is not None and trial.survived is False:
        sentences = [
            sentence
            for name in ("restarts", "thrashing")
            for sentence in (trial.measurement and trial.measurement.sentences(name)) or ()
        ]
        return "failed", str(trial.failure or next(iter(sentences), "Not everything lived to the end."))
    if search.hold is not None:
        # What is measured there is compared: as everywhere, no void trial is.
        foreign = _first(faults, lambda _: True)
    else:
        foreign = next((check.detail for check in faults if _is_foreign(check, trial, survives)), None)
    if foreign is None and trial.measurement is None:
        died = _first(faults, lambda name: name == "restarts") if "ramp" in trial.phases else None
        if died is not None and search.hold is None:
            return "failed", died
        foreign = str(trial.failure or "It has no measurement.")
    if foreign is not None:
        return "void", foreign
    broken = (
        None
        if search.hold is not None
        else _broken_limit(limits, trial) or _overload(limits, faults, survives)
    )
    if broken is not None:
        return "failed", broken
    upset = _first(faults, lambda name: name in UPSET)
    if upset is not None:
        return "void", upset
    return _measured_outcome(share) if search.hold is not None else _passed_outcome(search, limits, trial)


def _measured_outcome(share: float | None) -> tuple[Outcome, str]:
    if share is None:
        return "void", "The CPU time of the servers was not measured."
    return "measured", f"The servers used {share:.1%} of their CPUs."


def _first(faults: Sequence[Check], of: Callable[[str], bool]) -> str | None:
    """What the first check of these names says."""
    return next((check.detail for check in faults if of(check.name)), None)


def _is_foreign(check: Check, trial: Trial, survives: bool) -> bool:
    """Whether a failed check says nothing of the value that was tried: what is known of the host and the harness, and
    whatever was measured and is not known."""
    if check.name not in OVERLOAD | UPSET | (SURVIVAL if survives else frozenset()):
        return True
    return check.value is None and trial.measurement is not None


def _overload(limits: Limits, faults: Sequence[Check], survives: bool) -> str | None:
    """What the ledger says of a trial that the value overloads; errors are allowed as far as a limit allows them."""
    for check in faults:
        allowed = limits.errors if check.name == "errors" else None
        within = allowed is not None and check.value is not None and check.value <= allowed
        if check.name in (OVERLOAD | SURVIVAL if survives else OVERLOAD) and not within:
            return check.detail
    return None


def _passed_outcome(search: Search, limits: Limits, trial: Trial) -> tuple[Outcome, str]:
    if search.lower is not None and trial.survived is None:
        return "void", "Whether everything lived to the end was not recorded."
    texts = []
    for figure in _figures(limits, trial):
        if figure.value is None:
            needs = ": it needs 1,000 good answers" if figure.name.startswith("p99") else ""
            return "void", f"{figure.name} was not measured{needs}."
        texts.append(figure.text())
    return "passed", f"{'; '.join(texts)}." if texts else "Everything lived to the end."


def _broken_limit(limits: Limits, trial: Trial) -> str | None:
    """The first limit that was broken. A lower quantile above it shows that too, where there are too few requests."""
    for figure in _figures(limits, trial):
        if figure.value is not None and figure.value > figure.limit:
            return f"{figure.text()}."
        if figure.value is None:
            for name, shown in figure.lower:
                if shown is not None and shown > figure.limit:
                    return f"{figure.text()}: {name} alone was {format_duration_short(shown)}."
    return None


class _Figure(NamedTuple):
    """A limit, and what a trial shows of it."""

    name: str
    limit: float
    """A share, or seconds."""
    value: float | None = None
    """None: not measured."""
    is_share: bool = False
    lower: tuple[tuple[str, float | None], ...] = ()
    """Lower quantiles, which break the limit as well."""

    def format(self, value: float) -> str:
        return f"{value * 100:.3g} %" if self.is_share else format_duration_short(value)

    def limit_text(self) -> str:
        return f"{self.name} at most {self.format(self.limit)}"

    def text(self) -> str:
        allowed = f"at most {self.format(self.limit)} allowed"
        if self.value is None:
            return f"{self.name}: {allowed}"
        return f"{self.name} {self.format(self.value)}, {allowed}"


def _figures(limits: Limits, trial: Trial) -> list[_Figure]:
    """Every limit that a trial can be held against."""
    figures = []
    for name in _LIMITS:
        limit = getattr(limits, name)
        if limit is not None:
            lower = tuple((low, _seconds(trial, low)) for low in _LOWER.get(name, ()))
            figures.append(_Figure(name, limit, _figure(trial, name), name == "errors", lower))
    figures += [
        _Figure(f"{took.quantile} of {took.operation}", took.limit, took.value)
        for took in response_times(limits, trial.latency)
    ]
    closed = trial.measurement is not None and trial.measurement.value("target_rate") is None
    if limits.cycle_time is not None and trial.measurement is not None and closed:
        worst = worst_cycle(trial.measurement.cycles)
        name = "cycle time off" if worst is None else f"cycle time of {worst[0]} off"
        figures.append(_Figure(name, limits.cycle_time, worst and worst[1], is_share=True))
    return figures


def _figure(trial: Trial, name: str) -> float | None:
    """The figure that a limit is about, all operations together: a share, or seconds; None: not measured."""
    return trial.metrics.get("error_share") if name == "errors" else _seconds(trial, name)


def _seconds(trial: Trial, quantile: str) -> float | None:
    millis = trial.metrics.get(f"latency_{quantile}")
    return None if millis is None else millis / 1000


def limits_text(limits: Limits) -> str:
    """Limits for people: `errors at most 0.1 % and p99 at most 200 ms`."""
    overall = [
        _Figure(name, limit, is_share=name == "errors")
        for name in _LIMITS
        if (limit := getattr(limits, name)) is not None
    ]
    if limits.cycle_time is not None:
        overall.append(_Figure("cycle times off by", limits.cycle_time, is_share=True))
    texts = [figure.limit_text() for figure in overall]
    for operation, own in limits.operations.items():
        each = own.model_dump(exclude_none=True).items()
        texts += [_Figure(f"{quantile} of {operation}", limit).limit_text() for quantile, limit in each]
    return " and ".join(texts)
