# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ARG005
"""Bugs planted in the project's own functions: each must make the self-check fail at its default size.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/tests/selfcheck/planted.py [--all] [BUG...]

runs the list and prints which figure of which cell caught which bug: without `--all` of the cell that is known to, with
it of every cell.
"""

import argparse
import functools
import importlib
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import scipy

from steelyard.analysis.arm_pairs import valid_values
from steelyard.analysis.paired import LEVEL, PairedTest
from steelyard.analysis.warmup import Steadiness, judge_steady
from steelyard.gate.verdict import Verdict
from steelyard.selfcheck.cells import Cell, Must, cells
from steelyard.selfcheck.figures import limits
from steelyard.selfcheck.run import SEED, SESSIONS, figures_of, jobs_of, simulate
from steelyard.selfcheck.simulate import Tally
from steelyard.session.schedule import _orders


@dataclass(frozen=True)
class Bug:
    name: str
    where: str
    """Module and name, without `steelyard.`; a name with a dot is of a class."""
    wrong: Callable[[Any], Any]
    """Makes the wrong function from the right one."""
    caught_by: str
    """Beginning of the name of a cell that catches it."""


def interval(core, error, p):
    half = scipy.special.stdtrit(core.n - 1, 1 - LEVEL / 2) * error
    return PairedTest(core.n, core.mean, core.sd, core.mean - half, core.mean + half, float(p))


def sd_for_error(core):
    return interval(core, core.sd, 2 * scipy.special.stdtr(core.n - 1, -abs(core.mean) / core.sd))


def p_from_z(core):
    error = core.sd / math.sqrt(core.n)
    return interval(core, error, 2 * scipy.special.ndtr(-abs(core.mean) / error))


def of_core(change):
    """A bug in `paired` that changes what comes out of it."""

    def wrong(right):
        def paired(logs, *more):
            core = right(logs, *more)
            return core if core is None or core.is_tied else change(core)

        return paired

    return wrong


def by_point_estimate(_right):
    """A bug in the gate's verdict: whatever is less than the margin away passes, whatever is more is a regression."""

    def weigh(estimate, better, margin, levels):
        worse = 1 if better == "lower" else -1
        harm = worse * (math.exp(math.fsum(map(math.log, estimate.ratios)) / len(estimate.ratios)) - 1)
        return Verdict("pass" if harm < margin else "regression", "", metric=estimate.metric)

    return weigh


def pairs(choose):
    """A bug in `log_ratios`: other pairs, or other ratios of them."""
    return lambda right: lambda arm, baseline: choose(right, arm, baseline)


def shuffled(right, arm, baseline):
    values = list(baseline.values())
    return right(arm, dict(zip(baseline, values[1:] + values[:1], strict=True)))


def twice(right, arm, baseline):
    return right(*({place: math.log1p(value) for place, value in of.items()} for of in (arm, baseline)))


def against_the_arm_before(right):
    before = {}

    def log_ratios(arm, baseline):
        ratios = right(arm, before.get(id(baseline), baseline))
        before.clear()
        before[id(baseline)] = arm
        return ratios

    return log_ratios


def one_family(right):
    def in_families(estimates, asked):
        from steelyard.analysis.estimates import simultaneous

        tested = sum(estimate.p is not None for arms in estimates.values() for estimate in arms.values())
        return {
            name: {arm: simultaneous(estimate, max(1, tested)) for arm, estimate in arms.items()}
            for name, arms in estimates.items()
        }

    return in_families


def one_by_one(right):
    """Verdicts at the level of the family beside intervals that are not."""

    def simultaneous(estimate, comparisons):
        together = right(estimate, comparisons)
        alone = right(estimate, 1)
        return together.model_copy(update={"low": alone.low, "high": alone.high})

    return simultaneous


def unknown_passes(right):
    def check(self, measurement, spec):
        made = right(self, measurement, spec)
        return made.model_copy(update={"passed": made.passed or (made.applies and made.value is None)})

    return check


def repeats(number):
    return lambda right: lambda schedule, outcomes, _, *more: right(schedule, outcomes, number, *more)


def from_the_ramp(right):
    def post_init(self):
        right(self)
        self.start = self.run.ramp_end
        self.seconds = self.end - self.start

    return post_init


def trimmed(right):
    return lambda logs, *more: right(sorted(logs)[1:-1] if len(logs) > 3 else logs, *more)


def flipped(right):
    other = {"higher": "lower", "lower": "higher"}
    return lambda estimate, better, *more: right(estimate, other[better], *more)


def only_steady(right):
    return lambda trials: right([trial for trial in trials if trial.steady])


EQUAL, SMALL, FIRST = (
    "2 equal arms, quiet, 3 blocks",
    "b truly +2 %, quiet, 3 blocks",
    "2 equal arms, first of a block",
)
POWER, DRIFTS = "b truly +1.2 %, quiet, 6 blocks", "b truly -3 %, drifting"
ARMS, VOIDS = "5 equal arms", "a tenth of all trials void"

