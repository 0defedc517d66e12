# SPDX-License-Identifier: Apache-2.0
"""Sockets and programs that a test meets have all the time: the machine may stand still for longer than the product
waits for an answer.

`watchdog.py` ends a test that stands still. A limit that a test means to reach is `waiting.TINY`.
"""

import socket
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

LEAST = 1.0
"""Seconds; a shorter limit holds: `waiting.TINY`, and those of looks that the product repeats."""


@pytest.fixture(autouse=True, scope="session")
def _no_time_limits() -> Iterator[None]:
    settimeout, communicate = socket.socket.settimeout, subprocess.Popen.communicate

    def lift(limit: float | None) -> float | None:
        return limit if limit is not None and limit < LEAST else None

    def set_lifted(self: socket.socket, limit: float | None) -> None:
        settimeout(self, lift(limit))

    def communicate_lifted(self: Any, input: Any = None, timeout: float | None = None) -> Any:  # noqa: A002
        return communicate(self, input, lift(timeout))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "settimeout", set_lifted)
        patch.setattr(subprocess.Popen, "communicate", communicate_lifted)
        yield
