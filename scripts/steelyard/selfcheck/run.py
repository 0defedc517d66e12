# SPDX-License-Identifier: Apache-2.0
"""Runs the self-check: which cells, with how many sessions, on how many processes."""

import os
import signal
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

import numpy as np

from steelyard import __version__
from steelyard.errors import BadInput
from steelyard.selfcheck.cells import Cell, cells
from steelyard.selfcheck.figures import SelfcheckResult, SimulatedShare
from steelyard.selfcheck.simulate import Tally

SESSIONS = 1_000
SEED = 20240229
CHUNK = 20
"""Sessions simulated at a time; part of the seeding, so that results do not depend on the number of processes."""

Job = tuple[str, int, np.random.SeedSequence]


def run_selfcheck(
    sessions: int = SESSIONS,
    seed: int = SEED,
    progress: Callable[[float], None] = lambda _done: None,
    workers: int | None = None,
    only: str = "",
) -> SelfcheckResult:
    """Simulate and report; the same sessions and seed give the same result on any number of processes.

    Args:
        sessions: simulated sessions of each main cell; a figure needs some thousands to be sharp.
        seed: seed of everything.
        progress: called with the share that is done, from 0 to 1.
        workers: processes; None: one for each CPU this process may use.
        only: beginning of the names of the cells that are run.

    Raises:
        BadInput: there is no such cell.
    """
    chosen = [cell for cell in cells() if cell.name.startswith(only)]
    if not chosen:
        raise BadInput(
            f"no cell of the self-check begins with {only!r}: docs/lab-notes/2026-11-26-self-check.md has their names"
        )
    jobs = [job for cell in chosen for job in jobs_of(cell, sessions, seed)]
    total, done = sum(size for _, size, _ in jobs), 0
    tallies: dict[str, Tally] = {cell.name: Counter() for cell in chosen}
    with _tallies(jobs, workers or len(os.sched_getaffinity(0))) as results:
        for (name, size, _), tally in zip(jobs, results, strict=True):
            tallies[name] += tally
            done += size
            progress(done / total)
    return SelfcheckResult(
        steelyard_version=__version__,
        sessions=sessions,
        seed=seed,
        figures=[figure for cell in chosen for figure in figures_of(cell, tallies[cell.name])],
    )


def jobs_of(cell: Cell, sessions: int, seed: int) -> list[Job]:
    """The sessions of a cell in chunks, each with its seed."""
    own = max(1, round(sessions * cell.share))
    return [
        (
            cell.name,
            min(CHUNK, own - begin),
            np.random.SeedSequence(seed, spawn_key=(zlib.crc32(cell.name.encode()), begin)),
        )
        for begin in range(0, own, CHUNK)
    ]


def simulate(job: Job) -> Tally:
    """A chunk of sessions. The same seed gives the same tally, wherever it runs."""
    name, sessions, seed = job
    cell = next(cell for cell in cells() if cell.name == name)
    return cell.simulate(sessions, np.random.default_rng(seed))


def figures_of(cell: Cell, tally: Tally) -> list[SimulatedShare]:
    """What came out of a cell."""
    return [
        SimulatedShare.share(cell.name, must.name, tally[must.hits], tally[must.of], must.side, must.nominal)
        for must in cell.musts
    ]


@contextmanager
def _tallies(jobs: list[Job], workers: int) -> Iterator[Iterator[Tally]]:
    """The tally of each job, in the order of the jobs, as they are asked for."""
    if workers == 1:
        yield map(simulate, jobs)
        return
    # spawn: a fork would copy the locks of whatever threads the caller runs (a live display, say).
    left_to_the_parent = (signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(workers, get_context("spawn"), signal.signal, left_to_the_parent) as pool:
        try:
            yield pool.map(simulate, jobs)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
