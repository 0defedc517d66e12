# SPDX-License-Identifier: Apache-2.0
"""The order of trials: randomised blocks, plots inside them, repeats of void trials, and the one loop that runs them.

Pure: the same loop runs real sessions, resumed sessions and simulated ones. What comes next follows from the
schedule and the outcomes so far alone, so a resumed session goes on exactly as an uninterrupted one would.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.analysis.searching import next_search_trial, question_of
from steelyard.experiment.schema import Experiment
from steelyard.results.schema import ScheduledTrial, Session, Trial


@dataclass(frozen=True, slots=True)
class Planned:
    """A trial that is to run now."""

    block: int
    arm: str
    attempt: int
    """0 for the scheduled trial, 1.. for its repeats."""
    order: int
    """Place in time over the whole session, from 0."""
    plot: int = 0
    """Number of the plot in its block, from 1; 0: the session does not vary host states."""
    value: float | None = None
    """In a search: what this trial tries."""


def make_schedule(
    arms: Sequence[str], blocks: int, seed: int, plots: Mapping[str, Hashable] | None = None
) -> list[ScheduledTrial]:
    """Every arm once per block, in random order drawn from the seed; blocks count from 1.

    Where the arms want different host states, each block holds one plot for each of them, in random order, and the
    arms of a plot follow each other in random order. The order of plots is drawn for each block alone, so the last
    plot of a block and the first of the next may want the same: the host is switched to it all the same, away and back
    (`HostStates.enter`). So every block holds one switch to each host state and shares none with another block. The
    other way out, never to begin with the state that is set, would give up the random order: with two states each
    block's order would follow from the first block's.

    With two arms, or two plots, or two arms in a plot, half of the blocks run in each order (with an odd number of
    blocks one order has one more), so that a drift inside pairs cancels. Orders are drawn from raw words of PCG64:
    numpy keeps that stream from version to version, which it does not promise for its shuffles.

    Args:
        arms: in the order of the experiment.
        blocks: how many.
        seed: of the orders.
        plots: the host state that each arm wants, by any label; None, or the same for all: no plots.
    """
    words = np.random.PCG64(seed)
    labels = dict.fromkeys(plots[arm] for arm in arms) if plots is not None else [None]
    groups = [[arm for arm in arms if plots is None or plots[arm] == label] for label in labels]
    several = len(groups) > 1
    orders = _orders(len(groups), blocks, words) if several else [[0]] * blocks
    inside = [_orders(len(group), blocks, words) for group in groups]
    places = [
        (block + 1, plot if several else 0, groups[group][index])
        for block, order in enumerate(orders)
        for plot, group in enumerate(order, start=1)
        for index in inside[group][block]
    ]
    return [
        ScheduledTrial(order=order, block=block, arm=arm, plot=plot)
        for order, (block, plot, arm) in enumerate(places)
    ]


def next_trial(schedule: Sequence[ScheduledTrial], outcomes: Sequence[Trial], repeats: int) -> Planned | None:
    """What to run next, or None when the session is complete.

    A plot is finished before the next one begins: first its trials as scheduled, then repeats of those whose last
    attempt is void, for a repeat after another switch would belong to no plot. A session without plots is one stretch
    as a whole: its repeats come at its end. Fewest attempts go first, then the order of the schedule. A block is given
    at most `repeats` repeats, all its arms and plots together. Interrupted trials are not outcomes: they run again as
    if they had not been started.
    """
    attempts = Counter((trial.block, trial.arm) for trial in outcomes)
    valid = {(trial.block, trial.arm) for trial in outcomes if trial.state == "valid"}
    repeated = Counter(trial.block for trial in outcomes if trial.attempt > 0)
    waiting: list[ScheduledTrial] = []
    for place in schedule:
        if waiting and _stretch(place) != _stretch(waiting[0]):
            break
        key = place.block, place.arm
        if key not in attempts:
            return Planned(place.block, place.arm, 0, len(outcomes), place.plot)
        if key not in valid and repeated[place.block] < repeats:
            waiting.append(place)
    if not waiting:
        return None
    first = min(waiting, key=lambda place: (attempts[place.block, place.arm], place.order))
    return Planned(first.block, first.arm, attempts[first.block, first.arm], len(outcomes), first.plot)


class Course:
    """What runs next in a session; follows from session.json and the trials so far alone."""

    def __init__(self, session: Session) -> None:
        experiment = Experiment.model_validate(session.experiment)
        self.session = session
        self.repeats = experiment.design.repeats
        self.specs = {arm.name: arm.spec for arm in session.arms}
        self.search = experiment.search
        self._question = question_of(session)
        self._plots = {(place.block, place.arm): place.plot for place in session.schedule}

    def next(self, outcomes: Sequence[Trial]) -> Planned | None:
        """The trial that runs now, None when the session is complete."""
        if self._question is None:
            return next_trial(self.session.schedule, outcomes, self.repeats)
        found = next_search_trial(self._question, self.session.schedule, outcomes)
        if found is None:
            return None
        plot = self._plots[found.block, found.arm]
        return Planned(found.block, found.arm, found.attempt, found.order, plot, found.value)

    def total(self, outcomes: Sequence[Trial]) -> int:
        """Trials of the session as far as is known: those that ended, and what is still to come."""
        ended = {(trial.block, trial.arm) for trial in outcomes}
        left = sum((place.block, place.arm) not in ended for place in self.session.schedule)
        if left == 0 and self.next(outcomes) is not None:
            left = 1
        return len(outcomes) + left


def run_schedule(
    schedule: Sequence[ScheduledTrial],
    repeats: int,
    run_trial: Callable[[Planned], Trial],
    done: Sequence[Trial] = (),
) -> Iterator[Trial]:
    """Run what is left of a session and yield each trial as it ends; `done` are the outcomes so far.

    `run_trial` raises to end the session (an interrupt, a full disk); what was yielded before stays valid.
    """
    outcomes = list(done)
    while (planned := next_trial(schedule, outcomes, repeats)) is not None:
        trial = run_trial(planned)
        outcomes.append(trial)
        yield trial


def _stretch(place: ScheduledTrial) -> tuple[int, int] | None:
    """What is finished, repeats included, before what follows begins: a plot, or a session without plots as a whole."""
    return (place.block, place.plot) if place.plot else None


def _orders(size: int, blocks: int, words: np.random.PCG64) -> list[list[int]]:
    """An order of range(size) for each block."""
    return _balanced_pairs(blocks, words) if size == 2 else [_order(size, words) for _ in range(blocks)]


def _balanced_pairs(blocks: int, words: np.random.PCG64) -> list[list[int]]:
    """Half of the pairs in each order, placed at random; an odd pair's order is a coin toss."""
    odd = _order(2, words)[0]
    turned = set(_order(blocks, words)[: (blocks + odd) // 2])
    return [[1, 0] if block in turned else [0, 1] for block in range(blocks)]


def _order(size: int, words: np.random.PCG64) -> list[int]:
    """A random order of range(size): the order of as many 64-bit random words (ties: 1 in 2^60, then stable)."""
    keys = words.random_raw(size)
    return [int(index) for index in np.argsort(keys, kind="stable")]