BUGS = (
    Bug(
        "wrong sign of the effect",
        "analysis.estimates:log_ratios",
        pairs(lambda right, a, b: right(b, a)),
        SMALL,
    ),
    Bug("pairing ignored", "analysis.estimates:log_ratios", pairs(shuffled), DRIFTS),
    Bug(
        "standard deviation for standard error", "analysis.paired:paired_test", of_core(sd_for_error), DRIFTS
    ),
    Bug(
        "z for t",
        "analysis.paired:t_quantile",
        lambda right: lambda q, df: float(scipy.special.ndtri(q)),
        SMALL,
    ),
    Bug("p from z", "analysis.paired:paired_test", of_core(p_from_z), EQUAL),
    Bug(
        "no randomisation of the order",
        "session.schedule:_chain",
        lambda right: lambda size, blocks, words: [list(range(size))] * blocks,
        FIRST,
    ),
    Bug(
        "order reused in each block",
        "session.schedule:_chain",
        lambda right: lambda size, blocks, words: right(size, blocks, words)[:1] * blocks,
        FIRST,
    ),
    Bug(
        "orders not balanced for the predecessor",
        "session.schedule:_chain",
        lambda right: _orders,
        "2 equal arms, 3 % carry-over, quiet, 20",
    ),
    Bug(
        "void trials left in nowhere",
        "analysis.rounds:trials_left_in",
        lambda right: lambda *_: {},
        "gate, 30 % of the candidate's starts 10 % slow and void",
    ),
    Bug(
        "what others take is never an arm's own",
        "analysis.rounds:_own_disturbances",
        lambda right: lambda *_: set(),
        "gate, 30 % of the candidate's starts 10 % slow and void for steal, quiet, 10",
    ),
    Bug(
        "void trials left in beside the baseline alone",
        "analysis.arm_pairs:_values_left_in",
        lambda right: valid_values,
        "two of 3 arms equally good",
    ),
    Bug(
        "memory of the first process",
        "sampling.process:Process._sum",
        lambda right: lambda self, sizes: right(self, sizes[:1]),
        "a real server of three processes",
    ),
    Bug(
        "ramp-up one second late",
        "session.procedures:ramp_up_start",
        lambda right: lambda load: right(load) + 1.0,
        "windows of loads that rise",
    ),
    Bug(
        "window one second late",
        "session.procedures:steady_start",
        lambda right: lambda now: right(now) + 1.0,
        "windows of loads that rise",
    ),
    Bug("voids counted as valid", "measure.ledger:is_void", lambda right: lambda checks: False, VOIDS),
    Bug("no correction", "analysis.paired:adjust_p", lambda right: lambda p, comparisons: p, ARMS),
    Bug(
        "intervals of one comparison for several", "analysis.estimates:simultaneous", one_by_one, "4 unequal"
    ),
    Bug("gate sign wrong", "gate.verdict:decide", flipped, "gate, build 6 % worse"),
    Bug("warm-up's data counted", "measure.window:Window.__post_init__", from_the_ramp, "whole trials"),
    Bug("no repeats of voids", "session.schedule:next_trial", repeats(0), VOIDS),
    Bug("more repeats than allowed", "session.schedule:next_trial", repeats(9), VOIDS),
    Bug(
        "baseline of another level", "analysis.estimates:log_ratios", against_the_arm_before, "4 unequal arms"
    ),
    Bug("log taken twice", "analysis.estimates:log_ratios", pairs(twice), SMALL),
    Bug(
        "one-sided interval as two-sided",
        "analysis.paired:t_quantile",
        lambda right: lambda q, df: right(1 - LEVEL if q == 1 - LEVEL / 2 else q, df),
        SMALL,
    ),
    Bug("extremes left out", "analysis.paired:paired_test", trimmed, "2 equal arms, drifting, 6 blocks"),
    Bug(
        "warm-up accepted at the first look",
        "analysis.warmup:has_warmed_up",
        lambda right: lambda rates, jit: Steadiness(True, ""),
        "warm-up, settles",
    ),
    Bug(
        "warm-up accepted at one look",
        "analysis.warmup:has_warmed_up",
        lambda right: judge_steady,
        "warm-up, rise 5",
    ),
    Bug(
        "change points ignored",
        "analysis.warmup:last_change",
        lambda right: lambda relative: None,
        "measurement, sags",
    ),
    Bug(
        "unsteady trials dropped",
        "analysis.rounds:valid_trials",
        only_steady,
        "a fifth of all trials unsteady",
    ),
    Bug("one family of all metrics", "analysis.estimates:_in_families", one_family, DRIFTS),
    Bug("unknown passes", "measure.rule:Rule.check", unknown_passes, VOIDS),
    Bug(
        "unequal voids ignored",
        "analysis.rounds:unequal",
        lambda right: lambda *_: None,
        "30 % void in one arm",
    ),
    Bug(
        "uncorrected p in the answer",
        "analysis.sentences:beyond_noise",
        lambda right: lambda found: found.p is not None and found.p < LEVEL,
        ARMS,
    ),
    Bug(
        "lower is better ignored",
        "analysis.sentences:_gain",
        lambda right: lambda info, found: math.log(found.ratio),
        "b truly -3 % CPU",
    ),
    Bug(
        "best arm named without a test",
        "analysis.sentences:_AnswerWording._others",
        lambda right: lambda self, info, best: ("", []),
        "two of 4 arms",
    ),
    Bug(
        "floor of the certificate ignored",
        "gate.certificate:floor_of",
        lambda right: lambda *_: 0.0,
        "whole gate, margin 3 %, truly -3 %, 5 % from",
    ),
    Bug(
        "no certificate allows a margin",
        "gate.certificate:floor_of",
        lambda right: lambda *more: 100 * right(*more),
        "whole gate, margin 3 %, unchanged, quiet",
    ),
    Bug(
        "regressions never confirmed",
        "gate.result:needs_confirmation",
        lambda right: lambda first: False,
        "whole gate, margin 3 %, truly -3 %, quiet",
    ),
    Bug(
        "gate by the point estimate",
        "gate.verdict:_weigh",
        by_point_estimate,
        "gate, build 3 % worse",
    ),
)


