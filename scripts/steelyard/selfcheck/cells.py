# SPDX-License-Identifier: Apache-2.0
"""The cells of the self-check: what is simulated, and what must come out.

A power or a coverage that theory gives exactly is held to on both sides; where a host breaks an assumption of the
t test in the cautious direction only (steps, heavy tails, a balanced order), the nominal level is a limit.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import scipy

from steelyard.analysis.paired import CLEARLY, LEVEL, SURE
from steelyard.analysis.rounds import LOPSIDED
from steelyard.gate.interim import INTERIM_PAIRS, LASTS
from steelyard.selfcheck import hosts
from steelyard.selfcheck.figures import Side
from steelyard.selfcheck.gating import Gate, run_gates, run_interims
from steelyard.selfcheck.hosts import DRIFTING, QUIET, HostModel, ThroughputModel, run_warm_ups, run_windows
from steelyard.selfcheck.readings import run_process_readings, run_window_readings
from steelyard.selfcheck.simulate import METRICS, REPEATS, A, ArmModel, Setup, Tally, run_sessions

Simulate = Callable[[int, np.random.Generator], Tally]


@dataclass(frozen=True, slots=True)
class Must:
    """What a share must be."""

    name: str
    hits: str
    """Key of the tally that is counted."""
    side: Side
    nominal: float
    of: str = "sessions"


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of simulated session (or series, or trial), and what must come out."""

    name: str
    simulate: Simulate
    musts: tuple[Must, ...]
    share: float = 1.0
    """Its sessions as a share of the whole self-check's."""


SLOW = ArmModel("b", slow_share=0.3, slow=0.1, void_slow=True)
"""Voiding that depends on the outcome: all of its slow starts are void."""
ALARM = Must("false alarms", "alarm", "about", LEVEL)
CAUTIOUS = Must("false alarms", "alarm", "at most", LEVEL)
CLAIMED = Must("answers that claim a difference", "claims a difference", "at most", LEVEL)
COMPLETE = Must("every block has every arm", "complete", "at least", 1.0)
BOUNDED = Must(f"a trial repeated more than {REPEATS} times", "too many repeats", "at most", 0.0)
GATE_TABLE = {
    0.007: {0.02: 6, 0.03: 3, 0.05: 3, 0.10: 3},
    0.013: {0.02: 9, 0.03: 6, 0.05: 4, 0.10: 3},
    0.028: {0.02: 36, 0.03: 17, 0.05: 8, 0.10: 4},
    0.05: {0.02: 108, 0.03: 50, 0.05: 19, 0.10: 7},
}
"""Blocks for a 90 % chance to pass an unchanged build, by variation and margin (docs/explanation/gate.md). By Student's
t alone three of them would be smaller; a permutation of signs has too few signs there: of five all have to agree."""


@cache
def cells() -> tuple[Cell, ...]:
    """Every cell; names are part of the seeding."""
    kinds = (
        _equal_arms,
        _carry_over,
        _plots,
        _effects,
        _several_arms,
        _voids,
        _lower_is_better,
        _gate,
        _interims,
        _whole_trials,
        _readings,
        _warm_up,
    )
    return tuple(cell for group in (*kinds, _gate_table, _whole_gates) for cell in group())


def _sessions(setup: Setup, *musts: Must, name: str = "", share: float = 1.0) -> Cell:
    title = name or f"{len(setup.arms)} equal arms"
    return Cell(
        f"{title}, {setup.host.name}, {setup.blocks} blocks", partial(run_sessions, setup), musts, share
    )


def _coverage(level: str, side: Side = "about") -> Must:
    return Must("interval holds the truth", f"{level} covered", side, 1 - LEVEL)


def _all_covered(levels: str) -> list[Must]:
    """Several arms: each interval is at the level that the family leaves it, so that all hold together."""
    each = 1 - LEVEL / len(levels)
    return [
        Must("all intervals hold the truth", "all covered", "at least", 1 - LEVEL),
        *(
            Must(f"interval of {level} holds the truth", f"{level} covered", "about", each)
            for level in levels
        ),
    ]


