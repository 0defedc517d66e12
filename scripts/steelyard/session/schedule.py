# SPDX-License-Identifier: Apache-2.0
"""The order of trials: balanced blocks, plots inside them, rounds of repeats; what runs next, and for how long.

Pure: the same rule runs real sessions, resumed sessions and simulated ones. What comes next follows from the
schedule and the outcomes so far alone, so a resumed session goes on exactly as an uninterrupted one would.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise, permutations
from statistics import fmean

import numpy as np

from steelyard.analysis.rounds import reached_places, seconds_of
from steelyard.analysis.searching import next_search_trial, question_of
from steelyard.analysis.warmup import ACCEPTED_FROM
from steelyard.results.schema import Planned, ScheduledTrial, Session, Trial
from steelyard.results.spec import Spec

START_CPU_SECONDS = (5.0, 13.0)
"""CPU seconds from process start to first response of one Liberty server on HotSpot: with ping (apps/README.md), and
with an application and its database (docs/lab-notes/2026-11-27-quick-forms.md)."""
FOREGROUND_START = 1.5
"""How much longer a start takes when it compiles in the foreground (docs/explanation/warm-up.md)."""
COMPILE_CPU_SECONDS = 8.0
"""CPU seconds in which one Liberty server compiles what a load asks it for (docs/explanation/warm-up.md)."""
INJECTOR_CPU_SECONDS = 5.0
"""CPU seconds of an injector beside it."""
INJECTOR_START_SECONDS = 3.0
LEAST_POPULATING_LOAD = 10.0
"""Seconds under load, at least, of a run that fills class caches."""
STOP_SECONDS = 3.0
_ALL_ORDERS = 6
"""Up to so many arms all orders are looked at for the next block; of more some are drawn."""
_DRAWN_ORDERS = 50
OVERTIME = 1.1
"""What the expected end may lie beyond the time that was given, as a factor."""

EndsAt = Callable[[Session, Sequence[Trial], int], bool]
"""Whether a gate ends at the interim analysis after so many blocks; the layer above decides it (`gate/interim.py`)."""


def make_schedule(
    arms: Sequence[str],
    blocks: int,
    seed: int | Sequence[int],
    plots: Mapping[str, Hashable] | None = None,
) -> list[ScheduledTrial]:
    """Every arm once per block, in an order that is drawn from the seed; blocks count from 1.

    What a trial leaves to the next one is an effect of the arm before. So each arm follows each arm, itself included,
    equally often, as far as the number of blocks allows (`_chain`): what arms leave then falls on all of them alike.

    Where the arms want different host states, each block holds one plot for each of them, in random order, and the
    arms of a plot follow each other in random order. The order of plots is drawn for each block alone, so the last
    plot of a block and the first of the next may want the same: the host is switched to it all the same, away and back
    (`HostStates.enter`). So every block holds one switch to each host state and shares none with another block. The
    other way out, never to begin with the state that is set, would give up the random order: with two states each
    block's order would follow from the first block's.

    Orders in plots are drawn for each block alone: an arm follows arms of another plot there, never itself. With two
    plots, or two arms in a plot, half of the blocks run in each order (with an odd number of blocks one order has one
    more), so that a drift inside pairs cancels. Orders are drawn from raw words of PCG64: numpy keeps that stream from
    version to version, which it does not promise for its shuffles.

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
    draw = _orders if several else _chain
    inside = [draw(len(group), blocks, words) for group in groups]
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


def make_stages(arms: Sequence[str], interims: Sequence[int], seed: int) -> list[ScheduledTrial]:
    """The schedule of a gate: at each interim analysis half of the pairs have run in each order (raises ValueError: an
    odd number of pairs)."""
    if any(last % 2 for last in interims):
        raise ValueError(f"an odd number of pairs before an interim analysis: {list(interims)}")
    return make_schedule(arms, interims[-1], seed)


