# SPDX-License-Identifier: Apache-2.0
"""The running injectors of a trial, steered by files in their folders (loadgen/README.md): ready, start, stop,
summary."""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from steelyard.errors import ServerFailed

READY_TIMEOUT = 180.0
LOAD_TIMEOUT = 120.0
STOP_TIMEOUT = 45.0
_POLL = 0.02


class Launched(Protocol):
    """What runs injectors: the deployment of a trial."""

    def failure(self, name: str) -> str | None:
        """One sentence when it ended by itself."""

    def exit_code(self, name: str) -> int | None:
        """None while it runs."""

    def logs(self, name: str) -> Path:
        """Its folder."""

    def stop(self, names: Sequence[str], grace: float) -> list[str]:
        """End it."""


class Injectors:
    """The injectors of one trial, which the deployment has started."""

    def __init__(self, names: Sequence[str], launched: Launched) -> None:
        self._names = list(names)
        self._launched = launched
        self._told_to_end = False

    @property
    def folders(self) -> dict[str, Path]:
        """Folder of each."""
        return {name: self._launched.logs(name) for name in self._names}

    def wait_until_ready(self, alive: Callable[[], None]) -> None:
        """Wait until each has initialised and waits for its start (see `wait_for_load` for arguments and errors)."""
        self._wait(lambda folder: (folder / "ready").exists(), READY_TIMEOUT, "were not ready", alive)

    def go(self) -> float:
        """Let all of them begin; returns the epoch time just before."""
        now = time.time()
        for folder in self.folders.values():
            (folder / "start").touch()
        return now

    def wait_for_load(self, alive: Callable[[], None]) -> None:
        """Wait until every injector has sent requests.

        Args:
            alive: called while waiting; raises when something else of the trial died.

        Raises:
            ServerFailed: an injector died or sent nothing in time.
        """
        self._wait(lambda folder: _has_requests(folder / "health.jsonl"), LOAD_TIMEOUT, "sent no load", alive)

    def wait_until_through(self, alive: Callable[[], None], timeout: float) -> None:
        """Wait until every injector has ended by itself (see `wait_for_load` for arguments and errors)."""
        self._told_to_end = True
        deadline = time.monotonic() + timeout
        while any(self._launched.exit_code(name) is None for name in self._names):
            alive()
            if time.monotonic() > deadline:
                raise ServerFailed(
                    f"the operations were not all answered within {timeout:.0f} s: see {self._where}"
                )
            time.sleep(_POLL)

    def failures(self) -> list[str]:
        """Injectors that ended although nobody asked them to, one sentence each."""
        if self._told_to_end:
            return []
        return [text for name in self._names if (text := self._launched.failure(name)) is not None]

    def stop(self) -> list[str]:
        """Ask for the end by stop file, wait, and return what went wrong (empty: every injector delivered)."""
        problems = self.failures()
        self._told_to_end = True
        for folder in self.folders.values():
            (folder / "stop").touch()
        deadline = time.monotonic() + STOP_TIMEOUT
        for name, folder in self.folders.items():
            while self._launched.exit_code(name) is None and time.monotonic() < deadline:
                time.sleep(0.05)
            code = self._launched.exit_code(name)
            if code is None:
                problems.append(f"{name} did not end within {STOP_TIMEOUT:.0f} s of its stop file")
            elif code != 0 and not any(text.startswith(name) for text in problems):
                problems.append(self._launched.failure(name) or f"{name} ended with exit code {code}")
            elif code == 0 and not (folder / "summary.json").exists():
                problems.append(f"{name} wrote no summary: see {folder}")
        self._launched.stop(self._names, grace=5.0)
        return problems

    def summaries(self) -> dict[str, dict[str, Any]]:
        """What each wrote of itself at its end; without those that wrote nothing that can be read."""
        found = {}
        for name, folder in self.folders.items():
            try:
                read = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            if isinstance(read, dict):
                found[name] = read
        return found

    @property
    def _where(self) -> str:
        return str(next(iter(self.folders.values()))) if self._names else "nothing"

    def _wait(
        self, done: Callable[[Path], bool], timeout: float, what: str, alive: Callable[[], None]
    ) -> None:
        deadline = time.monotonic() + timeout
        while not all(done(folder) for folder in self.folders.values()):
            alive()
            failures = self.failures()
            if failures:
                raise ServerFailed(failures[0])
            if time.monotonic() > deadline:
                raise ServerFailed(f"injectors {what} within {timeout:.0f} s: see {self._where}")
            time.sleep(_POLL)


def _has_requests(health: Path) -> bool:
    """Whether the injector has completed requests, by its health log."""
    try:
        lines = health.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return False
    for line in reversed(lines):
        try:
            if int(json.loads(line)["requests"]) > 0:
                return True
        except (ValueError, KeyError, TypeError):
            continue
    return False