def power(host: HostModel, blocks: int, effect: float) -> float:
    """Chance of the two-sided t test over pairs to find an effect on its side (noncentral t)."""
    noncentrality = abs(math.log1p(effect)) * math.sqrt(blocks) / host.spread(blocks)
    limit = scipy.stats.t.ppf(1 - LEVEL / 2, blocks - 1)
    return float(scipy.stats.nct.sf(limit, blocks - 1, noncentrality))


def _equal_arms() -> Iterator[Cell]:
    for host, blocks, must in (
        (QUIET, 3, ALARM),
        (DRIFTING, 6, ALARM),
        (hosts.FIRST, 6, CAUTIOUS),
        (DRIFTING, 20, ALARM),
        (hosts.NOISY, 10, CAUTIOUS),
        (hosts.SLOPING, 10, CAUTIOUS),
        (hosts.HEAVY, 10, CAUTIOUS),
        (hosts.BIMODAL, 10, CAUTIOUS),
        (hosts.FOLLOWING, 10, CAUTIOUS),
    ):
        yield _sessions(Setup(host, blocks), must, CLAIMED, share=1.0 if blocks <= 10 else 0.5)


def _carry_over() -> Iterator[Cell]:
    """Trials that leave something to the next one: 3 %, by the arm that ran before."""
    arms = (A, ArmModel("b", leaves=-0.03))
    for blocks, share in ((6, 1.0), (20, 0.5)):
        yield _sessions(
            Setup(QUIET, blocks, arms),
            CAUTIOUS,
            CLAIMED,
            _coverage("b", "at least"),
            name="2 equal arms, 3 % carry-over",
            share=share,
        )
    shown = Must("carry-over is reported", "tells carry-over", "at least", 0.95)
    yield _sessions(Setup(QUIET, 20, arms), shown, name="carry-over of 3 %", share=0.2)
    none = Must("carry-over is reported that there is not", "tells carry-over", "at most", CLEARLY)
    yield _sessions(Setup(DRIFTING, 10), none, name="no carry-over", share=0.5)
    three = (*arms, ArmModel("c", leaves=0.03))
    yield _sessions(
        Setup(QUIET, 6, three),
        CAUTIOUS,
        CLAIMED,
        name="3 equal arms, 3 % carry-over of two of them",
        share=0.5,
    )


def _plots() -> Iterator[Cell]:
    """Arms in two host states, where every switch brings a shift of its own."""
    name, x = "in two host states", ArmModel("a", state="x")
    yield _sessions(
        Setup(hosts.SWITCHED, 6, (x, ArmModel("b", state="y"))), ALARM, CLAIMED, name=f"2 equal arms {name}"
    )
    several = (x, ArmModel("b", state="x"), ArmModel("c", state="y"), ArmModel("d", state="y"))
    musts = CAUTIOUS, CLAIMED, *_all_covered("bcd")
    yield _sessions(Setup(hosts.SWITCHED, 6, several), *musts, name=f"4 equal arms {name}", share=0.5)
    setup = Setup(hosts.SWITCHED, 6, (x, ArmModel("b", 0.04, state="y")))
    detection = Must("found on its side", "b found", "about", power(setup.host, 6, 0.04))
    yield _sessions(setup, detection, _coverage("b"), name=f"b truly +4 % {name}", share=0.5)
    refused = Must("an interval from two switches", "b has an interval", "at most", 0.0)
    yield _sessions(Setup(hosts.SWITCHED, 2, setup.arms), refused, name=f"two switches, {name}", share=0.1)


