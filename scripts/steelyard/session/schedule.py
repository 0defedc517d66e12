# SPDX-License-Identifier: Apache-2.0
"""The order of trials: randomised blocks, repeats of void trials, and the one loop that runs them.

Pure: the same loop runs real sessions, resumed sessions and simulated ones. What comes next follows from the
schedule and the outcomes so far alone, so a resumed session goes on exactly as an uninterrupted one would.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.results.schema import ScheduledTrial, Trial


@dataclass(frozen=True, slots=True)
class Planned:
    """A trial that is to run now."""

    block: int
    arm: str
    attempt: int
    """0 for the scheduled trial, 1.. for its repeats."""
    order: int
    """Place in time over the whole session, from 0."""


def make_schedule(arms: Sequence[str], blocks: int, seed: int) -> list[ScheduledTrial]:
    """Every arm once per block, in random order drawn from the seed; blocks count from 1.

    With two arms half of the blocks run in each order (with an odd number of blocks one order has one more), so
    that a drift inside pairs cancels. Arms are ordered by raw words of PCG64: numpy keeps that stream from version
    to version, which it does not promise for its shuffles.
    """
    words = np.random.PCG64(seed)
    orders = _balanced_pairs(blocks, words) if len(arms) == 2 else _free_orders(len(arms), blocks, words)
    places = [(block, arms[index]) for block, order in enumerate(orders, start=1) for index in order]
    return [ScheduledTrial(order=order, block=block, arm=arm) for order, (block, arm) in enumerate(places)]


def next_trial(schedule: Sequence[ScheduledTrial], outcomes: Sequence[Trial], repeats: int) -> Planned | None:
    """What to run next, or None when the session is complete.

    First the schedule, then repeats of trials whose last attempt is void: fewest attempts first, then in the order
    of the schedule. A block is given at most `repeats` repeats, all its arms together. Interrupted trials are not
    outcomes: they run again as if they had not been started.
    """
    attempts = Counter((trial.block, trial.arm) for trial in outcomes)
    for place in schedule:
        if not attempts[place.block, place.arm]:
            return Planned(place.block, place.arm, 0, place.order)
    valid = {(trial.block, trial.arm) for trial in outcomes if trial.state == "valid"}
    repeated: Counter[int] = Counter(trial.block for trial in outcomes if trial.attempt > 0)
    waiting = [
        place
        for place in schedule
        if (place.block, place.arm) not in valid and repeated[place.block] < repeats
    ]
    if not waiting:
        return None
    first = min(waiting, key=lambda place: (attempts[place.block, place.arm], place.order))
    return Planned(first.block, first.arm, attempts[first.block, first.arm], len(outcomes))


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


def _free_orders(arms: int, blocks: int, words: np.random.PCG64) -> list[list[int]]:
    return [_order(arms, words) for _ in range(blocks)]


def _balanced_pairs(blocks: int, words: np.random.PCG64) -> list[list[int]]:
    """Half of the pairs in each order, placed at random; an odd pair's order is a coin toss."""
    odd = _order(2, words)[0]
    turned = set(_order(blocks, words)[: (blocks + odd) // 2])
    return [[1, 0] if block in turned else [0, 1] for block in range(blocks)]


def _order(size: int, words: np.random.PCG64) -> list[int]:
    """A random order of range(size): the order of as many 64-bit random words (ties: 1 in 2^60, then stable)."""
    keys = words.random_raw(size)
    return [int(index) for index in np.argsort(keys, kind="stable")]
