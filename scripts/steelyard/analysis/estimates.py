# SPDX-License-Identifier: Apache-2.0
"""From trials to estimates: summaries of each arm and paired ratios against the baseline, per metric.

Families: the comparisons of the primary metric (one per arm) form one family, so that several arms are not several
chances to be lucky; those of the reported metrics form the second, those of all other ones the third, and only
annotate. Interval, verdict and smallest detectable effect of a comparison are all at the level that its family leaves
(Bonferroni), so that none of them contradicts another.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from steelyard import __version__
from steelyard.analysis.best import against_best
from steelyard.analysis.carry_over import (
    carry_over_note,
    carry_over_reason,
    estimate_carry_over,
    has_predecessors,
    logs_by_place,
    predecessors,
)
from steelyard.analysis.findings import with_voids
from steelyard.analysis.heaps import left_heaps
from steelyard.analysis.owners import info_in_session, is_shown, with_parts
from steelyard.analysis.paired import (
    LEVEL,
    adjust_p,
    detectable_effect,
    paired_test,
    ratio_of,
)
from steelyard.analysis.remarks import remarks_of
from steelyard.analysis.rounds import (
    Place,
    common,
    comparable_places,
    count_by_arm,
    ratios_left_in,
    reached_places,
    trials_left_in,
    unequal,
    valid_trials,
)
from steelyard.errors import BadInput
from steelyard.experiment.schema import Metrics
from steelyard.measure.registry import METRIC_INFOS, metric_info
from steelyard.results.analysis import Analysis, CarryOver, Estimate, LedgerCount, MetricInfo, Summary
from steelyard.results.figures import capital
from steelyard.results.schema import Check, Session, Trial

NO_MEASUREMENT = "no-measurement"
"""Ledger name of trials that failed before there was anything to judge."""
GIVEN = ("throughput", "requests_per_core_second", "steady_level")
"""Metrics that are inputs where arrivals come at a constant rate: no arm is better or worse by them."""

LEAST_SWITCHES = 3
"""Fewer switches of the host to each state give no interval: what a switch brings by chance is not known from two."""

Values = Mapping[Place, float]
"""A metric of one arm by block and round."""


def arm_label(session: Session, arm: str) -> str:
    """An arm in the words of its experiment: `JVMs = 4, pages = large`, by what the arms of the session differ in."""
    labels = {name: factor.label or name for name, factor in session.experiment.factors.items()}
    levels = session.arm(arm).levels
    differing = [
        name for name in levels if any(other.levels.get(name) != levels[name] for other in session.arms)
    ]
    return ", ".join(f"{labels.get(name, name)} = {levels[name]}" for name in differing or levels)


def values_of(trials: Mapping[Place, Trial], name: str) -> dict[Place, float]:
    """A metric by block and round, where the trial has it as a finite number."""
    return {
        place: value
        for place, trial in trials.items()
        if (value := trial.metrics.get(name)) is not None and math.isfinite(value)
    }


def summarise(values: Values) -> Summary | None:
    """Summary over trials; None without a single value."""
    figures = list(values.values())
    n = len(figures)
    if n == 0:
        return None
    mean = math.fsum(figures) / n
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in figures) / (n - 1)) if n > 1 else None
    return Summary(
        n=n,
        mean=mean,
        min=min(figures),
        max=max(figures),
        sd=sd,
        cv=sd / mean if sd is not None and mean != 0 else None,
        values=figures,
        blocks=[block for block, _ in values],
        rounds=[number for _, number in values],
    )


def log_ratios(arm: Values, baseline: Values) -> list[float] | None:
    """log(arm / baseline) of each block that has both in one round; None when a figure is not positive.

    Leaving out just the blocks with a zero would keep the favourable ones: then there is no ratio at all.
    """
    logs = logs_by_place(arm, baseline)
    return [*logs.values()] if logs or not common(arm, baseline) else None


def needs_switch(session: Session, arm: str, baseline: str) -> bool:
    """Whether the host is switched between two arms: a comparison then rests on switches, and not on trials."""
    states = {
        record.name: record.spec.host_states for record in session.arms if record.name in (arm, baseline)
    }
    return states[arm] != states[baseline]


def few_switches(estimate: Estimate) -> bool:
    """Whether an estimate rests on too few switches of the host for an interval."""
    return estimate.switches is not None and estimate.switches < LEAST_SWITCHES


def estimate(
    name: str,
    arm: str,
    values: Values,
    baseline: Values,
    unequal: str | None = None,
    *,
    switched: bool = False,
    left_in: Sequence[float] | None = (),
) -> Estimate:
    """Ratio of an arm to the baseline with everything that has to be said about it, as a comparison of its own.

    `left_in` are the ratios with void trials left in, None where there are none to compute; `unequal` is why it shows
    nothing, which that is too;
    `switched` whether the host is switched between the two: a block has one switch
    to each state, so that n blocks are n switches, and below `LEAST_SWITCHES` there is no interval.
    """
    logs = log_ratios(values, baseline)
    core = paired_test(logs) if logs is not None else None
    if left_in is None and unequal is None:
        label = metric_info(name).label
        unequal = f"with void trials left in, {label} has no ratio, as a figure of it is not above zero"
    alone = Estimate(
        metric=name,
        arm=arm,
        n=len(common(values, baseline)),
        ratio=ratio_of(core.mean) if core else None,
        low=None,
        high=None,
        p=None,
        p_adjusted=None,
        detectable=None,
        cannot_rule_out=None,
        ratios=[ratio_of(value) for value in logs or ()],
        switches=len(common(values, baseline)) if switched else None,
        left_in=[*(left_in or ())],
        unequal=unequal,
    )
    return simultaneous(alone, 1)


def simultaneous(estimate: Estimate, comparisons: int) -> Estimate:
    """The same as one of so many comparisons: interval, p and detectable effect at the level that leaves each.

    Where trials are void, the interval holds that of the valid ones and that with the void ones left in: what voids a
    trial may hang on how it performs, and then the valid ones alone are a selection.
    """
    core = paired_test([math.log(ratio) for ratio in estimate.ratios], LEVEL / comparisons)
    if core is None or few_switches(estimate):
        return estimate
    spread = None if core.is_tied else core
    if spread is not None and (unselected := with_voids(estimate, LEVEL / comparisons)) is not None:
        agree = (spread.mean > 0) is (unselected.mean > 0)
        spread = replace(
            spread,
            sd=max(spread.sd, unselected.sd),
            low=min(spread.low, unselected.low),
            high=max(spread.high, unselected.high),
            p=max(spread.p, unselected.p) if agree else 1.0,
        )
    low, high = (ratio_of(spread.low), ratio_of(spread.high)) if spread else (None, None)
    sd = spread.sd if spread else core.sd
    seen, bound = (detectable_effect(core.n, sd, comparisons, known) for known in (None, core.n))
    return estimate.model_copy(
        update={
            "low": low,
            "high": high,
            "p": spread.p if spread else None,
            "p_adjusted": adjust_p(spread.p, comparisons) if spread else None,
            "detectable": seen,
            "detectable_high": bound,
            "cannot_rule_out": max(high - 1, 1 - low) if low is not None and high is not None else None,
            "comparisons": comparisons,
        }
    )


def analyse(session: Session, trials: Sequence[Trial]) -> Analysis:
    """Every estimate of a session, from its trials alone.

    Raises:
        BadInput: the session has no baseline arm.
    """
    arms = [arm.name for arm in session.arms]
    baseline = next((arm.name for arm in session.arms if arm.baseline), None)
    if baseline is None:
        raise BadInput(f"session {session.id} names no baseline arm: restore session.json from a copy")
    asked = session.experiment.metrics
    wanted = {asked.primary, *asked.report}
    trials = with_parts(trials, {arm.name: arm.spec for arm in session.arms})
    valid = valid_trials(trials)
    # Trials of a search differ in their load: means over them say nothing.
    searching = session.experiment.search is not None
    counted = {} if searching else valid
    across, partly, notes = against_best(counted)
    specs = [arm.spec for arm in session.arms]
    seen = {
        name
        for trial in (() if searching else trials)
        for name in trial.metrics
        if name in wanted or is_shown(name, specs)
    }
    names = _metric_names(asked, seen | across.keys())
    figures = {
        name: {arm: across.get(name, {}).get(arm) or values_of(counted.get(arm, {}), name) for arm in arms}
        for name in names
    }
    given = any(arm.spec.load.model == "open" for arm in session.arms)
    own = {name: info_in_session(metric_info(name), specs) for name in names}
    infos = {name: _input_info(info) if given and name in GIVEN else info for name, info in own.items()}
    # Trials of a search differ in their load, so that its rounds are no pairs.
    uneven = {arm: None if searching else unequal(trials, arm, baseline) for arm in arms if arm != baseline}
    notes += [f"{why}: the comparison is inconclusive." for why in uneven.values() if why]
    everything = {} if searching else trials_left_in(trials, baseline)
    unselected = {
        name: {arm: values_of(everything.get(arm, {}), name) for arm in arms if name not in across}
        for name in names
    }
    estimates = {
        name: {
            arm: estimate(
                name,
                arm,
                values[arm],
                values[baseline],
                why,
                switched=needs_switch(session, arm, baseline),
                left_in=ratios_left_in(
                    unselected[name].get(arm, {}),
                    unselected[name].get(baseline, {}),
                    values[arm],
                    values[baseline],
                ),
            )
            for arm, why in uneven.items()
        }
        for name, values in figures.items()
    }
    carried = carry_over_of(session, trials)
    labels = {arm: arm_label(session, arm) for arm in arms}
    notes += filter(None, [carry_over_note(carried, infos[asked.primary], labels, labels[baseline])])
    own_figures, before = figures[asked.primary], predecessors(trials)
    for arm, compared in estimates[asked.primary].items():
        logs = logs_by_place(own_figures[arm], own_figures[baseline])
        why = carry_over_reason(logs, arm, baseline, before, carried)
        if why is not None and compared.unequal is None:
            estimates[asked.primary][arm] = compared.model_copy(update={"unequal": why})
    for name in (name for name in names if name in wanted):
        # One about the baseline alone is made beside each interval, of a round that may differ: it is noted once.
        noted: dict[tuple[str, ...], str] = {}
        for arm, compared in estimates[name].items():
            pair = {arm_label(session, key): figures[name][key] for key in (arm, baseline)}
            remarks = remarks_of(infos[name], pair)
            sentences = [remark.sentence for remark in remarks]
            estimates[name][arm] = compared.model_copy(update={"remarks": sentences})
            for remark in remarks:
                noted.setdefault(remark.arms, remark.sentence)
        notes += [f"{capital(infos[name].label)}: {sentence}." for sentence in noted.values()]
    by_arm = count_by_arm(trials, arms)
    planned = {place.block for place in reached_places(session, trials)}
    places = {(block, arm) for arm, own in valid.items() for block, _ in own}
    done = places if searching else comparable_places(trials, arms, baseline)
    complete = {block for block in planned if all((block, arm) in done for arm in arms)}
    return Analysis(
        steelyard_version=__version__,
        session_id=session.id,
        primary=asked.primary,
        arms=arms,
        baseline=baseline,
        blocks_planned=len(planned),
        blocks_complete=len(complete),
        trials=len(trials),
        void_trials=sum(count.void for count in by_arm.values()),
        not_steady_trials=sum(count.not_steady for count in by_arm.values()),
        by_arm=by_arm,
        metrics=[*infos.values()],
        summaries=_summaries(figures),
        partly=_summaries(partly),
        left_in=_summaries(
            {
                name: {
                    arm: own
                    for arm, own in unselected[name].items()
                    if own.keys() - figures[name][arm].keys()
                }
                for name in names
                if name in wanted
            }
        ),
        estimates=_in_families(estimates, asked),
        ledger=_count_ledger(trials),
        notes=[
            *_notes(session, asked.primary, figures, valid, planned, complete),
            *left_heaps(session, valid),
            *notes,
        ],
        carry_over=carried,
    )


def carry_over_of(session: Session, trials: Sequence[Trial]) -> list[CarryOver]:
    """What trials leave to the next one in the primary metric of a session; empty where it cannot be estimated."""
    if not has_predecessors(session):
        return []
    arms = [arm.name for arm in session.arms]
    (baseline,) = (arm.name for arm in session.arms if arm.baseline)
    return estimate_carry_over(trials, session.experiment.metrics.primary, arms, baseline)


def _summaries(figures: Mapping[str, Mapping[str, Values]]) -> dict[str, dict[str, Summary]]:
    return {
        name: {arm: summary for arm, values in arms.items() if (summary := summarise(values)) is not None}
        for name, arms in figures.items()
    }


def _input_info(info: MetricInfo) -> MetricInfo:
    return info.model_copy(update={"better": "neither", "label": f"{info.label} (given)"})


def _metric_names(asked: Metrics, seen: Collection[str]) -> list[str]:
    """Primary first, then what the experiment reports, then the registry's order, then unknown ones."""
    order = [asked.primary, *asked.report, *(info.name for info in METRIC_INFOS), *sorted(seen)]
    return [name for name in dict.fromkeys(order) if name in seen or name == asked.primary]


