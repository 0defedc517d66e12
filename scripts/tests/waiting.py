# SPDX-License-Identifier: Apache-2.0
"""The one place where tests wait, and the only one with a number of seconds in it (`checks/test_waits.py`).

A test waits for a state. How long at most is counted in seconds of a processor that whatever is waited for could have
had: nothing passes while this process is frozen, and little while many programs want the processors. A wait that
blocks (a socket, a child process) needs no limit of its own: `watchdog.py` ends a test that stands still.
"""

import http.client
import os
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 240.0
"""Seconds of a processor; far more than anything takes that is waited for."""
TINY = 0.2
"""Seconds, for a limit of the product that a test means to reach: it is reached however slow the machine is."""
_TICK = 0.02
_CPUS = len(os.sched_getaffinity(0))


class Patience:
    """Adds up the seconds of a processor that others could have had since it was made."""

    def __init__(self) -> None:
        self.spent = 0.0
        self._at = time.monotonic()

    def tick(self, seconds: float = _TICK) -> None:
        """Let others run for about so many seconds, and count what each could have had of them."""
        time.sleep(seconds)
        now = time.monotonic()
        # What passed beyond a few ticks passed while this process was stopped, and so, most likely, were the others.
        self.spent += min(now - self._at, 5 * seconds) * min(1.0, _CPUS / _runnable())
        self._at = now


def wait_until(
    holds: Callable[[], T], what: str | Callable[[], str], never: Callable[[], str | None] = lambda: None
) -> T:
    """Wait until `holds` returns something that is true, and return it.

    Args:
        holds: asked again and again.
        what: is waited for, in words; a function is asked only when the wait was in vain.
        never: why it cannot come any more, as when a process has ended; None while it can.

    Raises:
        AssertionError: it cannot come any more, or did not come with a patience of `PATIENCE`.
    """
    patience = Patience()
    while not (value := holds()):
        reason = never()
        if reason is None and patience.spent > PATIENCE:
            reason = f"not within {PATIENCE:.0f} s of a processor"
        if reason is not None and not (value := holds()):  # once more: it may have come just before
            raise AssertionError(f"waited in vain for {what if isinstance(what, str) else what()}: {reason}")
        if value:
            break
        patience.tick()
    return value


def ended(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> Callable[[], str | None]:
    """Why nothing comes of a process any more, for `never`."""

    def reason() -> str | None:
        code = process.poll()
        return None if code is None else f"the process has ended with exit code {code}"

    return reason


def is_running(pid: int) -> bool:
    """Whether a process has not ended; one that nobody has collected, which may take for ever in a container, has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def fetch(url: str) -> bytes:
    """What an address answers, however long it takes.

    Raises:
        OSError: nothing answers there, or it refuses.
    """
    with urllib.request.urlopen(url) as answer:
        return bytes(answer.read())


def answer_of(url: str) -> bytes | None:
    """What an address answers; None when it does not, for `wait_until`."""
    try:
        return fetch(url)
    except (OSError, http.client.HTTPException):
        return None


def _runnable() -> int:
    """Threads of this host that run or want to, this one among them."""
    return max(1, int(Path("/proc/loadavg").read_text(encoding="ascii").split()[3].split("/")[0]))
