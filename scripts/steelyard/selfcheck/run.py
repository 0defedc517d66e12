# SPDX-License-Identifier: Apache-2.0
"""The self-check: which cells are simulated, on how many processes, and what must come out.

A question is one entry of `QUESTIONS`: a cell, its share of the sessions, and the figures made from its tally.
"""

import math
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np

from steelyard import __version__
from steelyard.selfcheck.figures import OPEN, Band, Figure, SelfcheckResult
from steelyard.selfcheck.hosts import (
    DRIFTING,
    NOISY,
    QUIET,
    HostModel,
    all_a_then_all_b,
    judged_steady,
    stored_baseline,
)
from steelyard.selfcheck.simulate import REPEATS, Cell, Tally, simulate

SESSIONS = 4_000
SEED = 20240229
CHUNK = 250
"""Sessions simulated at a time; part of the seeding, so that results do not depend on the number of processes."""

SIZES = (6, 10, 20)
FALSE_ALARMS = (4.0, 6.0)
COVERAGE = (94.0, 96.0)
GATE_TABLE = {
    0.007: {0.02: 4, 0.03: 3, 0.05: 3, 0.10: 3},
    0.013: {0.02: 9, 0.03: 5, 0.05: 4, 0.10: 3},
    0.028: {0.02: 36, 0.03: 17, 0.05: 8, 0.10: 4},
    0.05: {0.02: 108, 0.03: 50, 0.05: 19, 0.10: 6},
}
"""METHOD, "The gate": blocks for a 90 % chance to pass an unchanged build, by variation and margin."""

Report = Callable[[Tally], Figure]
Job = tuple[Cell, int, np.random.SeedSequence]


@dataclass(frozen=True)
class Question:
    """Sessions of one cell and the figures made from them."""

    cell: Cell
    share: float
    """Sessions of this cell as a share of the whole self-check's."""
    reports: tuple[Report, ...]


def _rate(
    group: str,
    name: str,
    hits: Callable[[Tally], int],
    method: float | None = None,
    band: Band = OPEN,
    of: Callable[[Tally], int] = lambda tally: tally.sessions,
) -> Report:
    return lambda tally: Figure.rate(group, name, hits(tally), of(tally), method, band)


def _alarms(
    cell: Cell, method: float | None, band: Band, group: str = "false alarms, random pairs"
) -> Report:
    return _rate(group, cell.name, lambda tally: tally.alarms, method, band)


def _covered(group: str, name: str) -> Report:
    return _rate(group, name, lambda tally: tally.covered, 95.0, COVERAGE)


def _pairs_on_drifting_host() -> Iterator[Question]:
    """METHOD's table of designs, last row: what the harness does."""
    for pairs, alarms, power in zip(SIZES, (5.0, 4.0, 5.0), (98.0, 100.0, 100.0), strict=True):
        null, slower = Cell(DRIFTING, pairs), Cell(DRIFTING, pairs, effect=-0.03)
        found = _rate("a true -3 % is found", slower.name, lambda tally: tally.found, power, (95.0, None))
        yield Question(null, 1.0, (_alarms(null, alarms, FALSE_ALARMS),))
        yield Question(slower, 1.0, (found, _covered("95 % interval holds the truth (-3 %)", slower.name)))


def _pairs_elsewhere() -> Iterator[Question]:
    """The other hosts; steps on the noisy one make the test cautious, never bold: its band is open below."""
    for host, band in ((QUIET, FALSE_ALARMS), (NOISY, (None, 6.0))):
        for cell in (Cell(host, pairs) for pairs in SIZES):
            yield Question(cell, 0.3, (_alarms(cell, None, band),))


_VOIDS = "10 % of trials void (each 20 % slower)"


def _bias(tally: Tally) -> Figure:
    mean = tally.bias / tally.sessions
    spread = math.sqrt(max(tally.squares / tally.sessions - mean * mean, 0.0))
    return Figure(
        group=_VOIDS,
        name="mean error of the estimate, 10 pairs",
        measured=100 * mean,
        error=100 * spread / math.sqrt(tally.sessions),
        sessions=tally.sessions,
        method=0.0,
        low=-0.1,
        high=0.1,
    )


def _most_repeats(tally: Tally) -> Figure:
    return Figure(
        group=_VOIDS,
        name="most repeats of any block",
        unit="repeats",
        measured=tally.most_repeats,
        error=0.0,
        sessions=tally.sessions,
        method=REPEATS,
        low=1,
        high=REPEATS,
    )


def _voids() -> Iterator[Question]:
    """A tenth of the trials is disturbed: they must not bias the estimate, and repeats must stay bounded."""
    null = Cell(DRIFTING, 10, void_share=0.1)
    yield Question(null, 0.3, (_alarms(null, None, FALSE_ALARMS, f"{_VOIDS}, false alarms"),))
    voided = "trials that the ledger voided"
    reports = (
        _bias,
        _most_repeats,
        _rate(_VOIDS, voided, lambda tally: tally.voids, 10.0, (9.0, 11.0), lambda tally: tally.trials),
        _rate(_VOIDS, "sessions left with an incomplete block", lambda tally: tally.incomplete),
        _covered(_VOIDS, "95 % interval holds the truth (-3 %)"),
    )
    yield Question(Cell(DRIFTING, 10, effect=-0.03, void_share=0.1), 0.3, reports)