def failures(chosen: Iterable[Cell], sessions: int = SESSIONS, seed: int = SEED) -> Iterator[str]:
    """The figures that fail, the first one of each cell, in this process alone.

    A cell ends as soon as no outcome of its remaining sessions could let it pass: the answer is that of the whole
    self-check, sooner.
    """
    for cell in chosen:
        jobs, tally = jobs_of(cell, sessions, seed), Tally()
        size = sum(number for _, number, _ in jobs)
        left = size
        for job in jobs:
            tally += simulate(job)
            left -= job[1]
            lost = next((must for must in cell.musts if is_lost(must, tally, left)), None)
            if lost is not None:
                yield f"{cell.name}: {lost.name}"
                break
        else:
            failed = [figure for figure in figures_of(cell, tally) if not figure.passed]
            yield from (f"{cell.name}: {figure.name}" for figure in failed[:1])


def is_lost(must: Must, tally: Tally, left: int) -> bool:
    """Whether a share fails even if all sessions that are left count for it, as hits or as none, which it needs."""
    if must.of == "trials":  # nobody knows how many are left
        return False
    hits = tally[must.hits]
    low, high = limits(tally[must.of] + left, must.side, must.nominal)
    return hits > high or hits + left < low


@contextmanager
def planted(bug: Bug) -> Iterator[None]:
    """The bug in place of the right function, wherever the project has imported it."""
    module, _, name = bug.where.partition(":")
    holder = importlib.import_module(f"steelyard.{module}")
    *owner, name = name.split(".")
    if owner:
        places = [getattr(holder, owner[0])]
    else:
        right = getattr(holder, name)
        modules = [module for key, module in sys.modules.items() if key.startswith("steelyard")]
        places = [module for module in modules if getattr(module, name, None) is right]
    right = getattr(places[0], name)
    wrong = bug.wrong(right)
    try:
        for place in places:
            setattr(place, name, wrong)
        _forget()
        yield
    finally:
        for place in places:
            setattr(place, name, right)
        _forget()


def _forget() -> None:
    """Empty what the analysis remembers of its own figures."""
    paired = importlib.import_module("steelyard.analysis.paired")
    for function in vars(paired).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def caught(name: str, first: bool) -> list[str]:
    """The figures that fail with a bug, at the default size; the `first` one alone: from the cell that is known to."""
    bug = next(bug for bug in BUGS if bug.name == name)
    known = [cell for cell in cells() if cell.name.startswith(bug.caught_by)]
    with planted(bug):
        return [next(failures(known), "")] if first else list(failures(cells()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Plants bugs and shows what catches them.")
    parser.add_argument("--all", action="store_true", help="every figure that fails, not just the first")
    parser.add_argument("bugs", nargs="*", metavar="BUG", help="beginnings of names; left out: all")
    asked = parser.parse_args()
    chosen = [bug.name for bug in BUGS if not asked.bugs or bug.name.startswith(tuple(asked.bugs))]
    escaped = 0
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        answers = pool.map(functools.partial(caught, first=not asked.all), chosen)
        for bug_name, answer in zip(chosen, answers, strict=True):
            escaped += not any(answer)
            print(f"{bug_name}: {'; '.join(answer) or 'ESCAPED'}", flush=True)  # noqa: T201
    sys.exit(escaped > 0)