def next_trial(
    schedule: Sequence[ScheduledTrial],
    outcomes: Sequence[Trial],
    repeats: int,
    seed: int,
    baseline: str | None = None,
) -> Planned | None:
    """What to run next, or None when the session is complete.

    First the schedule, then rounds of repeats. A void trial voids its comparison in its block, and what is compared is
    repeated together: beside an older trial of the other arm a repeat would take a drift of the host for a difference.
    Of round r - 1 of a block, round r holds all arms where the baseline was void, one side of every comparison; else
    the void arms and the baseline. The other arms have what they need and are never run again, so an arm that is
    repeated was in every round before: its attempt is its round. Several arms share the baseline of their own round and
    of no other; `analysis/rounds.py` takes for each comparison the round in which both are valid.

    A round runs like a block, in an order drawn from the seed, its block and its number; it begins with the arm
    that ran last, if it has that, so that of two arms both follow the same one. Where its arms want different host
    states it has plots of its own, numbered on from the block's: an arm and a baseline of another plot
    could not be repeated together before either plot is left. Rounds come at the end of the session, when what voided
    a trial has had time to pass: the first rounds of all blocks, then the second ones. Interrupted trials are not
    outcomes: they run again as if they had not been started.

    Args:
        schedule: of the session.
        outcomes: the trials that have ended, in any order.
        repeats: most rounds of repeats of a block.
        seed: of the session.
        baseline: what each other arm is compared with; None: all with each other, so that a round is the whole block.
    """
    valid = {(trial.block, trial.attempt, trial.arm): trial.state == "valid" for trial in outcomes}
    rounds: dict[int, list[ScheduledTrial]] = {}
    for place in schedule:
        if (place.block, 0, place.arm) not in valid:
            return Planned.at(place, len(outcomes), 0)
        rounds.setdefault(place.block, []).append(place)
    plots = max((place.plot for place in schedule), default=0)
    for number in range(1, repeats + 1):
        for block, before in rounds.items():
            void = {place.arm for place in before if not valid[block, number - 1, place.arm]}
            if void and baseline is not None and baseline not in void:
                again = [place for place in before if place.arm in void or place.arm == baseline]
            else:
                again = before if void else []
            rounds[block] = again
            if any((block, number, place.arm) not in valid for place in again):
                earlier = (trial for trial in outcomes if (trial.block, trial.attempt) != (block, number))
                last = max(earlier, key=lambda trial: trial.order).arm
                drawn = _draw_round(again, np.random.PCG64([seed, block, number]), number * plots, last)
                place = next(place for place in drawn if (block, number, place.arm) not in valid)
                return Planned.at(place, len(outcomes), number)
    return None


def is_out_of_time(session: Session, trials: Sequence[Trial]) -> bool:
    """Whether one pair more, first or repeated, would no longer end within the time of a gate's session, going by
    those that have ended; of a session that confirms its own."""
    seconds = session.gate.seconds if session.gate is not None else None
    pairs = {(trial.block, trial.attempt) for trial in trials}
    if seconds is None or not pairs:
        return False
    spent = seconds_of(trials)
    return spent + spent / len(pairs) > seconds * OVERTIME


