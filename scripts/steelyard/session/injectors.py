# SPDX-License-Identifier: Apache-2.0
"""The running injectors of a trial, steered by files in their folders (loadgen/README.md): ready, start, stop,
summary. In folders elsewhere their observers write them."""

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.clock import SYSTEM, Clock, wait_until
from steelyard.engines.base import Deployment
from steelyard.errors import ServerFailed
from steelyard.measure.health import health_lines
from steelyard.regular import read_text
from steelyard.results.failure import Failure
from steelyard.results.store import report_no_space

READY_TIMEOUT = 180.0
LOAD_TIMEOUT = 120.0
STOP_TIMEOUT = 15.0
"""Seconds that injectors may take to end beyond what they wait for operations in flight."""
LEAD = 1.0
"""Seconds before a start on other machines at which each gets its command, at least."""
_POLL = 0.02


@dataclass
class Injectors:
    """The injectors of one trial, which the deployment has started."""

    names: Sequence[str]
    deployment: Deployment[Any]
    alive: Callable[[], None]
    """Called while waiting; raises when something else of the trial died."""
    write_remote: Callable[[str, str, str], None] | None = None
    """Has an injector's observer (sampling/observe.py) write a file with a text; None: their folders are on this
    host."""
    poll: Callable[[], None] = lambda: None
    """Takes the rows of observers; raises when one is lost."""
    clock: Clock = SYSTEM
    drain_limit: float = 0.0
    """Seconds for which each waits for operations in flight at most, once it is asked to end."""
    _stop_requested: bool = False

    @property
    def folders(self) -> dict[str, Path]:
        """Folder of each."""
        return {name: self.deployment.logs(name) for name in self.names}

    def wait_until_ready(self) -> None:
        """Wait until each has initialised and waits for its start (see `wait_for_load` for errors)."""
        ready = {name: folder / "ready" for name, folder in self.folders.items()}
        self._wait(lambda name: ready[name].exists(), READY_TIMEOUT, "injectors were not ready")

    def go(self) -> float:
        """Let all of them begin, all at once; returns the epoch time just before.

        Those on other machines need time to get the command: it names a whole second that is still to come, and this
        waits for it.
        """
        begin = self.clock.time() if self.write_remote is None else float(math.ceil(self.clock.time() + LEAD))
        for name in self.names:
            self._write(name, "start", "" if self.write_remote is None else f"{begin * 1000:.0f}")
        while (remaining := begin - self.clock.time()) > 0:
            self.alive()
            self.clock.sleep(min(_POLL, remaining))
        return begin

    def wait_for_load(self) -> None:
        """Wait until every injector has sent requests (raises ServerFailed: one died, or sent nothing in time)."""
        self._wait(self._has_requests, LOAD_TIMEOUT, "injectors sent no load")

    def wait_until_through(self, timeout: float) -> None:
        """Wait until every injector has ended by itself (see `wait_for_load` for errors)."""
        self._stop_requested = True
        self._wait(self._has_ended, timeout, "the operations were not all answered")

    def failures(self) -> list[Failure]:
        """Injectors that ended although nobody asked them to."""
        if self._stop_requested:
            return []
        sentences = ((name, self.deployment.failure(name)) for name in self.names)
        return [_failure(name, sentence) for name, sentence in sentences if sentence is not None]

    def stop(self) -> list[Failure]:
        """Ask for the end by stop file, wait, and return what went wrong (empty: every injector delivered)."""
        problems = self.failures()
        ended_before = {problem.component for problem in problems}
        self._stop_requested = True
        for name in self.names:
            self._write(name, "stop")
        limit = self.drain_limit + STOP_TIMEOUT
        wait_until(self._have_all_ended, limit, 0.05, self.clock)
        for name, folder in self.folders.items():
            self.deployment.fetch(name)
            code = self.deployment.exit_code(name)
            if code is None:
                sentence = f"{name} did not end within {limit:.0f} s of its stop file"
            elif code != 0 and name not in ended_before:
                sentence = self.deployment.failure(name) or f"{name} ended with exit code {code}"
            elif code == 0 and not (folder / "summary.json").exists():
                sentence = f"{name} wrote no summary: see {folder}"
            else:
                continue
            problems.append(_failure(name, sentence))
        # One that has ended stays to be read: what it used last would else be CPU of others.
        if running := [name for name in self.names if not self._has_ended(name)]:
            self.deployment.stop(running, grace=5.0)
        return problems

    # Of the injectors' own keys, read where they are measured.
    def summaries(self) -> list[dict[str, Any]]:
        """What each wrote of itself at its end (loadgen/README.md); without those that cannot be read."""
        summaries = []
        for folder in self.folders.values():
            with suppress(OSError, ValueError):
                summaries.append(json.loads(read_text(folder / "summary.json")))
        return [summary for summary in summaries if isinstance(summary, dict)]

    def messages(self) -> list[str]:
        """What their failed requests were said to have failed for, the most frequent first."""
        counts: Counter[str] = Counter()
        for summary in self.summaries():
            for error in summary.get("errorMessages", []):
                counts[f"{error['operation']}: {error['message']}"] += error["count"]
        return [text for text, _ in counts.most_common()]

    def _wait(self, done: Callable[[str], bool], timeout: float, problem: str) -> None:
        def all_done() -> bool:
            if all(done(name) for name in self.names):
                return True
            self.alive()
            if failures := self.failures():
                raise ServerFailed(failures[0].detail, failures[0].component)
            return False

        if not wait_until(all_done, timeout, _POLL, self.clock):
            raise ServerFailed(f"{problem} within {timeout:.0f} s: see {next(iter(self.folders.values()))}")

    def _write(self, name: str, file: str, text: str = "") -> None:
        if self.write_remote is not None:
            self.write_remote(name, file, text)
        else:
            path = self.deployment.logs(name) / file
            with report_no_space(path):
                path.write_text(text, encoding="utf-8")

    def _has_requests(self, name: str) -> bool:
        return any(line["requests"] > 0 for line in health_lines(self.deployment.logs(name)))

    def _have_all_ended(self) -> bool:
        """Takes what observers have sent while they have not: of an injector elsewhere it is how its end is known."""
        if all(self._has_ended(name) for name in self.names):
            return True
        self.poll()
        return False

    def _has_ended(self, name: str) -> bool:
        return self.deployment.exit_code(name) is not None


def _failure(name: str, sentence: str) -> Failure:
    return Failure(component=name, cause="injectors", detail=sentence)