def _in_families(estimates: dict[str, dict[str, Estimate]], asked: Metrics) -> dict[str, dict[str, Estimate]]:
    """Correct within three families: the primary metric, what the experiment reports, and all the rest.

    The rest are diagnostics that nobody asked about; were they one family with the reported metrics, each new
    diagnostic would hide effects on what the experiment is about.
    """
    corrected = {name: dict(arms) for name, arms in estimates.items()}
    reported = [name for name in asked.report if name in estimates and name != asked.primary]
    rest = [name for name in estimates if name != asked.primary and name not in reported]
    for family in ([asked.primary], reported, rest):
        members = [(name, arm) for name in family for arm in estimates[name]]
        tested = sum(estimates[name][arm].p is not None for name, arm in members)
        for name, arm in members if tested > 1 else ():
            corrected[name][arm] = simultaneous(estimates[name][arm], tested)
    return corrected


def _count_ledger(trials: Sequence[Trial]) -> list[LedgerCount]:
    """How often each check failed, in the ledger's own order, over valid and void trials."""
    checks: dict[str, list[Check]] = {}
    for check in (check for trial in trials for check in trial.checks):
        checks.setdefault(check.name, []).append(check)
    counts = [
        LedgerCount(
            name=name,
            failed=sum(check.has_failed for check in judgements),
            of=sum(check.applies for check in judgements),
            voids=any(check.voids for check in judgements),
        )
        for name, judgements in checks.items()
    ]
    failures = sum(trial.measurement is None and trial.state == "void" for trial in trials)
    last = LedgerCount(name=NO_MEASUREMENT, failed=failures, of=len(trials), voids=True)
    return [*counts, last] if failures else counts


def _notes(
    session: Session,
    primary: str,
    figures: Mapping[str, Mapping[str, Values]],
    valid: Collection[str],
    planned: set[int],
    complete: set[int],
) -> list[str]:
    notes = []
    incomplete = planned - complete
    missing = [arm.name for arm in session.arms if arm.name not in valid]
    if missing:
        notes.append(f"No valid trial of {', '.join(missing)}: nothing can be said about it.")
    if incomplete:
        notes.append(
            f"{len(incomplete)} of {len(planned)} blocks lack a valid trial"
            " of some arm beside one of the baseline; each comparison uses the blocks that have both of its arms."
        )
    if not any(figures[primary].values()) and session.experiment.search is None:
        notes.append(f"No valid trial has the primary metric {primary}.")
    return notes