def _gate_table() -> Iterator[Question]:
    group = "gate passes an unchanged build"
    for noise, row in GATE_TABLE.items():
        host = HostModel(f"{noise * 100:g} %", noise=noise)
        for margin, blocks in row.items():
            name = f"variation {noise * 100:g} %, margin {margin * 100:g} %, {blocks} blocks"
            passes = _rate(group, name, lambda tally: tally.passes, 90.0, (90.0, None))
            yield Question(Cell(host, blocks, margin=margin), 0.1, (passes,))


def _gate_truths() -> Iterator[Question]:
    """What a wrong answer of the gate would be, and how often it is given (variation 1.3 %, margin 3 %)."""
    group = "gate, variation 1.3 %, margin 3 %, 10 blocks"
    called = "called a regression"
    truths: tuple[tuple[float, str, Callable[[Tally], int], float | None, Band], ...] = (
        (0.0, f"unchanged build {called}", lambda tally: tally.regressions, None, (None, 3.5)),
        (-0.03, "build 3 % worse passes", lambda tally: tally.passes, 5.0, (None, 6.0)),
        (-0.06, f"build 6 % worse {called}", lambda tally: tally.regressions, None, (95.0, None)),
    )
    for effect, name, hits, method, band in truths:
        cell = Cell(HostModel("1.3 %", noise=0.013), 10, effect=effect)
        yield Question(cell, 0.3, (_rate(group, name, hits, method, band),))


QUESTIONS = (*_pairs_on_drifting_host(), *_pairs_elsewhere(), *_voids(), *_gate_table(), *_gate_truths())
"""Their places are part of the seeding: a new one goes to the end."""


def run_selfcheck(
    sessions: int = SESSIONS,
    seed: int = SEED,
    progress: Callable[[float], None] = lambda _done: None,
    workers: int | None = None,
) -> SelfcheckResult:
    """Simulate and report; the same sessions and seed give the same result on any number of processes.

    Args:
        sessions: simulated sessions of each main figure; a figure needs some thousands to be sharp.
        seed: seed of everything.
        progress: called with the share that is done, from 0 to 1.
        workers: processes; None: one for each CPU this process may use.
    """
    jobs: list[tuple[int, Job]] = []
    for index, question in enumerate(QUESTIONS):
        own = max(1, round(sessions * question.share))
        for chunk, start in enumerate(range(0, own, CHUNK)):
            chance = np.random.SeedSequence(seed, spawn_key=(1, index, chunk))
            jobs.append((index, (question.cell, min(CHUNK, own - start), chance)))
    total = sum(cell.pairs * size for _, (cell, size, _) in jobs)
    done = 0
    tallies = [Tally() for _ in QUESTIONS]
    with _simulated([job for _, job in jobs], workers or len(os.sched_getaffinity(0))) as results:
        # Sums of fractions depend on their order: chunks are added in the order of the plan, not as they end.
        for (index, (cell, size, _)), tally in zip(jobs, results, strict=True):
            tallies[index] = tallies[index] + tally
            done += cell.pairs * size
            progress(done / total)
    answers = [
        report(tally)
        for question, tally in zip(QUESTIONS, tallies, strict=True)
        for report in question.reports
    ]
    return SelfcheckResult(
        steelyard_version=__version__,
        sessions=sessions,
        seed=seed,
        figures=[*answers, *_designs(sessions, seed), *_warm_up(sessions, seed)],
    )


@contextmanager
def _simulated(jobs: list[Job], workers: int) -> Iterator[Iterator[Tally]]:
    """The tally of each job, in the order of the jobs, as they are asked for."""
    if workers == 1:
        yield (simulate(*job) for job in jobs)
        return
    # spawn: a fork would copy the locks of whatever threads the caller runs (a live display, say).
    left_to_the_parent = (signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(workers, get_context("spawn"), signal.signal, left_to_the_parent) as pool:
        try:
            yield pool.map(simulate, *zip(*jobs, strict=True))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _designs(sessions: int, seed: int) -> list[Figure]:
    """METHOD's table of designs, the rows that the harness refuses; without a band, they only show why."""
    rows = (
        ("false alarms, all of A, then all of B", all_a_then_all_b, (44.0, 59.0, 72.0)),
        ("false alarms, stored baseline", stored_baseline, (65.0, 75.0, 84.0)),
    )
    return [
        Figure.rate(
            group,
            f"drifting host, {runs} runs a side",
            design(DRIFTING, runs, sessions, np.random.SeedSequence(seed, spawn_key=(2, row, runs))),
            sessions,
            expected,
        )
        for row, (group, design, method) in enumerate(rows)
        for runs, expected in zip(SIZES, method, strict=True)
    ]


def _warm_up(sessions: int, seed: int) -> list[Figure]:
    """The warm-up rule on series whose truth is known."""
    series = max(20, sessions // 25)
    cases: tuple[tuple[float, float, Band], ...] = (
        (0.0, 0.01, (95.0, None)),
        (0.0, 0.05, (70.0, None)),
        (0.02, 0.01, OPEN),
        (0.05, 0.01, (None, 5.0)),
        (0.05, 0.02, (None, 10.0)),
        (0.10, 0.05, (None, 5.0)),
    )
    return [
        Figure.rate(
            "warm-up rule judges a series steady",
            f"rise {ramp * 100:g} %/min, noise {noise * 100:g} %/s",
            judged_steady(ramp, noise, series, np.random.SeedSequence(seed, spawn_key=(3, index))),
            series,
            band=band,
        )
        for index, (ramp, noise, band) in enumerate(cases)
    ]