def _effects() -> Iterator[Cell]:
    for host, blocks, effect in (
        (QUIET, 3, 0.02),
        (DRIFTING, 6, -0.03),
        (QUIET, 6, 0.012),
        (DRIFTING, 20, -0.01),
    ):
        name = f"b truly {effect * 100:+g} %"
        setup = Setup(host, blocks, (A, ArmModel("b", effect)))
        detection = Must("found on its side", "b found", "about", power(host, blocks, effect))
        said = Must(
            "answers say so",
            f"says {'b is better' if effect > 0 else 'one is worse'}",
            "about",
            detection.nominal,
        )
        yield _sessions(setup, detection, _coverage("b"), said, name=name, share=1.0 if blocks <= 3 else 0.5)
    for effect, must in (
        (0.0, Must("answers say that they are equal", "says they are equal", "at least", 0.9)),
        (0.0101, Must("answers say that they are equal", "says they are equal", "at most", LEVEL / 2)),
    ):
        setup = Setup(QUIET, 20, (A, ArmModel("b", effect)))
        yield _sessions(setup, must, name=f"equality within 1 %, b truly {effect * 100:+.3g} %", share=0.2)
    unsteady = (ArmModel("a", unsteady_share=0.2), ArmModel("b", 0.02, unsteady_share=0.2))
    kept = Must("unsteady trials are kept", "b in every block", "at least", 1.0)
    yield _sessions(
        Setup(QUIET, 6, unsteady), kept, _coverage("b"), name="a fifth of all trials unsteady", share=0.2
    )


def _several_arms() -> Iterator[Cell]:
    equal = tuple(ArmModel(level) for level in "abcde")
    yield _sessions(Setup(QUIET, 6, equal), CAUTIOUS, CLAIMED, share=0.5)
    several = (A, ArmModel("b", 0.03), ArmModel("c", -0.03), ArmModel("d", 0.06))
    yield _sessions(
        Setup(DRIFTING, 6, several),
        *_all_covered("bcd"),
        name="4 unequal arms",
        share=0.5,
    )
    level = (A, ArmModel("b", 0.05), ArmModel("c", 0.05), ArmModel("d", 0.02))
    best = Must("one of two equal arms called the best", "says one is the best of all", "at most", LEVEL)
    yield _sessions(Setup(QUIET, 6, level), best, name="two of 4 arms equally good", share=0.5)
    independent = 1 - (1 - LEVEL / len(METRICS)) ** len(METRICS)
    alarm = Must(
        f"false alarms in any of {len(METRICS)} reported metrics", "reported alarm", "about", independent
    )
    sure = Must("upper bound of what can be detected holds", "b can detect", "about", SURE)
    remarks = Must("remarks on spreads that are equal", "b remarked on", "at most", 3 * CLEARLY)
    yield _sessions(Setup(QUIET, 10), alarm, sure, remarks, name="reported metrics")
    groups = Must("remarks on two groups of starts", "b remarked on", "at least", 0.9)
    yield _sessions(Setup(hosts.BIMODAL, 20), groups, name="remarks", share=0.2)