class Schedule:
    """What runs next in a session; follows from session.json and the trials so far alone.

    Args:
        session: its record.
        ends_at: decides at a gate's interim analyses; None for sessions of experiments.

    Raises:
        ValueError: a gate without its stopping rule, which would run on to its last pair.
    """

    def __init__(self, session: Session, ends_at: EndsAt | None = None) -> None:
        if session.gate is not None and ends_at is None:
            raise ValueError(f"{session.id} is a gate: give the rule that ends it")
        self.session = session
        self._ends_at = ends_at
        self.specs = {arm.name: arm.spec for arm in session.arms}
        self._second = {arm.name: arm.second for arm in session.arms if arm.second is not None}
        self.question = question_of(session)
        self._baseline = next((arm.name for arm in session.arms if arm.baseline), None)
        self._repeats = session.experiment.design.repeats
        self._ended: dict[int, bool] = {}
        """By interim analysis that was reached: whether the session ended at it."""

    @property
    def all_specs(self) -> list[Spec]:
        """Of every arm, on either half of the cores in a duet."""
        return [*self.specs.values(), *self._second.values()]

    def spec(self, planned: Planned) -> Spec:
        """What a trial deploys: in a duet whoever comes first in a block has the first half of the cores.

        Half of the blocks run in each order (`make_schedule`), and so each side has either half as often.
        """
        if not self._second:
            return self.specs[planned.arm]
        first = next(place.arm for place in self.session.schedule if place.block == planned.block)
        return (self.specs if planned.arm == first else self._second)[planned.arm]

    def together(self, planned: Planned) -> list[Planned]:
        """What runs at once: a trial, or the two of a block in a duet."""
        if not self._second:
            return [planned]
        (other,) = (
            place
            for place in self.session.schedule
            if place.block == planned.block and place.arm != planned.arm
        )
        return [planned, Planned.at(other, planned.order + 1, planned.attempt)]

    def keep_pairs(self, outcomes: Sequence[Trial]) -> list[Trial]:
        """Outcomes without a side of a duet whose partner a crash took: both run again."""
        if not self._second:
            return list(outcomes)
        pairs = Counter((trial.block, trial.attempt) for trial in outcomes)
        return [trial for trial in outcomes if pairs[trial.block, trial.attempt] == len(self.specs)]

    def next(self, outcomes: Sequence[Trial]) -> Planned | None:
        """The trial that runs now, None when the session is complete."""
        if self.question is not None:
            return next_search_trial(self.question, self.session.schedule, outcomes)
        if self._ends_at is None or self.session.gate is None:
            return self._next(self.session.schedule, outcomes)
        for before, last in pairwise([0, *self.session.gate.looks]):
            places = [place for place in self.session.schedule if before < place.block <= last]
            # What was void is repeated before the interim analysis, as nobody knows whether there will be another.
            own = [trial for trial in outcomes if before < trial.block <= last]
            if (planned := self._next(places, own)) is not None:
                pair = (planned.block, planned.attempt)
                begins = all((trial.block, trial.attempt) != pair for trial in outcomes)
                if begins and is_out_of_time(self.session, outcomes):
                    return None
                return planned.model_copy(update={"order": len(outcomes)})
            if last not in self._ended:
                self._ended[last] = self._ends_at(self.session, outcomes, last)
            if self._ended[last]:
                return None
        return None

    def _next(self, places: Sequence[ScheduledTrial], outcomes: Sequence[Trial]) -> Planned | None:
        return next_trial(places, outcomes, self._repeats, self.session.seed, self._baseline)

    def total(self, outcomes: Sequence[Trial]) -> int:
        """Trials of the session as far as is known: those that ended, and what is still to come."""
        ended = {(trial.block, trial.arm) for trial in outcomes}
        places = reached_places(self.session, outcomes)
        left = sum((place.block, place.arm) not in ended for place in places)
        return len(outcomes) + (left or int(self.next(outcomes) is not None))


def trial_seconds(spec: Spec) -> tuple[float, float]:
    """Shortest and longest expected time of one trial."""
    load = spec.load
    low, high = _start_seconds(spec)
    if spec.needs_preparation:
        low, high = 2 * low + STOP_SECONDS, 2 * high + STOP_SECONDS
    fixed = INJECTOR_START_SECONDS + STOP_SECONDS
    if spec.procedure == "start-up":
        return low + fixed, high + fixed
    fixed += load.measure
    if spec.procedure in ("ramp-up", "survive"):
        return low + fixed, high + fixed
    least, most = load.warmup.at_least, load.warmup.at_most
    if load.warmup.until == "fixed":
        most = least
    elif load.warmup.until == "steady":
        least = max(least, float(ACCEPTED_FROM))
    else:
        least = max(least, (COMPILE_CPU_SECONDS * len(spec.servers) + INJECTOR_CPU_SECONDS) / _cores(spec))
    fixed += load.ramp
    return low + fixed + min(least, most), high + fixed + most


def expected_seconds(spec: Spec) -> float:
    """Expected time of one trial: in the middle between the shortest and the longest."""
    return sum(trial_seconds(spec)) / 2


