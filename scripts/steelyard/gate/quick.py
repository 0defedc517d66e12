# SPDX-License-Identifier: Apache-2.0
"""What `--quick` spends its minutes on: where a session as its file has it would not see a change of 10 % in its
primary metric, by the spread that an earlier session here tells, fewer arms and longer windows may.

An experiment's quick form is of hosts that nobody has measured. Choices are compared by what they detect with 80 %
power in `BUDGET` seconds: all arms, or the baseline and the level farthest from it; windows up to eight times as long.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from statistics import fmean
from typing import NamedTuple

from steelyard.analysis.paired import detectable_effect, fraction_of, sd_bound
from steelyard.experiment.matrix import Arm
from steelyard.experiment.schema import Experiment
from steelyard.gate.needs import LONGER, known_windows, sd_with
from steelyard.gate.power import Spread, describe_source, primary_spread
from steelyard.measure.registry import metric_info
from steelyard.results.figures import count, limit
from steelyard.session.earlier import Earlier
from steelyard.session.plan import SessionPlan, make_plan
from steelyard.units import format_duration

QUICK_WANTED = 0.10
"""Change in the primary metric that a quick session should see with 80 % power."""
BUDGET = 900.0
"""Seconds that a quick session may take."""
FEWEST_BLOCKS = 5
MOST_BLOCKS = 20


class QuickForm(NamedTuple):
    """A form of a quick session."""

    effect: float
    """That it detects, as a fraction."""
    seconds: float
    """That it takes, repeats left out."""
    arms: int
    blocks: int
    window: float


def sharpen_quick(plan: SessionPlan, earlier: Sequence[Earlier]) -> SessionPlan:
    """The plan of a quick session as it is, or with fewer arms and longer windows where only those see `QUICK_WANTED`;
    then the plan's `choices` say what was chosen, and what its file has.

    Args:
        plan: of the session.
        earlier: sessions here, from `earlier_sessions`.
    """
    spread = primary_spread(plan, earlier) if plan.request.quick and not _is_chosen(plan) else None
    if spread is None or spread.earlier is None:
        return plan
    forms = list(_forms(plan, spread))
    now = _form(plan, spread, len(plan.arms), plan.experiment.design.blocks, 1)
    if now is None or now.effect <= QUICK_WANTED or not forms:
        return plan
    # What its file asks is kept where it can be.
    enough = [form for form in forms if form.effect <= QUICK_WANTED]
    best = min(enough, key=lambda form: (-form.arms, form.seconds)) if enough else min(forms)
    if best.effect >= now.effect:
        return plan
    fewer = _extremes(plan.experiment, plan.arms) if best.arms < len(plan.arms) else []
    settings = (*plan.request.settings, *fewer, f"measure={best.window:g}s")
    request = replace(plan.request, settings=settings, blocks=best.blocks, seed=plan.seed)
    sharper = make_plan(request)
    chosen = [*sharper.choices, _sentence(plan, sharper, now, best, spread)]
    return replace(sharper, choices=chosen, overrun=plan.overrun)


def _is_chosen(plan: SessionPlan) -> bool:
    """Whether the user said what it measures: that is not changed."""
    names = {text.partition("=")[0] for text in plan.request.settings}
    return plan.request.blocks is not None or bool(names & {"measure", *plan.experiment.factors})


def _forms(plan: SessionPlan, spread: Spread) -> Iterator[QuickForm]:
    """What may be chosen, within the budget."""
    arms = [len(plan.arms), *([2] if len(plan.arms) > 2 and _extremes(plan.experiment, plan.arms) else [])]
    is_steady = plan.experiment.procedure == "steady"
    for number, factor in product(arms, LONGER if is_steady else (1,)):
        once = number * _trial_seconds(plan, factor)
        blocks = min(MOST_BLOCKS, int(BUDGET / once))
        for most in range(FEWEST_BLOCKS, blocks + 1):
            if (form := _form(plan, spread, number, most, factor)) is not None:
                yield form


def _form(plan: SessionPlan, spread: Spread, arms: int, blocks: int, factor: int) -> QuickForm | None:
    """A form with what it detects; None: nothing can be said of it."""
    assert spread.earlier is not None
    window = plan.experiment.load.measure * factor
    measured, windows = spread.earlier.experiment.load.measure, known_windows(spread)
    if windows is None and window != measured and factor != 1:
        return None
    effect = detectable_effect(blocks, sd_with(spread, windows, window), arms - 1)
    if effect is None:
        return None
    return QuickForm(effect, blocks * arms * _trial_seconds(plan, factor), arms, blocks, window)


def _trial_seconds(plan: SessionPlan, factor: int) -> float:
    """Mean over the arms, with a window so many times as long."""
    return fmean(plan.seconds_by_arm()) + (factor - 1) * plan.experiment.load.measure


def _extremes(experiment: Experiment, arms: Sequence[Arm]) -> list[str]:
    """Settings that leave the baseline and the level farthest from it in the first factor that has several; nothing
    where no setting says so."""
    baseline = next(arm for arm in arms if arm.baseline)
    settings: list[str] = []
    for name, factor in experiment.factors.items():
        levels, own = list(factor.levels), baseline.levels[name]
        plain = all(isinstance(level, str | int | float) for level in levels)
        if len(levels) < 2:
            continue
        if not plain or own not in levels:
            return []
        at = levels.index(own)
        far = max(levels, key=lambda level: abs(levels.index(level) - at))
        settings.append(f"{name}={own}" if settings else f"{name}={own},{far}")
    return settings


def _sentence(
    plan: SessionPlan, sharper: SessionPlan, now: QuickForm, best: QuickForm, spread: Spread
) -> str:
    assert spread.known_from is not None
    bound = fraction_of(math.log1p(best.effect) * sd_bound(spread.known_from))
    label = metric_info(plan.experiment.metrics.primary).label
    names = [arm.name for arm in sharper.arms]
    fewer = f"{len(names)} of {count(len(plan.arms), 'arm')} ({', '.join(names)})"
    arms = fewer if len(names) < len(plan.arms) else "all arms"
    windows = "" if best.window == now.window else f" instead of {format_duration(now.window)}"
    sees = "sees" if best.effect <= QUICK_WANTED else "still sees no less than"
    return (
        f"By the spread seen in {describe_source(plan, spread)} a quick session as its file has it would see"
        f" {limit(now.effect)} in {label}: it takes {arms}, {count(best.blocks, 'block')} and windows of"
        f" {format_duration(best.window)}{windows}, and {sees} {limit(best.effect)}"
        f" ({limit(bound)} by the upper 95 % bound of that spread)."
    )