def _voids() -> Iterator[Cell]:
    both = (ArmModel("a", void_share=0.1), ArmModel("b", void_share=0.1))
    void = Must("trials that the ledger voids", "void", "about", 0.1, of="trials")
    complete = Must("every block has every arm", "complete", "at least", 0.9)
    disturbed = Must("a disturbed trial counts as valid", "counts a disturbed trial", "at most", 0.0)
    musts = (disturbed, BOUNDED, void, complete, CLAIMED, _coverage("b", "at least"))
    yield _sessions(Setup(DRIFTING, 10, both), *musts, name="a tenth of all trials void", share=0.5)
    drifting = HostModel("5 % drift", noise=0.007, drift=0.05)
    lopsided = Setup(drifting, 20, (A, ArmModel("b", void_share=0.3)))
    uneven = Must("void trials are reported as unequal", "unequal", "at least", 0.75)
    wanted = (_coverage("b", "at least"), CLAIMED, BOUNDED, uneven)
    yield _sessions(lopsided, *wanted, name="30 % void in one arm", share=0.5)
    # Voiding that depends on the outcome: no repeat cures it, and the void trials left in tell of it.
    for part, above, must in (("two fifths", 0.25, CLAIMED), ("a sixth", 1.0, CLAIMED)):
        selected = Setup(QUIET, 20, (A, ArmModel("b", void_above=above)), "cpu_per_1k", ("throughput",))
        yield _sessions(selected, must, name=f"{part} of one arm void for their CPU per request", share=0.2)
    held = Must("interval holds the truth", "b covered", "at least", 0.93)
    for blocks in (6, 20):
        slowest = Setup(QUIET, blocks, (A, ArmModel("b", void_above=0.5244)), "cpu_per_1k", ("throughput",))
        yield _sessions(slowest, held, CLAIMED, name="the slowest 30 % of one arm void", share=0.2)
    at_times = ArmModel("c", cpu=0.95 * math.exp(-0.03) - 1, slow_share=0.3, slow=0.1, void_slow=True)
    best = Must("one of two equal arms called the best", "says one is the best of all", "at most", LEVEL)
    selected = Setup(QUIET, 8, (A, ArmModel("b", cpu=-0.05), at_times), "cpu_per_1k", ("throughput",))
    name = "two of 3 arms equally good, 30 % of the starts of one 10 % slow and void"
    yield _sessions(selected, best, name=name, share=0.1)
    for slow, cause in ((SLOW, ""), (replace(SLOW, disturbed="steal"), " for steal")):
        for blocks in (6, 10, 20):
            unseen = _unseen(slow, blocks)
            holds = replace(held, nominal=min(held.nominal, 1 - LEVEL - unseen))
            passes = Must("passes", "pass", "at most", LEVEL + unseen)
            selected = Setup(QUIET, blocks, (A, slow), "cpu_per_1k", ("throughput",))
            name = f"gate, 30 % of the candidate's starts 10 % slow and void{cause}"
            yield _sessions(selected, holds, passes, name=name, share=0.2)


def _unseen(arm: ArmModel, blocks: int) -> float:
    """Chance that the void starts of an arm show nothing: none came, or fewer, for what others took, than are told from
    chance."""
    fewest = round(1 - math.log2(LOPSIDED)) if arm.disturbed == "steal" else 1
    return float(scipy.stats.nbinom.cdf(fewest - 1, blocks, 1 - arm.slow_share))


def _lower_is_better() -> Iterator[Cell]:
    for effect, must in ((-0.03, "says b is better"), (0.03, "says one is worse")):
        setup = Setup(QUIET, 8, (A, ArmModel("b", cpu=effect)), "cpu_per_1k", ("throughput", "memory_rss"))
        host = HostModel("", noise=0.01)  # that of CPU per request
        nominal = power(host, setup.blocks, effect)
        said = Must("answers say so", must, "about", nominal)
        yield _sessions(
            setup, said, _coverage("b"), name=f"b truly {effect * 100:+g} % CPU per request", share=0.5
        )


def _gate() -> Iterator[Cell]:
    """What a wrong answer of the gate would be, and how often it is given (variation 1.3 %, margin 3 %)."""
    host = HostModel("1.3 %", noise=0.013)
    for name, arm, musts in (
        ("unchanged", ArmModel("b"), [Must("called a regression", "regression", "at most", LEVEL / 2)]),
        ("3 % worse", ArmModel("b", -0.03), [Must("passes", "pass", "about", LEVEL)]),
        ("6 % worse", ArmModel("b", -0.06), [Must("called a regression", "regression", "at least", 0.95)]),
    ):
        yield _sessions(Setup(host, 10, (A, arm)), *musts, name=f"gate, build {name}", share=0.5)
    # Equal in the mean, and a few starts of another kind: Student's t alone errs in 9 % and more at six blocks.
    for whose, at in (("the candidate's", 1), ("the baseline's", 0)):
        slow = ArmModel("ab"[at], math.expm1(0.3 * 0.04), slow_share=0.3, slow=0.04)
        arms = (A, slow) if at else (slow, ArmModel("b"))
        called = Must("called a regression", "regression", "at most", 0.06)
        yield _sessions(
            Setup(QUIET, 6, arms, margin=0.01),
            called,
            name=f"gate, 30 % of {whose} starts 4 % slow",
            share=0.5,
        )
    slower = Setup(QUIET, 10, (A, ArmModel("b", cpu=0.06)), "cpu_per_1k", ("throughput",))
    must = Must("called a regression", "regression", "at least", 0.95)
    yield _sessions(slower, must, name="gate, 6 % more CPU per request", share=0.2)