def overrun(session: Session, trials: Sequence[Trial]) -> float | None:
    """Seconds that the session's trials took beyond what their specs let expect, on average; None: of none are they
    known."""
    expected = {arm.name: expected_seconds(arm.spec) for arm in session.arms}
    beyond = [seconds_of([trial]) - expected[trial.arm] for trial in trials if "collect" in trial.phases]
    return fmean(beyond) if beyond else None


def populating_seconds(spec: Spec) -> float:
    """Expected time of the run that fills an arm's class caches; 0 without one."""
    if not spec.caches("warm"):
        return 0.0
    return fmean(_start_seconds(spec)) + INJECTOR_START_SECONDS + populating_load(spec) + STOP_SECONDS


def populating_load(spec: Spec) -> float:
    """Seconds under load in which a populating run sees the application's classes."""
    return max(LEAST_POPULATING_LOAD, spec.load.warmup.at_least)


def _cores(spec: Spec) -> float:
    """Cores of the servers, or what their quotas leave of them."""
    return min(float(spec.server_cores), spec.usable_cpus)


def _start_seconds(spec: Spec) -> tuple[float, float]:
    """Shortest and longest expected time in which the servers start, all at once."""
    longer = max(1.0, len(spec.servers) / _cores(spec))
    settings = (server.jvm_settings for server in spec.servers)
    if any(jvm is not None and jvm.compile == "foreground" for jvm in settings):
        longer *= FOREGROUND_START
    low, high = START_CPU_SECONDS
    return low * longer, high * longer


def _draw_round(
    places: Sequence[ScheduledTrial], words: np.random.PCG64, plots_before: int, after: str
) -> list[ScheduledTrial]:
    """The places of a round in random order, that of the arm that ran last first; inside plots in random order where
    there are plots."""
    labels = sorted({place.plot for place in places})
    drawn = []
    for number, label in enumerate(_order(len(labels), words), start=1):
        group = [place for place in places if place.plot == labels[label]]
        plot = plots_before + number if labels[label] else 0
        drawn += [group[index].model_copy(update={"plot": plot}) for index in _order(len(group), words)]
    return drawn if max(labels) else sorted(drawn, key=lambda place: place.arm != after)


def _chain(size: int, blocks: int, words: np.random.PCG64) -> list[list[int]]:
    """An order of range(size) for each block, balanced for the predecessor and for the place in the block.

    A block begins with what the block before ended with, so that each one follows itself as often as any other: a
    strongly balanced crossover design (Jones and Kenward, Design and Analysis of Cross-Over Trials, 2014, chapter 4),
    grown block by block. Of the orders that are possible the one is taken that is the most even by the squares of how
    often each has followed each and stood at each place; ties are drawn. Two alternate: A B, B A, A B, ...
    """
    if size <= 2:
        first = _order(size, words)
        return [first[:: -1 if block % 2 else 1] for block in range(blocks)]
    followed, stood = np.zeros((size, size), dtype=int), np.zeros((size, size), dtype=int)
    every = np.array(list(permutations(range(size)))) if size <= _ALL_ORDERS else None
    orders: list[list[int]] = []
    for _ in range(blocks):
        if every is None:
            keys = words.random_raw((_DRAWN_ORDERS, size))
            keys[:, orders[-1][-1:] if orders else []] = 0
            possible = np.argsort(keys, axis=1, kind="stable")
        else:
            possible = every[every[:, 0] == orders[-1][-1]] if orders else every
        cost = followed[possible[:, :-1], possible[:, 1:]].sum(axis=1)
        cost += stood[possible, np.arange(size)].sum(axis=1)
        ties = np.flatnonzero(cost == cost.min())
        order = possible[ties[_order(len(ties), words)[0]]].tolist()
        followed[order[:-1], order[1:]] += 1
        stood[order, np.arange(size)] += 1
        orders.append(order)
    return orders


def _orders(size: int, blocks: int, words: np.random.PCG64) -> list[list[int]]:
    """An order of range(size) for each block, drawn by itself; of two, half in each order."""
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
