# SPDX-License-Identifier: Apache-2.0
"""The self-check: which cells are simulated, on how many processes, and what must come out."""

import math
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np

from steelyard import __version__
from steelyard.engines.synthetic import DRIFTING, NOISY, QUIET, HostModel
from steelyard.selfcheck.designs import all_a_then_all_b, stored_baseline
from steelyard.selfcheck.figures import Figure, SelfcheckResult
from steelyard.selfcheck.simulate import REPEATS, Cell, Tally, simulate
from steelyard.selfcheck.warm import judged_steady

SESSIONS = 4_000
SEED = 20240229
CHUNK = 250
"""Sessions simulated at a time; part of the seeding, so that results do not depend on the number of processes."""

SIZES = (6, 10, 20)
FALSE_ALARMS = (4.0, 6.0)
COVERAGE = (94.0, 96.0)

Report = Callable[[Tally], list[Figure]]
Band = tuple[float | None, float | None]


@dataclass(frozen=True)
class Question:
    """Sessions of one cell and the figures made from them."""

    cell: Cell
    share: float
    """Sessions of this cell as a share of the whole self-check's."""
    report: Report


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
    questions = [*_pairs_on_drifting_host(), *_pairs_elsewhere(), *_voids(), *_gate_table(), *_gate_truths()]
    jobs = [
        (index, cell_sessions, chunk)
        for index, question in enumerate(questions)
        for chunk, cell_sessions in enumerate(_chunks(max(1, round(sessions * question.share))))
    ]
    tallies = [Tally() for _ in questions]
    # Sums of fractions depend on their order: chunks are added in the order of the plan, not as they end.
    results = _run(
        [(questions[index].cell, size, seed, (1, index, chunk)) for index, size, chunk in jobs],
        progress,
        workers,
    )
    for (index, _, _), tally in zip(jobs, results, strict=True):
        tallies[index] = tallies[index] + tally
    figures = [
        figure
        for question, tally in zip(questions, tallies, strict=True)
        for figure in question.report(tally)
    ]
    return SelfcheckResult(
        steelyard_version=__version__,
        sessions=sessions,
        seed=seed,
        figures=[*figures, *_designs(sessions, seed), *_warm_up(sessions, seed)],
    )


def _chunks(sessions: int) -> list[int]:
    return [min(CHUNK, sessions - start) for start in range(0, sessions, CHUNK)]


def _simulate(cell: Cell, sessions: int, seed: int, key: tuple[int, ...]) -> Tally:
    return simulate(cell, sessions, np.random.SeedSequence(seed, spawn_key=key))


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(
    jobs: Sequence[tuple[Cell, int, int, tuple[int, ...]]],
    progress: Callable[[float], None],
    workers: int | None,
) -> list[Tally]:
    total = sum(cell.pairs * size for cell, size, _, _ in jobs)
    done = 0
    workers = workers or len(os.sched_getaffinity(0))
    if workers == 1:
        results = []
        for job in jobs:
            results.append(_simulate(*job))
            done += job[0].pairs * job[1]
            progress(done / total)
        return results
    # spawn: a fork would copy the locks of whatever threads the caller runs (a live display, say).
    with ProcessPoolExecutor(workers, get_context("spawn"), _leave_interrupts_to_the_parent) as pool:
        futures: list[Future[Tally]] = [pool.submit(_simulate, *job) for job in jobs]
        work = {future: job[0].pairs * job[1] for future, job in zip(futures, jobs, strict=True)}
        try:
            for future in as_completed(futures):
                future.result()
                done += work[future]
                progress(done / total)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
        return [future.result() for future in futures]


def _alarm_figures(cell: Cell, group: str, method: float | None, band: Band) -> Report:
    def report(tally: Tally) -> list[Figure]:
        name = f"{cell.host.name} host, {cell.pairs} pairs"
        return [Figure.rate(group, name, tally.alarms, tally.sessions, method, band)]

    return report


def _power_figures(cell: Cell, method: float, band: Band) -> Report:
    def report(tally: Tally) -> list[Figure]:
        name = f"{cell.host.name} host, {cell.pairs} pairs"
        return [
            Figure.rate("a true -3 % is found", name, tally.found, tally.sessions, method, band),
            Figure.rate(
                "95 % interval holds the truth (-3 %)", name, tally.covered, tally.sessions, 95.0, COVERAGE
            ),
        ]

    return report


def _pairs_on_drifting_host() -> list[Question]:
    """METHOD's table of designs, last row: what the harness does."""
    questions = []
    for pairs, alarms, power in zip(SIZES, (5.0, 4.0, 5.0), (98.0, 100.0, 100.0), strict=True):
        null, slower = Cell(DRIFTING, pairs), Cell(DRIFTING, pairs, effect=-0.03)
        group = "false alarms, random pairs"
        questions.append(Question(null, 1.0, _alarm_figures(null, group, alarms, FALSE_ALARMS)))
        questions.append(Question(slower, 1.0, _power_figures(slower, power, (95.0, None))))
    return questions