def _interims() -> Iterator[Cell]:
    """A gate ends as soon as an interval decides: all of them hold the truth together in 95 % of gates."""
    held = tuple(
        Must(
            f"all intervals until {pairs} pairs hold the truth", f"held until {pairs}", "at least", 1 - LEVEL
        )
        for pairs in LASTS
    )
    for host, effect in ((QUIET, 0.0), (DRIFTING, -0.03)):
        gate = Gate(host, ArmModel("b", effect))
        name = f"interim analyses of a gate, truly {100 * effect:+g} %, {host.name}"
        yield Cell(name, partial(run_interims, gate), held, 0.3)


def _gate_table() -> Iterator[Cell]:
    for noise, row in GATE_TABLE.items():
        for margin, blocks in row.items():
            setup = Setup(HostModel(f"{noise * 100:g} %", noise=noise), blocks, margin=margin)
            must = Must("an unchanged build passes", "pass", "at least", 0.9)
            share = 0.2 if blocks <= 20 else 0.06
            yield _sessions(setup, must, name=f"gate, margin {margin * 100:g} %", share=share)


def _whole_gates() -> Iterator[Cell]:
    """The command: certificate, looks, confirmation, abstention. (Below the margin's floor it abstains.)"""
    false = Must("confirmed false alarms", "regression", "at most", 0.01)
    unsure = Must("inconclusive", "inconclusive", "informs", 0.0)
    certified = Must("its certificate allows the margin", "certified", "informs", 0.0)
    passes = Must("passes where it does", "certified pass", "at least", 0.95, of="certified")
    detected = Must("found where it does", "certified regression", "at least", 0.95, of="certified")
    missed = Must("passes", "pass", "at most", 0.03)
    # Where hardly any certificate allows the margin, what follows of one is judged by chance.
    rarely = [replace(must, side="informs") for must in (passes, detected)]
    for host, margin in (
        (QUIET, 0.03),
        (DRIFTING, 0.03),
        (hosts.NOISY, 0.03),
        (hosts.BIMODAL, 0.03),
        (hosts.NOISY, 0.06),
        (hosts.BIMODAL, 0.06),
    ):
        if_unchanged, if_worse = rarely if (host, margin) == (hosts.BIMODAL, 0.03) else (passes, detected)
        label = f"whole gate, margin {100 * margin:g} %"
        for name, arm, musts in (
            ("unchanged", ArmModel("b"), (false, certified, if_unchanged, unsure)),
            (f"truly {-100 * margin:g} %", ArmModel("b", -margin), (missed, certified, if_worse, unsure)),
        ):
            yield Cell(
                f"{label}, {name}, {host.name}", partial(run_gates, Gate(host, arm, margin)), musts, 0.3
            )
    shared = Gate(HostModel("shared runner", noise=0.05), ArmModel("b", -0.03))
    label = "whole gate, margin 3 %, truly -3 %, 5 % from start to start"
    abstains = replace(certified, side="at most", nominal=0.01)
    yield Cell(label, partial(run_gates, shared), (missed, abstains, rarely[1], unsure), 0.3)
    together: tuple[tuple[ArmModel, str, tuple[Must, ...]], ...] = (
        (ArmModel("b"), "unchanged", (false, certified, passes, unsure)),
        (ArmModel("b", -0.03), "truly -3 %", (missed, certified, detected, unsure)),
        (ArmModel("b", void_share=0.3), "unchanged, 30 % void in the candidate", (false, unsure)),
    )
    for arm, name, wanted in together:
        gate = Gate(hosts.SHARED, arm, duet=True)
        label = f"whole gate, duet, margin 3 %, {name}, 5 % from start to start, 0.7 % of it its own"
        yield Cell(label, partial(run_gates, gate), wanted, 0.3)
    # Of certificates of 10 pairs 69 % allow 2 % here, of 20 pairs 97 %.
    called = Must("called a regression", "regression", "at least", 0.9)
    for name, effect, wanted in (
        ("unchanged", 0.0, (false, certified, passes, unsure)),
        ("truly -3 %", -0.03, (missed, certified, called, unsure)),
    ):
        gate = Gate(QUIET, ArmModel("b", effect, leaves=-0.03), 0.02, certified=20)
        label = f"whole gate, margin 2 %, {name}, 3 % carry-over, certificate of 20 pairs, quiet"
        yield Cell(label, partial(run_gates, gate), wanted, 0.3)
    gate, unseen = Gate(QUIET, SLOW), _unseen(SLOW, INTERIM_PAIRS[0])
    label = "whole gate, margin 3 %, 30 % of the candidate's starts 10 % slow and void, quiet"
    yield Cell(label, partial(run_gates, gate), (replace(missed, nominal=LEVEL + unseen), unsure), 0.3)
    lopsided = Gate(DRIFTING, ArmModel("b", void_share=0.3))
    yield Cell("whole gate, 30 % void in the candidate", partial(run_gates, lopsided), (false, unsure), 0.3)


