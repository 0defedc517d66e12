# SPDX-License-Identifier: Apache-2.0
"""Ends a test that stands still, so that none needs a limit of its own for what blocks."""

import faulthandler
import signal
import sys
import threading
from types import FrameType

import pytest
from waiting import Patience

LIMIT = 1800.0
"""Seconds of a processor (`waiting.Patience`) for a test and the fixtures that it is the first to need."""
_LOOK = 1.0


class StandsStill(BaseException):
    """The test that runs has used up its time; no `except Exception` of what it tests may catch it."""


class _Watchdog:
    """One thread for all tests of a process."""

    def __init__(self) -> None:
        self._patience = Patience()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def pytest_runtest_logstart(self) -> None:
        self._patience = Patience()

    def _watch(self) -> None:
        while True:
            patience = self._patience
            patience.tick(_LOOK)
            if patience is self._patience and patience.spent > LIMIT:
                self._patience = Patience()
                faulthandler.dump_traceback(sys.__stderr__ or sys.stderr)
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR2)


@pytest.hookimpl
def pytest_configure(config: pytest.Config) -> None:
    signal.signal(signal.SIGUSR2, _end)
    config.pluginmanager.register(_Watchdog())


def _end(number: int, frame: FrameType | None) -> None:
    raise StandsStill(f"stood still for {LIMIT:.0f} s of a processor")
