# SPDX-License-Identifier: Apache-2.0
"""The two sides of a duet in turns: one is frozen while the other runs, on all cores.

What changes a host's speed for seconds meets both sides alike, also where it meets its CPUs one by one, as the other
threads of a virtual machine's cores do (interleaved trials: Abedi and Brecht, "Conducting repeatable experiments in
highly variable cloud computing environments", ICPE 2017). A side is frozen by SIGSTOP: it uses no CPU, and its clocks
go on, so that what they tell of it (latencies, pauses) is not recorded (`Metric.by_clock`).
"""

import os
import signal
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np

from steelyard.engines.base import Running
from steelyard.engines.both import side_of
from steelyard.process_tree import Trees

TURN = 0.25
"""Seconds for which a side runs: two turns of each in every second of the clock, at whose ends samples are taken.
Shorter ones cost more: every thread is woken at both ends of each."""


class Turns:
    """Lets one of two sides run at a time, from entering to leaving; then both run.

    Each has one turn of two; which one is drawn, so that nothing that repeats itself stays in step with a side.

    Args:
        sides: their names.
        components: what runs of them, each with its side in its name (`engines.both`).
    """

    def __init__(self, sides: Sequence[str], components: Iterable[Running]) -> None:
        self._names: dict[str, list[str]] = {side: [] for side in sides}
        self._trees = Trees()
        for running in components:
            side = side_of(running.name, sides)
            if side is not None and running.pids:
                self._names[side].append(running.name)
                self._trees.add(running.name, running.pids[0], running.mark)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._take_turns, name="turns", daemon=True)
        self.failure: str | None = None
        """Why no side can be frozen; both run from then on."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _take_turns(self) -> None:
        draw = np.random.default_rng()
        order = draw.permutation(list(self._names))
        turn = 0
        try:
            while (turn := self._wait_for_turn(turn)) > 0:
                if turn % 2 == 0:
                    order = draw.permutation(order)
                    self._trees.update()
                self._send(order[(turn + 1) % 2], signal.SIGSTOP)
                self._send(order[turn % 2], signal.SIGCONT)
        except OSError as error:
            self.failure = (
                f"sides in turns are stopped by signals, and one was refused ({error.strerror}): run as root where"
                " processes are another user's, or leave --in-turns out"
            )
        finally:
            for side in self._names:
                self._send(side, signal.SIGCONT, required=False)

    def _wait_for_turn(self, last: int) -> int:
        """Wait for the next turn: which one it is, counted from the epoch; 0: there is none any more. What passes while
        the harness itself stands still is not made up for."""
        while not self._ended.wait((last + 1) * TURN - time.time()):
            if (turn := int(time.time() / TURN)) > last:
                return turn
        return 0

    def _send(self, side: str, number: signal.Signals, *, required: bool = True) -> None:
        """Send a signal to every process of a side (raises PermissionError, if it is `required`)."""
        for pid in (pid for name in self._names[side] for pid in self._trees.members(name)):
            try:
                os.kill(pid, number)
            except ProcessLookupError:  # it has ended, which is for others to judge
                continue
            except PermissionError:
                if required:
                    raise