def _whole_trials() -> Iterator[Cell]:
    setup = Setup(
        QUIET, 4, (ArmModel("a", cold=0.1), ArmModel("b", cold=0.5)), report=METRICS[:2], samples=True
    )
    yield _sessions(setup, CAUTIOUS, COMPLETE, name="whole trials, b starts colder", share=0.03)


def _readings() -> Iterator[Cell]:
    """Parts of a trial that simulated sessions do not go through."""
    memory = Must("its memory is that of all of them", "memory of all", "at least", 1.0)
    yield Cell("a real server of three processes", run_process_readings, (memory,), 0.01)
    windows = (
        Must("the curve holds the first second of load", "holds the first second of load", "at least", 1.0),
        Must(
            "the window holds the first second after the warm-up",
            "holds the first second after the warm-up",
            "at least",
            1.0,
        ),
    )
    yield Cell("windows of loads that rise", run_window_readings, windows, 0.05)


def _warm_up() -> Iterator[Cell]:
    accepted = Must("accepted before the cap", "accepted", "at least", 0.95)
    rising = Must("accepted although it rises", "accepted", "at most", 0.01)
    early = Must("accepted too early", "too early", "at most", LEVEL)
    for name, series, must in (
        ("settles, noise 2 %/s", ThroughputModel(0.02, cold=0.5), early),
        ("level, noise 1 %/s", ThroughputModel(0.01), accepted),
        ("level, noise 5 %/s", ThroughputModel(0.05), accepted),
        ("level with full collections", ThroughputModel(0.02, dip=20), accepted),
        ("rise 5 %/min, noise 2 %/s", ThroughputModel(0.02, rise=0.05), rising),
        ("rise 10 %/min, noise 5 %/s", ThroughputModel(0.05, rise=0.10), rising),
    ):
        yield Cell(f"warm-up, {name}", partial(run_warm_ups, series), (must,), 0.3 if must is rising else 0.1)
    steady = Must("judged steady", "steady", "at least", 0.95)
    unsteady = Must("judged steady although it is not", "steady", "at most", LEVEL)
    for name, series, must in (
        ("level with full collections", ThroughputModel(0.02, dip=20), steady),
        ("falls by 5 % in the middle", ThroughputModel(0.02, jump=0.05), unsteady),
        ("sags by 15 % in its middle third", ThroughputModel(0.02, sag=0.15), unsteady),
        ("rise 5 %/min, noise 2 %/s", ThroughputModel(0.02, rise=0.05), unsteady),
    ):
        yield Cell(f"measurement, {name}", partial(run_windows, series), (must,), 0.25)