def _pairs_elsewhere() -> list[Question]:
    """The other hosts; steps on the noisy one make the test cautious, never bold: its band is open below."""
    cells = [
        (Cell(host, pairs), band)
        for host, band in ((QUIET, FALSE_ALARMS), (NOISY, (None, 6.0)))
        for pairs in SIZES
    ]
    group = "false alarms, random pairs"
    return [Question(cell, 0.3, _alarm_figures(cell, group, None, band)) for cell, band in cells]


def _voids() -> list[Question]:
    """A tenth of the trials is disturbed: they must not bias the estimate, and repeats must stay bounded."""
    null = Cell(DRIFTING, 10, void_share=0.1)
    slower = Cell(DRIFTING, 10, effect=-0.03, void_share=0.1)
    group = "10 % of trials void (each 20 % slower)"

    def unbiased(tally: Tally) -> list[Figure]:
        mean = tally.bias / tally.sessions
        spread = math.sqrt(max(tally.squares / tally.sessions - mean * mean, 0.0))
        return [
            Figure(
                group=group,
                name="mean error of the estimate, 10 pairs",
                measured=100 * mean,
                error=100 * spread / math.sqrt(tally.sessions),
                sessions=tally.sessions,
                method=0.0,
                low=-0.1,
                high=0.1,
            ),
            Figure(
                group=group,
                name="most repeats of any block",
                unit="repeats",
                measured=tally.most_repeats,
                error=0.0,
                sessions=tally.sessions,
                method=REPEATS,
                low=1,
                high=REPEATS,
            ),
            Figure.rate(group, "trials that the ledger voided", tally.voids, tally.trials, 10.0, (9.0, 11.0)),
            Figure.rate(group, "sessions left with an incomplete block", tally.incomplete, tally.sessions),
            Figure.rate(
                group, "95 % interval holds the truth (-3 %)", tally.covered, tally.sessions, 95.0, COVERAGE
            ),
        ]

    return [
        Question(null, 0.3, _alarm_figures(null, group + ", false alarms", None, FALSE_ALARMS)),
        Question(slower, 0.3, unbiased),
    ]


GATE_TABLE = {
    0.007: {0.02: 4, 0.03: 3, 0.05: 3, 0.10: 3},
    0.013: {0.02: 9, 0.03: 5, 0.05: 4, 0.10: 3},
    0.028: {0.02: 36, 0.03: 17, 0.05: 8, 0.10: 4},
    0.05: {0.02: 108, 0.03: 50, 0.05: 19, 0.10: 6},
}
"""METHOD, "The gate": blocks for a 90 % chance to pass an unchanged build, by variation and margin."""


def _gate_host(noise: float) -> HostModel:
    return HostModel(f"{noise * 100:g} %", noise=noise)


def _gate_table() -> list[Question]:
    def question(noise: float, margin: float, blocks: int) -> Question:
        cell = Cell(_gate_host(noise), blocks, margin=margin)
        name = f"variation {noise * 100:g} %, margin {margin * 100:g} %, {blocks} blocks"

        def report(tally: Tally) -> list[Figure]:
            group = "gate passes an unchanged build"
            return [Figure.rate(group, name, tally.passes, tally.sessions, 90.0, (90.0, None))]

        return Question(cell, 0.1, report)

    return [
        question(noise, margin, blocks) for noise, row in GATE_TABLE.items() for margin, blocks in row.items()
    ]


def _gate_truths() -> list[Question]:
    """What a wrong answer of the gate would be, and how often it is given (variation 1.3 %, margin 3 %)."""
    unchanged, at_margin, bad = (Cell(_gate_host(0.013), 10, effect=effect) for effect in (0.0, -0.03, -0.06))
    group = "gate, variation 1.3 %, margin 3 %, 10 blocks"

    def no_regression(tally: Tally) -> list[Figure]:
        return [
            Figure.rate(
                group,
                "unchanged build called a regression",
                tally.regressions,
                tally.sessions,
                None,
                (None, 3.5),
            )
        ]

    def rarely_passes(tally: Tally) -> list[Figure]:
        return [Figure.rate(group, "build 3 % worse passes", tally.passes, tally.sessions, 5.0, (None, 6.0))]

    def caught(tally: Tally) -> list[Figure]:
        return [
            Figure.rate(
                group,
                "build 6 % worse called a regression",
                tally.regressions,
                tally.sessions,
                None,
                (95.0, None),
            )
        ]

    return [
        Question(unchanged, 0.3, no_regression),
        Question(at_margin, 0.3, rarely_passes),
        Question(bad, 0.3, caught),
    ]


def _designs(sessions: int, seed: int) -> list[Figure]:
    """METHOD's table of designs, the rows that the harness refuses; without a band, they only show why."""
    rows = [
        ("false alarms, all of A, then all of B", all_a_then_all_b, (44.0, 59.0, 72.0)),
        ("false alarms, stored baseline", stored_baseline, (65.0, 75.0, 84.0)),
    ]
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
    cases: list[tuple[float, float, Band]] = [
        (0.0, 0.01, (95.0, None)),
        (0.0, 0.05, (70.0, None)),
        (0.02, 0.01, (None, None)),
        (0.05, 0.01, (None, 5.0)),
        (0.05, 0.02, (None, 10.0)),
        (0.10, 0.05, (None, 5.0)),
    ]
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
